# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - unit tests of the tools, under ASan and UBSan: pure parts, and what
# needs no PMU.

TOOLS_UNIT := $(addprefix $(BUILD)/tests/unit/,tools_formats tools_log \
	tools_gaps tools_pieces tools_views tools_dump tools_report tools_rows tools_chains tools_names tools_programs \
	tools_exports tools_fleet tools_rates tools_gone tools_sampler tools_doctor tools_clouds tools_metrics tools_selftest tools_symname)
# unit-tools NAME...: objects of tools/NAME.c, made once for all of the programs. Messages need
# perf's words.
unit-tools = $(call unit-objects,$(patsubst %,$(TOP)/tools/%.c,$1 \
	$(if $(filter common/msg,$1),common/perfwords)))
TOOLS_UNIT_LOGS := $(UNIT_LIB) $(UNIT_STAT)
TOOLS_UNIT_LOGGEN := $(call unit-objects,$(TOP)/tests/unit/loggen.c)
TOOLS_UNIT_SHARES := $(BUILD)/tests/unit/shares

TOOLS_UNIT_tools_formats := $(call unit-tools,common/fmt common/cpus common/evlist common/evrate \
	stat/metric common/msg)
TOOLS_UNIT_tools_fleet := $(call unit-tools,fleet/body record/every record/logdir \
	common/fmt common/msg common/output common/watch)
TOOLS_UNIT_tools_gone := $(call unit-tools,common/gone record/every record/logdir \
	common/fmt common/msg common/output common/watch)
TOOLS_UNIT_tools_sampler := $(call unit-tools,record/sampler record/few record/launch record/procs \
	record/programs record/tables common/cpus common/evlist common/evrate common/fmt common/gone \
	common/machine common/missing common/msg common/usermode common/watch) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_doctor := $(call unit-tools,doctor/cmd_doctor doctor/files doctor/finding \
	doctor/clouds doctor/host doctor/kernel doctor/module doctor/node doctor/pmu doctor/pt \
	doctor/signature common/machine \
	common/fmt common/msg) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_clouds := $(TOOLS_UNIT_tools_doctor)
TOOLS_UNIT_tools_metrics := $(call unit-tools,stat/define stat/formula common/fmt common/msg) \
	$(TOOLS_OBJ_DIR)/stat/default_metrics.o $(UNIT_LIB)
