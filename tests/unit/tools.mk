# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - unit tests of the tools, under ASan and UBSan: pure parts, and what
# needs no PMU.

TOOLS_UNIT := $(addprefix $(BUILD)/tests/unit/,tools_formats tools_log \
	tools_views tools_dump tools_report)
TOOLS_UNIT_tools_formats := $(addprefix $(TOP)/tools/,fmt.c cpus.c evlist.c \
	stat_metric.c msg.c)
TOOLS_UNIT_tools_log := $(addprefix $(TOP)/tools/,fmt.c logtext.c msg.c net.c note.c \
	sink.c) $(UNIT_LIB) $(UNIT_STAT)
TOOLS_UNIT_LIBS_tools_log := $(LIB_CFLAGS) -I$(TOP)/lib/stat \
	-I$(TOP)/lib/freebsd $(LIB_LIBS) \
	$(STAT_LIBS) -lpthread
TOOLS_UNIT_tools_views := $(TOP)/tests/unit/loggen.c $(addprefix $(TOP)/tools/,view_tree.c view_graph.c \
	view_samples.c view_totals.c view_gprof.c view_store.c view_top.c \
	export.c export_gmon.c fmt.c gmon.c msg.c) $(UNIT_LIB) $(UNIT_STAT)
TOOLS_UNIT_LIBS_tools_views := $(TOOLS_UNIT_LIBS_tools_log) \
	-DSHARES='"$(BUILD)/tests/unit/shares"' \
	-DFOLD='"$(TOP)/tests/harness/fold-graph"'
$(BUILD)/tests/unit/tools_views: $(BUILD)/tests/unit/shares $(TOP)/tests/unit/loggen.h

$(BUILD)/tests/unit/shares: $(TOP)/tests/unit/progs/shares.c
	@mkdir -p $(@D)
	$(CC) -O0 -g -no-pie -fno-pie -o $@ $<

TOOLS_UNIT_tools_dump := $(TOP)/tests/unit/loggen.c $(addprefix $(TOP)/tools/, \
	cmd_dump.c dump_text.c dump_json.c outbuf.c logopts.c logtext.c fmt.c \
	msg.c watch.c) $(UNIT_LIB) $(UNIT_STAT)
TOOLS_UNIT_LIBS_tools_dump := $(TOOLS_UNIT_LIBS_tools_log)
$(BUILD)/tests/unit/tools_dump: $(TOP)/tests/unit/loggen.h

TOOLS_UNIT_tools_report := $(addprefix $(TOP)/tools/,cmd_report.c report_head.c \
	report_flat.c report_tree.c report_folded.c view_tree.c cmd_annotate.c \
	annotate.c annotate_print.c code.c code_kernel.c source.c cmd_diff.c diff.c logopts.c \
	pager.c fmt.c msg.c watch.c) $(UNIT_LIB) $(UNIT_STAT)
# The formats have tests of their own.
TOOLS_UNIT_EXPORT := $(patsubst $(TOP)/tools/%.c,$(BUILD)/tools/obj/%.o, \
	$(wildcard $(TOP)/tools/export*.c $(TOP)/tools/gmon.c)) $(EXPORT_OBJ)
TOOLS_UNIT_LIBS_tools_report := $(TOOLS_UNIT_LIBS_tools_log) \
	-DSHARES='"$(BUILD)/tests/unit/shares"' \
	$(TOOLS_LIBS_hwpmc)
$(BUILD)/tests/unit/tools_report: $(BUILD)/tests/unit/shares \
	$(TOP)/tests/unit/made_log.h $(TOOLS_UNIT_EXPORT)

check-unit: check-unit-tools

$(foreach t,$(TOOLS_UNIT),$(eval $(t): $(TOOLS_UNIT_$(notdir $(t)))))
$(TOOLS_UNIT): $(BUILD)/tests/unit/%: $(TOP)/tests/unit/%.c \
		$(UNIT_HARNESS) \
		$(wildcard $(TOP)/tools/*.h $(TOP)/lib/*/*.h)
	@mkdir -p $(@D)
	$(CC) -O1 -g $(WARN) -Werror -D_GNU_SOURCE $(SANITIZE) $(COVERAGE) \
		-DVERSION='"$(VERSION)"' -I$(TOP)/include/uapi \
		-I$(TOP)/lib/pmc -o $@ $(filter %.c %.o,$^) \
		$$(pkg-config --cflags --libs check) $(TOOLS_UNIT_LIBS_$*) -lm

check-unit-tools: $(TOOLS_UNIT)
	@failed=0; for prog in $(TOOLS_UNIT); do \
		status=0; $$prog >$$prog.tap || status=$$?; \
		grep '^not ok' $$prog.tap; \
		$(TOP)/tests/harness/tap2tsv unit $${prog##*/} $$status \
			<$$prog.tap >>$(BUILD)/results.tsv; \
		[ $$status = 0 ] || failed=1; \
	done; exit $$failed

.PHONY: check-unit-tools
