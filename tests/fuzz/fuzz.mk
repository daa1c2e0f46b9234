# SPDX-License-Identifier: BSD-2-Clause
# fuzz.mk - what reads logs, under sanitizers, on logs that are damaged: the unit
# tests logs_damaged (a part of check-unit), and `make fuzz-log` for longer:
#	make fuzz-log RUNS=1000000 SEED=7
#	make fuzz-log CC=clang FUZZ_ENGINE='-fsanitize=fuzzer -DLIBFUZZER'

FUZZ_DIR	:= $(BUILD)/fuzz
FUZZ_ENGINE	?=
RUNS		?= 20000
SEED		?= 1
LOGS_SRC	:= $(TOP)/tests/fuzz/log_exercise.c $(TOP)/tests/unit/loggen.c \
	$(LIB_SRC) $(STAT_SRC)
LOGS_DEPS	:= $(LOGS_SRC) $(wildcard $(TOP)/lib/*/*.h $(TOP)/tests/fuzz/*.h \
	$(TOP)/include/uapi/*.h) $(TOP)/tests/unit/loggen.h
LOGS_CFLAGS	= -std=gnu11 -O1 -g $(WARN) -Werror -D_GNU_SOURCE \
	$(SANITIZE) $(COVERAGE) -pthread \
	$(LIB_CFLAGS) -I$(TOP)/lib/stat -I$(TOP)/lib/freebsd \
	-I$(TOP)/tests/harness
LOGS_LIBS	= $(LIB_LIBS) $(STAT_LIBS)
LOGS_UNIT	:= $(BUILD)/tests/unit/logs_damaged

$(LOGS_UNIT): $(TOP)/tests/unit/logs_damaged.c $(UNIT_HARNESS) \
		$(TOP)/tests/fuzz/log_exercise.c $(TOP)/tests/unit/loggen.c \
		$(UNIT_LIB) $(UNIT_STAT) $(filter %.h,$(LOGS_DEPS))
	@mkdir -p $(@D)
	$(CC) $(LOGS_CFLAGS) -o $@ $(filter %.c %.o,$^) \
		$$(pkg-config --cflags --libs check) $(LOGS_LIBS)

check-unit-logs: $(LOGS_UNIT)
	@BUILD=$(BUILD) $(TOP)/tests/unit/run $(LOGS_UNIT)

check-unit: check-unit-logs

$(FUZZ_DIR)/log_parser: $(TOP)/tests/fuzz/log_parser.c $(LOGS_DEPS)
	@mkdir -p $(@D)
	$(CC) $(LOGS_CFLAGS) -o $@ $(filter %.c,$^) $(LOGS_LIBS)

$(FUZZ_DIR)/log_parser_engine: $(TOP)/tests/fuzz/log_parser.c $(LOGS_DEPS)
	@mkdir -p $(@D)
	$(CC) $(LOGS_CFLAGS) $(FUZZ_ENGINE) -o $@ $(filter %.c,$^) $(LOGS_LIBS)

# What ends it is left in build/fuzz/last; build/fuzz/log_parser FILE tries it again.
ifeq ($(FUZZ_ENGINE),)
fuzz-log: $(FUZZ_DIR)/log_parser
	$(FUZZ_DIR)/log_parser -n $(RUNS) -s $(SEED) -c $(FUZZ_DIR)
else
fuzz-log: $(FUZZ_DIR)/log_parser $(FUZZ_DIR)/log_parser_engine
	@mkdir -p $(FUZZ_DIR)/corpus
	$(FUZZ_DIR)/log_parser -w $(FUZZ_DIR)/corpus
	$(FUZZ_DIR)/log_parser_engine -runs=$(RUNS) -seed=$(SEED) \
		-artifact_prefix=$(FUZZ_DIR)/ $(FUZZ_DIR)/corpus
endif

.PHONY: check-unit-logs fuzz-log

# ---- the device: random sequences of operations in a VM (tests/fuzz/ioctl/main.c).
IOCTL_FUZZ	:= $(BUILD)/vm/fuzz/ioctl
IOCTL_DIR	:= $(TOP)/tests/fuzz/ioctl
# A sequence of one thread as the program that the fuzzer writes of it.
IOCTL_AGAIN	:= $(BUILD)/vm/fuzz/again
IOCTL_AGAIN_SEED := --seed 9 --ops 400 --model intel
MINUTES		?= 60

# By vm.mk, which is read after this file.
IOCTL_OBJS	:= $(addprefix $(BUILD)/vm/obj/tests/,vm/lib/kmod_dev.o harness/harness.o)

$(IOCTL_FUZZ): $(wildcard $(IOCTL_DIR)/*) $(TOP)/tests/fuzz/fuzz.mk $(IOCTL_OBJS) \
		$(TOP)/include/uapi/hwpmc.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -Wa,-I$(IOCTL_DIR) -o $@ $(wildcard $(IOCTL_DIR)/*.[cS]) \
		$(IOCTL_OBJS) \
		$$(pkg-config --libs check) -lpthread

$(IOCTL_AGAIN): $(IOCTL_FUZZ)
	$(IOCTL_FUZZ) $(IOCTL_AGAIN_SEED) --emit-c $@.c
	$(CC) -Wall -Werror -I$(TOP)/include/uapi -o $@ $@.c -lpthread

vm-tests: $(IOCTL_FUZZ) $(IOCTL_AGAIN)

# For long, on the debug kernel if there is one: make fuzz MINUTES=60 [SEED=n] [J=2].
fuzz: vm-fetch module-vm vm-tests vpmu
	BUILD=$(BUILD) $(IOCTL_DIR)/long $(MINUTES) $(SEED)

.PHONY: fuzz

# ---- libFuzzer on what needs no kernel: tests/fuzz/lib, a file a target.
LIBFUZZ_DIR	:= $(BUILD)/fuzz/lib
LIBFUZZ		:= log perf stream listen event tables map kallsyms elf lines kernel unwind
# On pure files of the module.
LIBFUZZ_PURE	:= kernel unwind
LIBFUZZ_SRC	:= $(TOP)/tests/fuzz/lib
LIBFUZZ_CC	?= clang
LIBFUZZ_SECONDS	?= 1
LIBFUZZ_CFLAGS	= -std=gnu11 -O1 -g1 -w -D_GNU_SOURCE \
	-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all \
	-fno-omit-frame-pointer $(LIB_CFLAGS) -I$(TOP)/lib/stat -I$(TOP)/lib/freebsd \
	-I$(TOP)/lib/event -I$(TOP)/tests/unit -I$(TOP)/tools
LIBFUZZ_OBJ	:= $(patsubst $(TOP)/lib/%.c,$(LIBFUZZ_DIR)/obj/%.o,$(LIB_SRC) $(STAT_SRC)) \
	$(LIBFUZZ_DIR)/obj/loggen.o $(LIBFUZZ_DIR)/obj/log_exercise.o \
	$(LIBFUZZ_DIR)/obj/symbols.o $(LIBFUZZ_DIR)/obj/logtext.o $(LIBFUZZ_DIR)/obj/fmt.o
LIBFUZZ_KERNEL	:= $(addprefix $(TOP)/kmod/,backends/amd_encode.c \
	backends/intel_encode.c backends/intel_kinds.c backends/intel_constraints.c \
	backends/intel_arming.c backends/intel_shared.c debug/debugflags.c \
	log/buildid.c)
LIBFUZZ_DEPS	:= $(wildcard $(TOP)/lib/*/*.h $(TOP)/include/uapi/*.h $(TOP)/tests/fuzz/*.h \
	$(TOP)/tests/fuzz/lib/*.h $(TOP)/tests/unit/*.h $(TOP)/kmod/*/*.h) \
	$(TOP)/tests/fuzz/fuzz.mk

