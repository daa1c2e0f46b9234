# SPDX-License-Identifier: BSD-2-Clause
# stat.mk - unit tests of libhwpmcstat under ASan and UBSan, on logs that they make
# and on real programs, which are made here of tests/symbols.

SYMBOLS_DIR	:= $(BUILD)/tests/symbols
SYMBOLS_SRC	:= $(TOP)/tests/symbols
STAT_UNIT	:= $(addprefix $(BUILD)/tests/unit/,stat_fold stat_forget stat_hostile stat_identity stat_kcache stat_kernel stat_lines stat_losses \
	stat_memory stat_model stat_names stat_null stat_origin stat_perf stat_perf_files stat_profile stat_stacks \
	stat_symbols stat_table stat_unmapped stat_weights unwind_cache unwind_cost unwind_files)
STAT_PROGS	:= $(addprefix $(SYMBOLS_DIR)/,inlined no-dwarf libother.so functions \
	functions-fixed functions-lazy liblibrary.so names stripped/program \
	linked/program mini/program kernel/vmlinux \
	kernel/drivers/some-mod.ko compressed/some-mod.ko.xz \
	root/installed order/first order/second ifunc labels \
	nested beside shared common libbounds.so libversions.so)

$(SYMBOLS_DIR)/inlined: $(SYMBOLS_SRC)/inlined.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -o $@ $<
$(SYMBOLS_DIR)/libother.so: $(wildcard $(TOP)/lib/log/*.c)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(LIB_CFLAGS) -shared -fPIC -pthread -o $@ $^
$(SYMBOLS_DIR)/no-dwarf: $(SYMBOLS_SRC)/inlined.c
	@mkdir -p $(@D)
	$(CC) -O2 -g0 -o $@ $<

$(SYMBOLS_DIR)/liblibrary.so: $(SYMBOLS_SRC)/library.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -shared -fPIC -o $@ $<
$(SYMBOLS_DIR)/libversions.so: $(SYMBOLS_SRC)/versions.s
	@mkdir -p $(@D)
	echo 'LIB_2.2.5 { }; LIB_2.34 { } LIB_2.2.5;' >$@.map
	$(CC) -nostdlib -shared -Wl,--version-script=$@.map -o $@ $<
$(SYMBOLS_DIR)/libbounds.so: $(SYMBOLS_SRC)/bounds.s
	@mkdir -p $(@D)
	$(CC) -nostdlib -shared -Wl,--build-id=none -o $@ $<
$(SYMBOLS_DIR)/functions: FLAGS := -fPIE -pie -Wl,-z,now
$(SYMBOLS_DIR)/functions-fixed: FLAGS := -fno-pie -no-pie
$(SYMBOLS_DIR)/functions-lazy: FLAGS := -fPIE -pie -Wl,-z,lazy -fcf-protection=none
$(addprefix $(SYMBOLS_DIR)/functions,-fixed -lazy) $(SYMBOLS_DIR)/functions: \
		$(SYMBOLS_SRC)/functions.c $(SYMBOLS_DIR)/liblibrary.so
	$(CC) -O1 -g $(FLAGS) -Wl,--build-id=sha1 -o $@ $^
$(SYMBOLS_DIR)/nested $(SYMBOLS_DIR)/beside: $(SYMBOLS_DIR)/%: $(SYMBOLS_SRC)/%.s
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -o $@ $<
$(SYMBOLS_DIR)/shared: $(SYMBOLS_SRC)/shared.s
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -o $@ $<
$(SYMBOLS_DIR)/common: $(SYMBOLS_SRC)/shared.s
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -Wa,--defsym,WHOLE=1 \
		-Wl,--build-id=0x0102030405060708 -o $@ $<
$(SYMBOLS_DIR)/names: $(SYMBOLS_SRC)/names.cc
	@mkdir -p $(@D)
	$(CXX) -O1 -g -o $@ $<

# Stripped, and symbols elsewhere: by build-id, by a link with a checksum, in itself.
$(SYMBOLS_DIR)/stripped/program: $(SYMBOLS_DIR)/functions
	@mkdir -p $(@D)
	id=$$(readelf -n $< | sed -n 's/.*Build ID: //p'); \
	dir=$(@D)/debug/.build-id/$$(echo $$id | cut -c 1-2); mkdir -p $$dir; \
	objcopy --only-keep-debug $< $$dir/$$(echo $$id | cut -c 3-).debug
	objcopy --strip-all $< $@
$(SYMBOLS_DIR)/linked/whole: $(SYMBOLS_SRC)/functions.c \
		$(SYMBOLS_DIR)/liblibrary.so
	@mkdir -p $(@D)
	$(CC) -O1 -g -Wl,--build-id=none -o $@ $^
$(SYMBOLS_DIR)/linked/program: $(SYMBOLS_DIR)/linked/whole
	@mkdir -p $(@D)/.debug
	objcopy --only-keep-debug $< $(@D)/.debug/program.debug
	objcopy --strip-all --add-gnu-debuglink=$(@D)/.debug/program.debug $< $@
$(SYMBOLS_DIR)/ifunc: $(SYMBOLS_SRC)/ifunc.c
	@mkdir -p $(@D)
	$(CC) -O1 -fno-builtin -static -o $@ $<
$(SYMBOLS_DIR)/labels: $(SYMBOLS_SRC)/labels.s
	@mkdir -p $(@D)
	$(CC) -nostdlib -static -no-pie -Wl,--unique=.text.* -o $@ $<
$(SYMBOLS_DIR)/order/first: FLAGS :=
$(SYMBOLS_DIR)/order/second: FLAGS := -DSECOND
$(addprefix $(SYMBOLS_DIR)/order/,first second): $(SYMBOLS_SRC)/order.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -fno-reorder-functions -fno-toplevel-reorder $(FLAGS) \
		-Wl,--build-id=none -o $@ $<
$(SYMBOLS_DIR)/mini/program: $(SYMBOLS_DIR)/functions
	@mkdir -p $(@D)
	objcopy --strip-debug $< $(@D)/symbols
	xz -kf $(@D)/symbols
	objcopy --strip-all --add-section .gnu_debugdata=$(@D)/symbols.xz $< $@

$(SYMBOLS_DIR)/kernel/vmlinux: $(SYMBOLS_SRC)/kernel.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -mcmodel=kernel -fno-pic -ffreestanding -nostdlib -static \
		-no-pie -Wl,-Ttext=0xffffffff81000000 -Wl,-e,schedule \
		-Wl,--build-id=sha1 -o $@ $<
$(SYMBOLS_DIR)/kernel/drivers/some-mod.ko: $(SYMBOLS_SRC)/module.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -mcmodel=kernel -fno-pic -c -o $@.o $<
	ld -r --build-id=sha1 -o $@ $@.o
$(SYMBOLS_DIR)/compressed/some-mod.ko.xz: $(SYMBOLS_DIR)/kernel/drivers/some-mod.ko
	@mkdir -p $(@D)
	xz -c $< > $@

# As distributions install them, and a kernel that it is not.
$(SYMBOLS_DIR)/root/installed: $(SYMBOLS_DIR)/kernel/vmlinux \
		$(SYMBOLS_DIR)/kernel/drivers/some-mod.ko $(SYMBOLS_DIR)/functions
	install -D $(SYMBOLS_DIR)/functions $(@D)/boot/vmlinux-0.0.0-test
	install -D $< $(@D)/usr/lib/debug/boot/vmlinux-0.0.0-test
	install -D $(word 2,$^) $(@D)/lib/modules/0.0.0-test/kernel/some-mod.ko
	@touch $@

# The sources under test are compiled once for all of the programs.
STAT_UNIT_CFLAGS := -std=gnu11 -O1 -g1 $(WARN) -Werror -D_GNU_SOURCE \
	$(SANITIZE) $(COVERAGE) -pthread \
	-DSYMBOLS_DIR='"$(SYMBOLS_DIR)"' -DSYMBOLS_SRC='"$(SYMBOLS_SRC)"' \
	-DVERSION='"$(VERSION)"' -I$(TOP)/tools \
	$(LIB_CFLAGS) -I$(TOP)/lib/stat -I$(TOP)/lib/freebsd \
	-I$(TOP)/tests/harness
STAT_UNIT_OBJ	:= $(UNIT_LIB) $(UNIT_STAT) $(UNIT_HARNESS) \
	$(call unit-objects,$(TOP)/tests/unit/stat_log.c $(TOP)/tests/unit/perfgen.c)

$(BUILD)/tests/unit/stat-obj/%.o: $(TOP)/%.c $(TOP)/tests/unit/stat.mk
	@mkdir -p $(@D)
	$(CC) $(STAT_UNIT_CFLAGS) -MMD -MP -c -o $@ $<

# Each test of the walk has its own, with its own reads of memory.
WALK_UNIT	:= $(addprefix $(BUILD)/tests/unit/,unwind_same unwind_mixed)
STAT_UNIT	+= $(WALK_UNIT)
$(WALK_UNIT): $(call unit-objects,$(TOP)/kmod/sampling/unwind_table.c)
$(WALK_UNIT:$(BUILD)/tests/unit/%=$(BUILD)/tests/unit/stat-obj/tests/unit/%.o): \
	STAT_UNIT_CFLAGS += -I$(TOP)/kmod -DPROGS='"$(WALK_DIR)"' \
	-DSOURCES='"$(TOP)/tests/unit/unwind_progs"'

# Programs that it stops: callers known by construction, also in a static program, which
# has no sorted table of its functions; and exceptions.
WALK_DIR	:= $(BUILD)/tests/unit/walk
WALK_CHAINS	:= $(TOP)/tests/vm/progs/chains.c
$(WALK_UNIT): | $(addprefix $(WALK_DIR)/,chains chains-static throws)
$(WALK_DIR)/chains: $(WALK_CHAINS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -fomit-frame-pointer -o $@ $< -lpthread -ldl
$(WALK_DIR)/chains-static: $(WALK_CHAINS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -w -fomit-frame-pointer -static -o $@ $< -lpthread
$(WALK_DIR)/throws: $(TOP)/tests/unit/unwind_progs/throws.cc
	@mkdir -p $(@D)
	$(CXX) -O2 -o $@ $<

# The walk as the module compiles it, for the test that counts its instructions.
$(BUILD)/tests/unit/unwind_cost: | $(WALK_DIR)/cost
$(BUILD)/tests/unit/stat-obj/tests/unit/unwind_cost.o: STAT_UNIT_CFLAGS += \
	-DCOST='"$(WALK_DIR)/cost"'
$(WALK_DIR)/cost: $(TOP)/tests/unit/unwind_progs/cost.c $(TOP)/kmod/sampling/unwind_table.c \
		$(TOP)/kmod/sampling/unwind_table.h $(TOP)/kmod/sampling/unwind_walk.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(WARN) -I$(TOP)/kmod -I$(TOP)/include/uapi -o $@ \
		$(filter %.c,$^)

# The test decides who gets memory.
$(BUILD)/tests/unit/stat_memory: WRAP := -Wl,--wrap=calloc,--wrap=malloc,--wrap=realloc

$(STAT_UNIT): $(BUILD)/tests/unit/%: \
		$(BUILD)/tests/unit/stat-obj/tests/unit/%.o $(STAT_UNIT_OBJ)
	$(CC) $(SANITIZE) $(COVERAGE) -pthread -o $@ $^ $(WRAP) \
		$$(pkg-config --cflags --libs check) $(LIB_LIBS) $(STAT_LIBS)
# A program that is built alone, as for mutants, needs what it reads too.
$(STAT_UNIT): | $(STAT_PROGS)

-include $(shell find $(BUILD)/tests/unit/stat-obj -name '*.d' 2>/dev/null)

check-unit-stat: $(STAT_UNIT) $(STAT_PROGS)
	@BUILD=$(BUILD) $(TOP)/tests/unit/run $(STAT_UNIT)

check-unit: check-unit-stat

.PHONY: check-unit-stat
