# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - the programs: $(BUILD)/tools/{hwpmc,pmcstat,pmccontrol}. They use
# of the library what <libhwpmc.h> has, and are linked with the static one, so
# that one file can be copied to another machine.

TOOLS_COMMON := msg fmt cpus evlist watch launch
TOOLS_hwpmc := hwpmc cmd_stat stat_set stat_metric stat_text stat_data \
	cmd_record sampler sink note net logopts cmd_report report_flat \
	report_tree report_folded cmd_annotate annotate \
	annotate_print code source pager cmd_dump dump_text dump_json outbuf \
	logtext cmd_list cmd_control control_show
TOOLS_pmcstat := pmcstat pmcstat_run pmcstat_print pmcstat_log pmcstat_read \
	pmcstat_views view_tree view_graph view_samples view_totals logtext \
	note net procs
TOOLS_pmccontrol := pmccontrol
TOOLS_LIBS_hwpmc := -lcapstone
TOOLS_NAMES := hwpmc pmcstat pmccontrol
TOOLS_BIN := $(TOOLS_NAMES:%=$(BUILD)/tools/%)
TOOLS_CFLAGS = $(CFLAGS) $(WARN) -D_GNU_SOURCE -DVERSION='"$(VERSION)"' \
	-I$(TOP)/include/uapi -I$(TOP)/lib/pmc -I$(TOP)/lib/log -I$(TOP)/lib/stat

tools: $(TOOLS_BIN)

$(BUILD)/tools/obj/%.o: $(TOP)/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) -MMD -MP -c -o $@ $<

define TOOLS_LINK
$(BUILD)/tools/$(1): $(TOOLS_$(1):%=$(BUILD)/tools/obj/%.o) \
		$(TOOLS_COMMON:%=$(BUILD)/tools/obj/%.o) $(BUILD)/lib/libhwpmcstat.a $(BUILD)/lib/libhwpmc.a
	$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -lpfm $$(STAT_LIBS) $$(TOOLS_LIBS_$(1)) -lm -lpthread
endef
$(foreach t,$(TOOLS_NAMES),$(eval $(call TOOLS_LINK,$(t))))

-include $(wildcard $(BUILD)/tools/obj/*.d)

install-tools: tools
	install -d $(DESTDIR)$(prefix)/bin
	install -m 755 $(TOOLS_BIN) $(DESTDIR)$(prefix)/bin

.PHONY: tools install-tools
