# SPDX-License-Identifier: BSD-2-Clause
# export.mk - what hwpmc report exports, opened by the programs that it is for. The
# tool is built for it under ASan and UBSan.

EXPORT_TEST	:= $(BUILD)/tests/export
EXPORT_SRC	:= $(TOP)/tools/$(TOOLS_MAIN_hwpmc).c \
		   $(filter-out $(TOP)/tools/pmcstat/%,$(TOOLS_SHARED_SRC)) \
		   $(LIB_SRC) $(STAT_SRC)
# The objects are those of the unit tests, and what those do not need.
EXPORT_TEST_OBJ	:= $(call unit-objects,$(EXPORT_SRC))

$(call unit-objects,$(TOP)/tools/export/pprof.c): STAT_UNIT_CFLAGS += -I$(EXPORT_GEN)
$(call unit-objects,$(TOP)/tools/export/pprof.c): $(EXPORT_GEN)/pprof.pb-c.h

$(EXPORT_TEST)/hwpmc: $(EXPORT_TEST_OBJ) $(EXPORT_OBJ)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(COVERAGE) -o $@ $^ -ljansson -llzma $(STAT_LIBS) $(TOOLS_LIBS_hwpmc) -lm \
		-lpthread

# run-export NAME,LAYER: tests/export/NAME, and its results.
run-export = PYTHONPATH=$(TOP)/tests/harness BUILD=$(BUILD) \
	PYTHONDONTWRITEBYTECODE=1 $(TOP)/tests/export/$(1) \
	>$(EXPORT_TEST)/$(1).tap; status=$$?; \
	grep '^not ok' $(EXPORT_TEST)/$(1).tap; \
	$(TOP)/tests/harness/tap2tsv $(2) $(1) $$status \
		<$(EXPORT_TEST)/$(1).tap >>$(BUILD)/results.tsv; exit $$status

check-export: check-export-formats check-export-edits check-export-push check-export-stripped check-export-threads \
	check-export-terminals check-export-inputs check-export-outputs check-export-widths \
	check-export-ruled

check-export-formats check-export-push check-export-stripped check-export-threads \
	check-export-ruled: check-export-%: $(EXPORT_TEST)/hwpmc
	@$(call run-export,$*,export)

check-export-ruled: tools

check-export-edits: $(EXPORT_TEST)/hwpmc
	@$(call run-export,edits,export)

# All that reads a log, as it is installed.
check-export-terminals check-export-inputs check-export-outputs check-export-widths: check-export-%: tools
	@mkdir -p $(EXPORT_TEST)
	@$(call run-export,$*,export)

.PHONY: check-export check-export-formats check-export-edits check-export-push check-export-stripped check-export-threads \
	check-export-terminals check-export-inputs check-export-outputs check-export-widths \
	check-export-ruled

check-flamegraph: $(EXPORT_TEST)/hwpmc
	@$(call run-export,flamegraph,flamegraph)

.PHONY: check-flamegraph