TOOLS_UNIT_FLAGS_tools_metrics := -I$(TOP)/lib/event -DTABLES_SRC='"$(TOP)/data/events"'
TOOLS_UNIT_LINK_tools_metrics := -Wl,--wrap=event_machine_cpuid
TOOLS_UNIT_tools_programs := $(call unit-tools,record/programs common/fmt common/msg) \
	$(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_symname := $(call unit-tools,common/symname common/fmt) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_selftest := $(call unit-tools,selftest/judge selftest/result common/msg \
	common/fmt)
TOOLS_UNIT_tools_log := $(call unit-tools,common/fmt common/logtext common/missing common/msg \
	common/output record/beside record/net record/note \
	record/sink) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_gaps := $(call unit-tools,top/gaps common/fmt common/missing common/msg) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_pieces := $(call unit-tools,common/fmt common/msg common/output \
	common/watch record/beside record/net record/note record/pieces record/sink) \
	$(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_views := $(TOOLS_UNIT_LOGGEN) $(call unit-tools,view/tree view/graph \
	view/samples view/totals view/gprof view/store view/places view/top export/export \
	export/gmon_export export/gmon common/fmt common/msg common/output) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_FLAGS_tools_views := -DSHARES='"$(TOOLS_UNIT_SHARES)"' \
	-DFOLD='"$(TOP)/tests/harness/fold-graph"'
$(BUILD)/tests/unit/tools_views: $(TOOLS_UNIT_SHARES)

$(TOOLS_UNIT_SHARES): $(TOP)/tests/unit/progs/shares.c
	@mkdir -p $(@D)
	$(CC) -O0 -g -no-pie -fno-pie -o $@ $<

TOOLS_UNIT_tools_dump := $(TOOLS_UNIT_LOGGEN) $(call unit-tools,dump/cmd_dump dump/piece dump/text \
	dump/json common/doubts common/logfilter common/outbuf common/cpus common/logopts common/logtext common/fmt common/msg \
	common/output common/watch) $(TOOLS_UNIT_LOGS)

# The formats have tests of their own.
TOOLS_UNIT_EXPORT := $(patsubst $(TOP)/tools/%.c,$(TOOLS_OBJ_DIR)/%.o, \
	$(wildcard $(TOP)/tools/export/*.c)) $(EXPORT_OBJ)
TOOLS_UNIT_tools_rows := $(call unit-tools,report/rows common/pager common/fmt common/msg \
	common/output common/watch) $(TOOLS_UNIT_LOGS)
TOOLS_UNIT_tools_report := $(call unit-tools,report/cmd_report report/head report/flat \
	report/branches report/tree report/rows report/folded view/tree annotate/cmd_annotate annotate/annotate \
	annotate/print annotate/code annotate/code_kernel annotate/insn annotate/source \
	report/cmd_diff report/diff common/doubts common/cpus common/logopts common/missing common/pager common/symname \
	common/fmt \
	common/msg common/output common/watch) $(TOOLS_UNIT_LOGS) $(TOOLS_UNIT_EXPORT)
TOOLS_UNIT_FLAGS_tools_report := -DSHARES='"$(TOOLS_UNIT_SHARES)"' \
	-DSHARES_SRC='"$(TOP)/tests/unit/progs/shares.c"'
TOOLS_UNIT_tools_chains := $(TOOLS_UNIT_tools_report)
TOOLS_UNIT_FLAGS_tools_chains := $(TOOLS_UNIT_FLAGS_tools_report)
TOOLS_UNIT_tools_names := $(TOOLS_UNIT_tools_report)
TOOLS_UNIT_FLAGS_tools_names := $(TOOLS_UNIT_FLAGS_tools_report)
TOOLS_UNIT_tools_exports := $(TOOLS_UNIT_tools_report)
TOOLS_UNIT_tools_rates := $(TOOLS_UNIT_tools_report)
TOOLS_UNIT_FLAGS_tools_rates := $(TOOLS_UNIT_FLAGS_tools_report)
TOOLS_UNIT_FLAGS_tools_exports := $(TOOLS_UNIT_FLAGS_tools_report)
$(addprefix $(BUILD)/tests/unit/tools_,report chains names): $(TOOLS_UNIT_SHARES)

check-unit: check-unit-tools

$(foreach t,$(TOOLS_UNIT),$(eval $(t): $(TOOLS_UNIT_$(notdir $(t)))))
$(TOOLS_UNIT): $(BUILD)/tests/unit/%: $(BUILD)/tests/unit/stat-obj/tests/unit/%.o \
		$(UNIT_HARNESS)
	$(CC) $(SANITIZE) $(COVERAGE) -pthread -o $@ $(filter %.o,$^) \
		$$(pkg-config --cflags --libs check) $(LIB_LIBS) $(STAT_LIBS) \
		$(TOOLS_LIBS_hwpmc) $(TOOLS_UNIT_LINK_$(@F)) -lm
$(foreach t,$(notdir $(TOOLS_UNIT)), \
	$(eval $(BUILD)/tests/unit/stat-obj/tests/unit/$(t).o: \
		STAT_UNIT_CFLAGS += $(TOOLS_UNIT_FLAGS_$(t))))

check-unit-tools: $(TOOLS_UNIT)
	@failed=0; for prog in $(TOOLS_UNIT); do \
		status=0; $$prog >$$prog.tap || status=$$?; \
		grep '^not ok' $$prog.tap; \
		$(TOP)/tests/harness/tap2tsv unit $${prog##*/} $$status \
			<$$prog.tap >>$(BUILD)/results.tsv; \
		[ $$status = 0 ] || failed=1; \
	done; exit $$failed

.PHONY: check-unit-tools
