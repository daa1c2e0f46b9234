# SPDX-License-Identifier: BSD-2-Clause
# bench.mk - costs per operation beside perf's, see tests/bench/README.md.

BENCH_DIR	:= $(BUILD)/bench
BENCH_SRC	:= $(wildcard $(TOP)/tests/bench/*.c)

# On a fresh machine too: what is missing is installed before make looks for it.
bench:
	@$(TOP)/scripts/install-deps
	@$(MAKE) --no-print-directory bench-run

bench-run: module-vm vm-fetch vpmu $(BENCH_DIR)/bench
	@status=0; BUILD=$(BUILD) $(TOP)/tests/bench/run || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-hybrid || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-ibs || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-cpus || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-look || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-analysis || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-growth || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-exports || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-unwind || status=1; \
	BUILD=$(BUILD) $(MAKE) --no-print-directory bench-commands || status=1; \
	exit $$status

# A switch where cores are of several kinds.
bench-hybrid: module-vm vm-fetch vpmu $(BENCH_DIR)/bench
	@BUILD=$(BUILD) $(TOP)/tests/bench/hybrid/run

# A sample by AMD's instruction-based sampling.
bench-ibs: module-vm vm-fetch vpmu $(BENCH_DIR)/bench
	@BUILD=$(BUILD) $(TOP)/tests/bench/ibs/run

# The programs of doc/coming-from.md; fetches PAPI's packages, and so is no part of bench.
bench-coming: module-vm vm-fetch vpmu lib
	@BUILD=$(BUILD) $(TOP)/tests/bench/coming/run

# What operations cost with 8 CPUs and with one, and with 5,000 threads.
bench-cpus: module-vm tools vm-fetch vpmu vm-kmods $(BENCH_DIR)/cpus/cpus \
		$(BENCH_DIR)/cpus/calls $(BENCH_DIR)/cpus/bounded $(BENCH_DIR)/cpus/waits
	@BUILD=$(BUILD) $(TOP)/tests/bench/cpus/run

$(BENCH_DIR)/cpus/%: $(TOP)/tests/bench/cpus/%.c $(TOP)/tests/bench/cpus/ops.h $(TOP)/include/uapi/hwpmc.h \
		$(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -o $@ $< -lpthread

# Cost of the look in a guest, and on real machines.
bench-look: module-vm vm-fetch vpmu $(BENCH_DIR)/look/look
	@BUILD=$(BUILD) $(TOP)/tests/bench/look/run

$(BENCH_DIR)/look/%: $(TOP)/tests/bench/look/%.c $(TOP)/include/uapi/hwpmc.h \
		$(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -o $@ $<

# Reading logs, on this machine: alone, it needs no bench in the VM.
bench-analysis: module-vm tools vm-fetch vpmu $(BENCH_DIR)/analysis/load \
		$(BENCH_DIR)/analysis/rusage
	@BUILD=$(BUILD) $(TOP)/tests/bench/analysis/run

# How reading grows with the log: on this machine, no VM.
bench-growth: tools $(BENCH_DIR)/growth/make_log $(BENCH_DIR)/analysis/rusage
	@BUILD=$(BUILD) $(TOP)/tests/bench/growth/run

$(BENCH_DIR)/growth/make_log: $(TOP)/tests/bench/growth/make_log.c \
		$(TOP)/include/uapi/hwpmc_log.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g -D_GNU_SOURCE $(WARN) -I$(TOP)/include/uapi -o $@ $<

$(BENCH_DIR)/analysis/%: $(TOP)/tests/bench/analysis/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g -fno-omit-frame-pointer $(WARN) -o $@ $< -lm

# On this machine alone: how large and slow an export of different stacks becomes.
bench-exports: tools $(BENCH_DIR)/exports/stacks $(BENCH_DIR)/analysis/rusage
	@BUILD=$(BUILD) $(TOP)/tests/bench/exports/run

# Short commands from start to end in the VM, and callers in a report on this machine.
bench-commands: module-vm tools vm-fetch vpmu $(BENCH_DIR)/exports/stacks \
		$(BENCH_DIR)/analysis/rusage
	@BUILD=$(BUILD) $(TOP)/tests/bench/commands/run

# Call chains by unwind tables, and perf's by copies of the stack.
bench-unwind: module-vm tools vm-fetch vpmu $(BENCH_DIR)/unwind/samples $(BENCH_DIR)/unwind/convert \
		$(BUILD)/vm/progs/deep $(BUILD)/tests/unit/unwind_same
	@BUILD=$(BUILD) $(TOP)/tests/bench/unwind/run

$(BENCH_DIR)/unwind/%: $(TOP)/tests/bench/unwind/%.c $(LIB_STATIC) $(STAT_STATIC)
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -D_GNU_SOURCE $(LIB_CFLAGS) -I$(TOP)/lib/stat -o $@ $< $(STAT_STATIC) \
		$(LIB_STATIC) $(LIB_LIBS) $(STAT_LIBS)

# The table of doc/scale.md.
bench-table: tools $(BENCH_DIR)/growth/make_log $(BENCH_DIR)/exports/stacks \
		$(BENCH_DIR)/analysis/rusage
	@BUILD=$(BUILD) $(TOP)/tests/bench/growth/table

$(BENCH_DIR)/exports/stacks: $(TOP)/tests/bench/exports/stacks.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -g $(WARN) -D_GNU_SOURCE -I$(TOP)/include/uapi -o $@ $<

$(BENCH_DIR)/bench: $(BENCH_SRC) $(TOP)/include/uapi/hwpmc_log.h $(TOP)/tests/bench/bench.h \
		$(TOP)/include/uapi/hwpmc.h $(TOP)/lib/pmc/libhwpmc.h $(TOP)/tests/vpmu/vpmu_guest.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -I$(TOP)/lib/pmc -o $@ $(BENCH_SRC) -lpthread

.PHONY: bench bench-run bench-hybrid bench-ibs bench-cpus bench-look bench-analysis bench-growth bench-exports \
	bench-unwind bench-table bench-coming bench-commands
