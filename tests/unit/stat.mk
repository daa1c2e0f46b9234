# SPDX-License-Identifier: BSD-2-Clause
# stat.mk - unit tests of libhwpmcstat under ASan and UBSan, on logs that they make
# and on real programs, which are made here of tests/symbols.

SYMBOLS_DIR	:= $(BUILD)/tests/symbols
SYMBOLS_SRC	:= $(TOP)/tests/symbols
STAT_UNIT	:= $(addprefix $(BUILD)/tests/unit/,stat_kernel stat_lines)
STAT_PROGS	:= $(addprefix $(SYMBOLS_DIR)/,inlined no-dwarf \
	kernel/vmlinux kernel/drivers/some-mod.ko compressed/some-mod.ko.xz)

$(SYMBOLS_DIR)/inlined: $(SYMBOLS_SRC)/inlined.c
	@mkdir -p $(@D)
	$(CC) -O2 -g -o $@ $<
$(SYMBOLS_DIR)/no-dwarf: $(SYMBOLS_SRC)/inlined.c
	@mkdir -p $(@D)
	$(CC) -O2 -g0 -o $@ $<

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

$(STAT_UNIT): $(BUILD)/tests/unit/%: $(TOP)/tests/unit/%.c \
		$(TOP)/tests/unit/stat_log.c $(TOP)/tests/harness/harness.c \
		$(LIB_SRC) $(STAT_SRC) $(TOP)/tests/unit/stat.mk \
		$(wildcard $(TOP)/lib/*/*.h $(TOP)/tests/unit/stat_*.h \
			$(TOP)/tests/harness/*.h $(TOP)/include/uapi/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g $(WARN) -Werror -D_GNU_SOURCE \
		-fsanitize=address,undefined -fno-sanitize-recover=all -pthread \
		-DSYMBOLS_DIR='"$(SYMBOLS_DIR)"' \
		-DSYMBOLS_SRC='"$(SYMBOLS_SRC)"' $(LIB_CFLAGS) \
		-I$(TOP)/lib/stat -I$(TOP)/lib/freebsd -I$(TOP)/tests/harness \
		-o $@ $(filter %.c,$^) \
		$$(pkg-config --cflags --libs check) $(LIB_LIBS) $(STAT_LIBS)

check-unit-stat: $(STAT_UNIT) $(STAT_PROGS)
	@BUILD=$(BUILD) $(TOP)/tests/unit/run $(STAT_UNIT)

check-unit: check-unit-stat

.PHONY: check-unit-stat