$(LIBFUZZ_DIR)/obj/%.o: $(TOP)/lib/%.c $(LIBFUZZ_DEPS)
	@mkdir -p $(@D)
	$(LIBFUZZ_CC) $(LIBFUZZ_CFLAGS) -c -o $@ $<

$(LIBFUZZ_DIR)/obj/loggen.o: $(TOP)/tests/unit/loggen.c $(LIBFUZZ_DEPS)
$(LIBFUZZ_DIR)/obj/log_exercise.o: $(TOP)/tests/fuzz/log_exercise.c $(LIBFUZZ_DEPS)
$(LIBFUZZ_DIR)/obj/symbols.o: $(TOP)/tests/fuzz/lib/symbols.c $(LIBFUZZ_DEPS)
$(LIBFUZZ_DIR)/obj/logtext.o: $(TOP)/tools/common/logtext.c $(LIBFUZZ_DEPS)
$(LIBFUZZ_DIR)/obj/fmt.o: $(TOP)/tools/common/fmt.c $(LIBFUZZ_DEPS)
$(LIBFUZZ_DIR)/obj/loggen.o $(LIBFUZZ_DIR)/obj/log_exercise.o $(LIBFUZZ_DIR)/obj/symbols.o \
		$(LIBFUZZ_DIR)/obj/logtext.o $(LIBFUZZ_DIR)/obj/fmt.o:
	@mkdir -p $(@D)
	$(LIBFUZZ_CC) $(LIBFUZZ_CFLAGS) -c -o $@ $<

