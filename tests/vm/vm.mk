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

# What they share is compiled once. The samples of some have the callers in it.
vm-objects	= $(patsubst $(TOP)/%.c,$(BUILD)/vm/obj/%.o,$(1))
$(BUILD)/vm/obj/%.o: $(TOP)/%.c $(wildcard $(TOP)/tests/vm/lib/*.h $(TOP)/tests/vm/tests/*.h \
		$(TOP)/tests/harness/*.h) $(TOP)/tests/vpmu/vpmu_guest.h \
		$(wildcard $(TOP)/lib/pmc/*.h $(TOP)/lib/log/*.h) $(TOP)/include/uapi/hwpmc.h \
		$(TOP)/tests/vm/vm.mk
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -fno-omit-frame-pointer $(LIB_CFLAGS) -c -o $@ $<

# Tests of the driver share operations and children: kmod_dev.h.
KMOD_DEV	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_dev.c)
KMOD_TESTS	:= $(filter $(BUILD)/vm/tests/kmod_%,$(VM_TESTS))
$(foreach t,$(notdir $(KMOD_TESTS)),$(eval VM_TEST_OBJS_$(t) := $(KMOD_DEV)))
$(KMOD_TESTS): $(KMOD_DEV) $(TOP)/tests/vm/tests/kmod_dev.h
KMOD_REC	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_rec.c)
VM_TEST_OBJS_kmod_records += $(KMOD_REC)
VM_TEST_OBJS_kmod_maps += $(KMOD_REC)
VM_TEST_OBJS_kmod_pmi += $(KMOD_REC)
VM_TEST_OBJS_kmod_nmi += $(KMOD_REC)
VM_TEST_OBJS_kmod_skid += $(KMOD_REC)
VM_TEST_OBJS_kmod_ibs += $(KMOD_REC)
VM_TEST_OBJS_kmod_late += $(KMOD_REC)
VM_TEST_OBJS_kmod_pmi_long += $(KMOD_REC)
VM_TEST_OBJS_kmod_suspend += $(KMOD_REC)
$(addprefix $(BUILD)/vm/tests/,kmod_records kmod_maps kmod_pmi kmod_pmi_long \
	kmod_nmi kmod_skid kmod_ibs kmod_late kmod_suspend): \
	$(KMOD_REC) $(TOP)/tests/vm/lib/kmod_rec.h
KMOD_PMI	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_pmi.c)
VM_TEST_OBJS_kmod_pmi += $(KMOD_PMI)
VM_TEST_OBJS_kmod_suspend += $(KMOD_PMI)
VM_TEST_OBJS_kmod_nmi += $(KMOD_PMI)
VM_TEST_OBJS_kmod_ibs += $(KMOD_PMI)
VM_TEST_OBJS_kmod_late += $(KMOD_PMI)
$(addprefix $(BUILD)/vm/tests/,kmod_pmi kmod_nmi kmod_ibs kmod_late kmod_suspend): $(KMOD_PMI) \
	$(TOP)/tests/vm/lib/kmod_pmi.h
KMOD_SESSION	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_session.c)
KMOD_SESSIONS	:= kmod_sample kmod_look kmod_hotplug kmod_msr_faults kmod_registers \
	kmod_p4 kmod_throttle kmod_drops kmod_addresses kmod_kinds \
	kmod_guests kmod_joined kmod_models kmod_periods kmod_frequency kmod_precise kmod_hidden \
	kmod_ibs_samples kmod_ibs_life kmod_ibs_suspend kmod_ibs_zen6 kmod_kexec kmod_reboot
$(foreach t,$(KMOD_SESSIONS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_SESSION)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_SESSIONS)): \
	$(KMOD_SESSION) $(TOP)/tests/vm/lib/kmod_session.h
KMOD_IBS_LOG	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_ibs_log.c)
KMOD_IBS_LOGS	:= kmod_ibs_samples kmod_ibs_life kmod_ibs_suspend kmod_ibs_zen6
$(foreach t,$(KMOD_IBS_LOGS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_IBS_LOG)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_IBS_LOGS)): \
	$(KMOD_IBS_LOG) $(TOP)/tests/vm/lib/kmod_ibs_log.h
KMOD_LOSSES	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_losses.c)
VM_TEST_OBJS_kmod_look += $(KMOD_LOSSES)
$(BUILD)/vm/tests/kmod_look: $(KMOD_LOSSES) $(TOP)/tests/vm/lib/kmod_losses.h
KMOD_STORMS	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_storms.c)
KMOD_STORMERS	:= kmod_storm kmod_hotplug kmod_killed kmod_forgotten
$(foreach t,$(KMOD_STORMERS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_STORMS)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_STORMERS)): \
	$(KMOD_STORMS) $(TOP)/tests/vm/lib/kmod_storms.h
KMOD_WORKER	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_worker.c)
KMOD_WORKERS	:= kmod_soft kmod_moves
$(foreach t,$(KMOD_WORKERS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_WORKER)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_WORKERS)): \
	$(KMOD_WORKER) $(TOP)/tests/vm/lib/kmod_worker.h
KMOD_HOLD	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_hold.c)
KMOD_HOLDERS	:= kmod_crowd kmod_drops kmod_last_reference kmod_puts kmod_races kmod_snapshots \
	kmod_unwind_live
$(foreach t,$(KMOD_HOLDERS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_HOLD)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_HOLDERS)): \
	$(KMOD_HOLD) $(TOP)/tests/vm/lib/kmod_hold.h
KMOD_LINGER	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_linger.c)
KMOD_LINGERERS	:= kmod_puts kmod_readers
$(foreach t,$(KMOD_LINGERERS),$(eval VM_TEST_OBJS_$(t) += $(KMOD_LINGER)))
$(addprefix $(BUILD)/vm/tests/,$(KMOD_LINGERERS)): \
	$(KMOD_LINGER) $(TOP)/tests/vm/lib/kmod_linger.h
KMOD_FAULT	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_fault.c)
VM_TEST_OBJS_kmod_faults += $(KMOD_FAULT)
VM_TEST_OBJS_kmod_faults_life += $(KMOD_FAULT)
$(addprefix $(BUILD)/vm/tests/,kmod_faults kmod_faults_life): $(KMOD_FAULT) \
	$(TOP)/tests/vm/lib/kmod_fault.h
KMOD_UNANSWERED	:= $(call vm-objects,$(TOP)/tests/vm/lib/kmod_unanswered.c)
VM_TEST_OBJS_kmod_puts += $(KMOD_UNANSWERED)
$(BUILD)/vm/tests/kmod_puts: $(KMOD_UNANSWERED) $(TOP)/tests/vm/lib/kmod_unanswered.h
check-vm: module-vm

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
check-repeat: module-vm lib tools vm-fetch vm-ready
	@BUILD=$(BUILD) N=$(or $(N),20) LOAD=$(or $(LOAD),0) $(TOP)/tests/repeat $(GROUPS)

# The long forms of the storms: tests/vm/storms, with a report of their own. GROUPS=NAME runs some;
# KERNEL=debug (kcsan, cfi), built by tests/vm/debug, or a series, prepared by tests/kernels,
# boots the groups that GROUPS= names there.
STORMS		= $(BUILD)/storms.tsv
STORMS_DEBUG	= $(wildcard $(BUILD)/debug/$(or $(KERNEL),none).release)
STORMS_GROUPS	= $(if $(STORMS_DEBUG),-k $$(cat $(STORMS_DEBUG)) -l $(KERNEL) $(GROUPS),$\
		  $(addprefix $(addsuffix /,$(KERNEL)),$(GROUPS)))
check-storms: module-vm vm-fetch vm-tests vpmu
	$(if $(KERNEL),$(if $(GROUPS),,$(error KERNEL= of check-storms needs GROUPS=)))
	rm -f $(STORMS)
	status=0; GROUPS_DIR=$(TOP)/tests/vm/storms RESULTS=$(STORMS) \
		$(TOP)/tests/vm/run-groups $(STORMS_GROUPS) || status=1; \
	grep -hE ' killed, |off and on: |loads and unloads: |lives of the|kernel memory |unknown NMIs ' \
		$(BUILD)/vm/out/*/tap/*.log || :; \
	$(TOP)/tests/report $(STORMS) || status=1; exit $$status

VM_HARNESS	:= $(call vm-objects,$(TOP)/tests/harness/harness.c)
$(VM_TESTS): $(VM_HARNESS)

$(BUILD)/vm/tests/%: $(TOP)/tests/vm/tests/%.c $(TOP)/tests/harness/harness.h \
		$(TOP)/tests/vpmu/vpmu_guest.h $(TOP)/tests/vm/vm.mk
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -o $@ $< $(VM_HARNESS) \
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

# Frames of a known number, without frame pointers.
DEEP		:= $(BUILD)/vm/progs/deep
CHAINS		:= $(BUILD)/vm/progs/chains
vm-tests: $(DEEP) $(CHAINS)
$(DEEP): $(TOP)/tests/vm/progs/deep.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -fomit-frame-pointer -o $@ $<

# Threads of known work.
# Of the C library, but without a loader.
vm-tests: $(BUILD)/vm/progs/fixed
$(BUILD)/vm/progs/fixed: $(TOP)/tests/vm/progs/fixed.c
	@mkdir -p $(@D)
	$(CC) -O1 -static -no-pie -o $@ $<

vm-tests: $(BUILD)/vm/progs/threads
$(BUILD)/vm/progs/threads: $(TOP)/tests/vm/progs/threads.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -o $@ $< -lpthread

# Two programs whose functions lie at each other's places, with a build-id and without.
NAMED		:= $(addprefix $(BUILD)/vm/progs/named-,a b a-noid b-noid)
vm-tests: $(NAMED)
$(NAMED): $(TOP)/tests/vm/progs/named.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -static -no-pie -fno-reorder-functions -fno-toplevel-reorder \
		-DWORK=work_of_$(word 2,$(subst -, ,$(@F))) \
		$(if $(findstring -b,$(@F)),-DOTHER) \
		$(if $(findstring noid,$(@F)),-Xlinker --build-id=none) -o $@ $<

# The same of Alpine's C library: with its loader, and static.
NAMED_MUSL	:= $(addprefix $(BUILD)/vm/progs/named-,musl musl-static)
vm-tests: $(NAMED_MUSL)
$(NAMED_MUSL): $(TOP)/tests/vm/progs/named.c
	@mkdir -p $(@D)
	musl-gcc -std=gnu11 -O2 $(WARN) $(if $(findstring static,$@),-static -no-pie,-fPIE -pie) \
		-fno-reorder-functions -fno-toplevel-reorder -DWORK=work_of_a \
		-Xlinker --build-id=none -o $@ $< -lpthread

# What perf records, with frame pointers.
vm-tests: $(BUILD)/vm/progs/perfdata
$(BUILD)/vm/progs/perfdata: $(TOP)/tests/vm/progs/perfdata.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g -fno-omit-frame-pointer \
		-mno-omit-leaf-frame-pointer $(WARN) -o $@ $< -lpthread

# Marks around known numbers of instructions.
vm-tests: $(BUILD)/vm/progs/marks
$(BUILD)/vm/progs/marks: $(TOP)/tests/vm/progs/marks.c $(TOP)/lib/pmc/hwpmc_mark.h $(LIB_SHARED)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) $(LIB_CFLAGS) -o $@ $< -L$(LIB_DIR) -lhwpmc -lpthread

# Callers that are known by construction; and the library that it opens.
$(CHAINS): $(TOP)/tests/vm/progs/chains.c $(BUILD)/vm/progs/libchains.so
	$(CC) -std=gnu11 -O2 $(WARN) -fomit-frame-pointer -fno-optimize-sibling-calls \
		-rdynamic -o $@ $< -lpthread -ldl

$(BUILD)/vm/progs/libchains.so: $(TOP)/tests/vm/progs/libchains.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -fomit-frame-pointer -fno-optimize-sibling-calls \
		-fPIC -shared -o $@ $<

# What hwpmc is preloaded with.
vm-tests: $(BUILD)/vm/progs/libdies.so $(BUILD)/vm/progs/libturns.so
$(BUILD)/vm/progs/libdies.so $(BUILD)/vm/progs/libturns.so: $(BUILD)/vm/progs/%.so: \
		$(TOP)/tests/vm/progs/%.c $(TOP)/include/uapi/hwpmc.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -I$(TOP)/include/uapi -fPIC -shared -o $@ $<

# Its debug file twice: by its build-id, and by the program's name.
$(BUILD)/vm/progs/hot-stripped: $(BUILD)/vm/progs/hot
	rm -rf $(@D)/debug
	id=$$(readelf -n $< | sed -n 's/^ *Build ID: //p'); \
	by_id=$(@D)/debug/id/.build-id/$$(echo $$id | cut -c1-2); \
	mkdir -p $$by_id $(@D)/debug/name; \
	objcopy --only-keep-debug $< $(@D)/debug/name/$(@F).debug; \
	ln -f $(@D)/debug/name/$(@F).debug $$by_id/$$(echo $$id | cut -c3-).debug
	strip -o $@ $<

$(BUILD)/vm/progs/knob: $(TOP)/tests/vm/progs/knob.c $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(HOT_CFLAGS) -o $@ $<

$(BUILD)/vm/progs/ibs: $(TOP)/tests/vm/progs/ibs.c $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -static -I$(TOP)/tests/vpmu -o $@ $<

$(BUILD)/vm/progs/anew: $(TOP)/tests/vm/progs/anew.c $(TOP)/include/uapi/hwpmc.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -static -I$(TOP)/include/uapi -o $@ $<

vm-tests: $(BUILD)/vm/progs/knob $(BUILD)/vm/progs/ibs $(BUILD)/vm/progs/anew

# Modules of the tests, built as hwpmc.ko is, for the kernel that the VMs boot.
vm-kmods: module-vm
	@BUILD=$(BUILD) $(TOP)/tests/vm/build-kmods 6.1

vm-tests: vm-kmods

.PHONY: vm-fetch vm-kmods vm-tests vm-ready check-vm check-repeat check-storms

# 32-bit programs, also without: the 64-bit compiler and its headers will do.
VM_PROGS32	:= $(patsubst $(TOP)/tests/vm/progs32/%.c,$(BUILD)/vm/progs32/%, \
		     $(wildcard $(TOP)/tests/vm/progs32/*.c))

vm-tests: $(VM_PROGS32)

$(BUILD)/vm/progs32/%: $(TOP)/tests/vm/progs32/%.c $(TOP)/tests/vm/progs32/raw32.h \
		       $(TOP)/include/uapi/hwpmc.h
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

VCOST		:= $(BUILD)/vm/truth/vcost

vm-tests: $(VCOST)

$(VCOST): $(TOP)/tests/vm/truth/vcost.c $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -static -o $@ $<

include $(TOP)/tests/vm/debug/debug.mk
