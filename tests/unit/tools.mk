# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - unit tests of the tools' pure parts, under ASan and UBSan.

TOOLS_UNIT := $(BUILD)/tests/unit/tools_formats
TOOLS_UNIT_SRC := $(addprefix $(TOP)/,tests/unit/tools_formats.c \
	tests/harness/harness.c tools/fmt.c tools/cpus.c tools/evlist.c \
	tools/stat_metric.c tools/msg.c)

check-unit: check-unit-tools

$(TOOLS_UNIT): $(TOOLS_UNIT_SRC) $(wildcard $(TOP)/tools/*.h)
	@mkdir -p $(@D)
	$(CC) -O1 -g $(WARN) -D_GNU_SOURCE -fsanitize=address,undefined \
		-fno-sanitize-recover=all -I$(TOP)/include/uapi \
		-I$(TOP)/lib/pmc -o $@ $(TOOLS_UNIT_SRC) \
		$$(pkg-config --cflags --libs check) -lm

check-unit-tools: $(TOOLS_UNIT)
	@status=0; $(TOOLS_UNIT) >$(TOOLS_UNIT).tap || status=$$?; \
	cat $(TOOLS_UNIT).tap; \
	$(TOP)/tests/harness/tap2tsv unit tools_formats $$status \
		<$(TOOLS_UNIT).tap >>$(BUILD)/results.tsv; exit $$status

.PHONY: check-unit-tools
