# SPDX-License-Identifier: BSD-2-Clause
# vm.mk - virtual machines: what they need is fetched once into $(BUILD)/vm;
# check-vm boots each group of tests/vm/groups and runs its tests. Rules
# elsewhere may add prerequisites to check-vm.

# A test program of a guest: tests/vm/tests/NAME.c -> $(BUILD)/vm/tests/NAME.
# What one needs beyond the harness: VM_TEST_OBJS_NAME, VM_TEST_LIBS_NAME.
VM_TESTS	:= $(patsubst $(TOP)/tests/vm/tests/%.c,$(BUILD)/vm/tests/%, \
		     $(wildcard $(TOP)/tests/vm/tests/*.c))
VM_PROGS	:= $(patsubst $(TOP)/tests/vm/progs/%.S,$(BUILD)/vm/progs/%, \
		     $(wildcard $(TOP)/tests/vm/progs/*.S))
VM_CFLAGS	= -std=gnu11 $(CFLAGS) $(WARN) -I$(TOP)/include/uapi \
		  -I$(TOP)/include -I$(TOP)/lib/include -I$(TOP)/tests/harness \
		  -I$(TOP)/tests/vpmu

# Tests of the driver share operations and children: spec_dev.h.
SPEC_DEV	:= $(TOP)/tests/vm/lib/spec_dev.c $(TOP)/tests/vm/tests/spec_dev.h
SPEC_TESTS	:= $(filter $(BUILD)/vm/tests/spec_%,$(VM_TESTS))
$(foreach t,$(notdir $(SPEC_TESTS)),$(eval VM_TEST_OBJS_$(t) := \
	$(TOP)/tests/vm/lib/spec_dev.c))
$(SPEC_TESTS): $(SPEC_DEV)
SPEC_REC	:= $(TOP)/tests/vm/lib/spec_rec.c
VM_TEST_OBJS_spec_records += $(SPEC_REC)
VM_TEST_OBJS_spec_maps += $(SPEC_REC)
VM_TEST_OBJS_spec_pmi += $(SPEC_REC)
VM_TEST_OBJS_spec_suspend += $(SPEC_REC)
$(addprefix $(BUILD)/vm/tests/,spec_records spec_maps spec_pmi spec_suspend): \
	$(SPEC_REC) $(TOP)/tests/vm/lib/spec_rec.h
SPEC_SESSION	:= $(TOP)/tests/vm/lib/spec_session.c
SPEC_SESSIONS	:= spec_sample spec_hotplug spec_refused
$(foreach t,$(SPEC_SESSIONS),$(eval VM_TEST_OBJS_$(t) += $(SPEC_SESSION)))
$(addprefix $(BUILD)/vm/tests/,$(SPEC_SESSIONS)): \
	$(SPEC_SESSION) $(TOP)/tests/vm/lib/spec_session.h
SPEC_STORMS	:= $(TOP)/tests/vm/lib/spec_storms.c
SPEC_STORMERS	:= spec_storm spec_hotplug spec_killed spec_forgotten
$(foreach t,$(SPEC_STORMERS),$(eval VM_TEST_OBJS_$(t) += $(SPEC_STORMS)))
$(addprefix $(BUILD)/vm/tests/,$(SPEC_STORMERS)): \
	$(SPEC_STORMS) $(TOP)/tests/vm/lib/spec_storms.h
SPEC_WORKER	:= $(TOP)/tests/vm/lib/spec_worker.c
SPEC_WORKERS	:= spec_soft spec_moves
$(foreach t,$(SPEC_WORKERS),$(eval VM_TEST_OBJS_$(t) += $(SPEC_WORKER)))
$(addprefix $(BUILD)/vm/tests/,$(SPEC_WORKERS)): \
	$(SPEC_WORKER) $(TOP)/tests/vm/lib/spec_worker.h
SPEC_FAULT	:= $(TOP)/tests/vm/lib/spec_fault.c
VM_TEST_OBJS_spec_faults += $(SPEC_FAULT)
VM_TEST_OBJS_spec_faults_life += $(SPEC_FAULT)
$(addprefix $(BUILD)/vm/tests/,spec_faults spec_faults_life): $(SPEC_FAULT) \
	$(TOP)/tests/vm/lib/spec_fault.h
check-vm: module

vm-fetch:
	$(TOP)/tests/vm/fetch

vm-tests: $(VM_TESTS) $(VM_PROGS)

# All that runs in a guest and does not come from elsewhere.
vm-ready: vm-tests vpmu

# TIER=check, TIER=check-all: the groups that are run by that alone.
export TIER
check-vm: vm-fetch vm-ready
	status=0; $(TOP)/tests/vm/run-groups $(GROUPS) || status=1; \
	[ -n "$(GROUPS)" ] || [ "$(TIER)" = check-all ] || \
		$(TOP)/tests/vm/selftest-result || status=1; \
	exit $$status

# Groups N times in fresh machines, beside LOAD busy loops of this machine.
check-repeat: module lib tools vm-fetch vm-ready
	@BUILD=$(BUILD) N=$(or $(N),20) LOAD=$(or $(LOAD),0) $(TOP)/tests/repeat $(GROUPS)

# The long forms of the storms: tests/vm/storms, with a report of their own.
STORMS		= $(BUILD)/storms.tsv
check-storms: module vm-fetch vm-tests vpmu
	rm -f $(STORMS)
	status=0; GROUPS_DIR=$(TOP)/tests/vm/storms RESULTS=$(STORMS) \
		$(TOP)/tests/vm/run-groups $(GROUPS) || status=1; \
	grep -hE ' killed, |off and on: |loads and unloads: |lives of the|kernel memory ' \
		$(BUILD)/vm/out/*/tap/*.log || :; \
	$(TOP)/tests/report $(STORMS) || status=1; exit $$status

HARNESS		:= $(TOP)/tests/harness/harness.c $(TOP)/tests/harness/harness.h

$(BUILD)/vm/tests/%: $(TOP)/tests/vm/tests/%.c $(HARNESS) \
		$(TOP)/tests/vpmu/vpmu_guest.h $(TOP)/tests/vm/vm.mk
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -o $@ $< $(TOP)/tests/harness/harness.c \
		$(VM_TEST_OBJS_$*) $(VM_TEST_LIBS_$*) \
		$$(pkg-config --libs check) -lpthread

# Programs of known length, without a C library.
$(BUILD)/vm/progs/%: $(TOP)/tests/vm/progs/%.S
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -o $@ $<

# Programs of known shares, with a C library: in the program itself (position
# independent), in libraries, without symbols but with a debug file elsewhere.
HOT		:= $(addprefix $(BUILD)/vm/progs/,hot hot-lib libhot.so \
		     libhot-late.so hot-stripped)
HOT_CFLAGS	= -std=gnu11 -O2 -g $(WARN) -fno-omit-frame-pointer \
		  -fno-optimize-sibling-calls -I$(TOP)/tests/vpmu
HOT_SRC		:= $(TOP)/tests/vm/progs/hot.c
HOT_LIB_SRC	:= $(TOP)/tests/vm/progs/libhot.c

vm-tests: $(HOT)

$(HOT): $(TOP)/tests/vm/progs/hot.h $(TOP)/tests/vm/vm.mk

$(BUILD)/vm/progs/libhot.so $(BUILD)/vm/progs/libhot-late.so: $(HOT_LIB_SRC)
	@mkdir -p $(@D)
	$(CC) $(HOT_CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<

$(BUILD)/vm/progs/hot: $(HOT_SRC) $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(HOT_CFLAGS) -fPIE -pie -o $@ $< -lpthread -ldl

$(BUILD)/vm/progs/hot-lib: $(HOT_SRC) $(BUILD)/vm/progs/libhot.so
	$(CC) $(HOT_CFLAGS) -DHOT_LIB -fPIE -pie -o $@ $< -L$(@D) -lhot \
		'-Wl,-rpath,$$ORIGIN' -lpthread -ldl

# Its debug file twice: by its build-id, and by the program's name.
$(BUILD)/vm/progs/hot-stripped: $(BUILD)/vm/progs/hot
	rm -rf $(@D)/debug
	id=$$(readelf -n $< | sed -n 's/^ *Build ID: //p'); \
	by_id=$(@D)/debug/id/.build-id/$$(echo $$id | cut -c1-2); \
	mkdir -p $$by_id $(@D)/debug/name; \
	objcopy --only-keep-debug $< $(@D)/debug/name/$(@F).debug; \
	ln -f $(@D)/debug/name/$(@F).debug $$by_id/$$(echo $$id | cut -c3-).debug
	strip -o $@ $<

# Modules of the tests, built as hwpmc.ko is, for the kernel that the VMs boot.
vm-kmods: module
	@BUILD=$(BUILD) $(TOP)/tests/vm/build-kmods 6.1

vm-tests: vm-kmods

.PHONY: vm-fetch vm-kmods vm-tests vm-ready check-vm check-repeat check-storms

# 32-bit programs, also without: the 64-bit compiler and its headers will do.
VM_PROGS32	:= $(patsubst $(TOP)/tests/vm/progs32/%.c,$(BUILD)/vm/progs32/%, \
		     $(wildcard $(TOP)/tests/vm/progs32/*.c))

vm-tests: $(VM_PROGS32)

$(BUILD)/vm/progs32/%: $(TOP)/tests/vm/progs32/%.c $(TOP)/include/uapi/hwpmc.h
	@mkdir -p $(@D)
	$(CC) -m32 -std=gnu11 $(CFLAGS) $(WARN) -ffreestanding -nostdlib -static \
		-fno-pic -no-pie -fno-stack-protector -fcf-protection=none \
		-I$(TOP)/include/uapi \
		-idirafter /usr/include/$$($(CC) -print-multiarch) -o $@ $<

# The emulated PMU's totals of a command: tests/vm/truth.
VTRUTH		:= $(BUILD)/vm/truth/vtruth
VTRUTH_SRC	:= $(TOP)/tests/vm/truth/vtruth.c $(TOP)/tests/vm/truth/edges.S

vm-tests: $(VTRUTH)

$(VTRUTH): $(VTRUTH_SRC) $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -static -no-pie -Wl,-e,vtruth_start -o $@ $(VTRUTH_SRC)

include $(TOP)/tests/vm/debug/debug.mk
