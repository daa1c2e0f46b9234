# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - the programs: $(BUILD)/tools/{hwpmc,pmcstat,pmccontrol,pmcannotate}.
# They use of the library what <libhwpmc.h> has, and are linked with the static
# one, so that one file can be copied to another machine.

TOOLS_COMMON := machine msg fmt cpus evlist watch launch
TOOLS_hwpmc := hwpmc cmd_stat stat_set stat_metric stat_text stat_data \
	cmd_record sampler sink note net logopts cmd_report report_flat \
	report_tree report_folded cmd_annotate annotate \
	annotate_print code code_kernel source pager cmd_dump dump_text dump_json outbuf \
	logtext cmd_list cmd_control control_show cmd_kgmon cmd_unload
TOOLS_pmcstat := pmcstat pmcstat_run pmcstat_print pmcstat_log pmcstat_read \
	pmcstat_views pmcstat_top pmcstat_screen view_tree view_graph \
	view_samples view_gprof view_totals view_store view_top export \
	export_callgrind export_gmon gmon logtext note net procs
TOOLS_LIBS_pmcstat := -lncursesw -ltinfo
TOOLS_pmccontrol := pmccontrol
TOOLS_pmcannotate := pmcannotate annotate code code_kernel source logopts
TOOLS_LIBS_pmcannotate := -lcapstone
TOOLS_LIBS_hwpmc := -lcapstone
TOOLS_hwpmc += export export_table export_callgrind export_firefox export_flamegraph \
	export_gmon gmon export_pprof export_speedscope
TOOLS_LIBS_hwpmc += -lprotobuf-c
TOOLS_hwpmc += report_head cmd_diff diff cmd_top top_data top_text top_screen view_tree
TOOLS_LIBS_hwpmc += -lncursesw -ltinfo
TOOLS_NAMES := hwpmc pmcstat pmccontrol pmcannotate
TOOLS_BIN := $(TOOLS_NAMES:%=$(BUILD)/tools/%)
TOOLS_CFLAGS = $(CFLAGS) $(WARN) -D_GNU_SOURCE -DVERSION='"$(VERSION)"' \
	-I$(TOP)/include/uapi -I$(TOP)/lib/pmc -I$(TOP)/lib/log -I$(TOP)/lib/stat

tools: $(TOOLS_BIN)

# Of the exports: pprof's messages, and the page's script and style as they are.
EXPORT_GEN := $(BUILD)/tools/gen
EXPORT_OBJ := $(addprefix $(BUILD)/tools/obj/,pprof.pb-c.o flamegraph_js.o \
	flamegraph_css.o)
TOOLS_CFLAGS += -I$(EXPORT_GEN)

$(EXPORT_GEN)/pprof.pb-c.c: $(TOP)/tools/pprof.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) --proto_path=$(<D) $<

$(EXPORT_GEN)/pprof.pb-c.h: $(EXPORT_GEN)/pprof.pb-c.c

$(BUILD)/tools/obj/export_pprof.o: $(EXPORT_GEN)/pprof.pb-c.h

$(BUILD)/tools/obj/pprof.pb-c.o: $(EXPORT_GEN)/pprof.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

# The names of its symbols come from the file's, without its folder.
$(BUILD)/tools/obj/flamegraph_%.o: $(TOP)/tools/flamegraph.%
	@mkdir -p $(@D)
	cd $(<D) && $(LD) -r -b binary -z noexecstack -o $@ $(<F)

$(BUILD)/tools/hwpmc: $(EXPORT_OBJ)

$(BUILD)/tools/obj/%.o: $(TOP)/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(COVERAGE) -MMD -MP -c -o $@ $<

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
	install -D -m 644 $(TOP)/completion/hwpmc \
		$(DESTDIR)$(prefix)/share/bash-completion/completions/hwpmc

.PHONY: tools install-tools
