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
