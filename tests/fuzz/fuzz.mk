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

$(IOCTL_FUZZ): $(wildcard $(IOCTL_DIR)/*) $(TOP)/tests/fuzz/fuzz.mk $(SPEC_DEV) \
		$(TOP)/tests/harness/harness.c $(TOP)/include/uapi/hwpmc.h
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -Wa,-I$(IOCTL_DIR) -o $@ $(wildcard $(IOCTL_DIR)/*.[cS]) \
		$(TOP)/tests/vm/lib/spec_dev.c $(TOP)/tests/harness/harness.c \
		$$(pkg-config --libs check) -lpthread

$(IOCTL_AGAIN): $(IOCTL_FUZZ)
	$(IOCTL_FUZZ) $(IOCTL_AGAIN_SEED) --emit-c $@.c
	$(CC) -Wall -Werror -I$(TOP)/include/uapi -o $@ $@.c -lpthread

vm-tests: $(IOCTL_FUZZ) $(IOCTL_AGAIN)

# For long, on the debug kernel if there is one: make fuzz MINUTES=60 [SEED=n] [J=2].
fuzz: vm-fetch module vm-tests vpmu
	BUILD=$(BUILD) $(IOCTL_DIR)/long $(MINUTES) $(SEED)

.PHONY: fuzz