$(addprefix $(LIBFUZZ_DIR)/,$(filter-out $(LIBFUZZ_PURE),$(LIBFUZZ))): $(LIBFUZZ_DIR)/%: \
		$(LIBFUZZ_SRC)/%.c $(LIBFUZZ_OBJ)
	$(LIBFUZZ_CC) $(LIBFUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(LIBFUZZ_OBJ) \
		$(LIB_LIBS) $(STAT_LIBS)

$(LIBFUZZ_DIR)/kernel: $(LIBFUZZ_SRC)/kernel.c $(LIBFUZZ_KERNEL) $(LIBFUZZ_DEPS)
	@mkdir -p $(@D)
	$(LIBFUZZ_CC) $(LIBFUZZ_CFLAGS) -I$(TOP)/kmod -fsanitize=fuzzer -o $@ \
		$(filter %.c,$^)

$(LIBFUZZ_DIR)/unwind: $(LIBFUZZ_SRC)/unwind.c $(TOP)/kmod/sampling/unwind_table.c \
		$(LIBFUZZ_DEPS)
	@mkdir -p $(@D)
	$(LIBFUZZ_CC) $(LIBFUZZ_CFLAGS) -I$(TOP)/kmod -fsanitize=fuzzer -o $@ \
		$(filter %.c,$^)

# In make check: the corpus, then a few seconds each.
check-fuzz: $(addprefix $(LIBFUZZ_DIR)/,$(LIBFUZZ))
	@BUILD=$(BUILD) $(LIBFUZZ_SRC)/run $(LIBFUZZ_SECONDS) $(LIBFUZZ)

# For long, each: make fuzz-lib MINUTES=10 [SEED=n]
fuzz-lib: $(addprefix $(LIBFUZZ_DIR)/,$(LIBFUZZ))
	@BUILD=$(BUILD) SEED=$(SEED) $(LIBFUZZ_SRC)/run $$(($(MINUTES) * 60)) $(LIBFUZZ)

# What the target perf begins with: made again where the generator has changed.
$(FUZZ_DIR)/perf_corpus: $(TOP)/tests/fuzz/perf_corpus.c $(TOP)/tests/unit/perfgen.c \
		$(TOP)/tests/unit/perfgen.h $(TOP)/lib/stat/perf_format.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g $(WARN) -I$(TOP)/lib/stat -o $@ $(filter %.c,$^) -lzstd

fuzz-perf-corpus: $(FUZZ_DIR)/perf_corpus
	$< $(TOP)/tests/fuzz/corpus/perf

.PHONY: check-fuzz fuzz-lib fuzz-perf-corpus

# ---- the same targets under valgrind, for memory that is read and was never written.
MEMCHECK_DIR	:= $(BUILD)/fuzz/memcheck
MEMCHECK_LOGS	:= log perf stream listen
MEMCHECK_REST	:= $(filter-out $(LIBFUZZ_PURE) $(MEMCHECK_LOGS),$(LIBFUZZ))
# s, of each that reads logs; the others take their corpora alone.
MEMCHECK_SECONDS ?= 600
MEMCHECK_SRC	:= $(LIB_SRC) $(STAT_SRC) $(TOP)/tests/unit/loggen.c \
	$(TOP)/tests/fuzz/log_exercise.c $(LIBFUZZ_SRC)/symbols.c $(LIBFUZZ_SRC)/memcheck.c \
	$(TOP)/tools/common/logtext.c $(TOP)/tools/common/fmt.c
MEMCHECK_OBJ	:= $(patsubst $(TOP)/%.c,$(MEMCHECK_DIR)/obj/%.o,$(MEMCHECK_SRC))
MEMCHECK_CFLAGS	= -std=gnu11 -O1 -g -w -D_GNU_SOURCE -pthread $(LIB_CFLAGS) \
	-I$(TOP)/lib/stat -I$(TOP)/lib/freebsd -I$(TOP)/lib/event -I$(TOP)/tests/unit \
	-I$(TOP)/tools -I$(TOP)/tests/harness

$(MEMCHECK_OBJ): $(MEMCHECK_DIR)/obj/%.o: $(TOP)/%.c $(LIBFUZZ_DEPS)
	@mkdir -p $(@D)
	$(CC) $(MEMCHECK_CFLAGS) -c -o $@ $<

$(addprefix $(MEMCHECK_DIR)/,$(MEMCHECK_LOGS) $(MEMCHECK_REST)): $(MEMCHECK_DIR)/%: \
		$(LIBFUZZ_SRC)/%.c $(MEMCHECK_OBJ)
	$(CC) $(MEMCHECK_CFLAGS) -o $@ $< $(MEMCHECK_OBJ) $(LIB_LIBS) $(STAT_LIBS)

check-memcheck: $(addprefix $(MEMCHECK_DIR)/,$(MEMCHECK_LOGS) $(MEMCHECK_REST))
	@failed=0; BUILD=$(BUILD) $(LIBFUZZ_SRC)/memcheck 0 $(MEMCHECK_REST) || failed=1; \
	BUILD=$(BUILD) $(LIBFUZZ_SRC)/memcheck $(MEMCHECK_SECONDS) $(MEMCHECK_LOGS) || failed=1; \
	exit $$failed

.PHONY: check-memcheck
