# SPDX-License-Identifier: BSD-2-Clause
# tools.mk - the programs: $(BUILD)/tools/{hwpmc,pmcstat,pmccontrol,pmcannotate}.
# They use of the library what <libhwpmc.h> has, and are linked with the static
# one, so that one file can be copied to another machine.

# A folder a command family; the order of the folders is in ARCHITECTURE.md.

TOOLS_MAIN_hwpmc := hwpmc/hwpmc
TOOLS_MAIN_pmcstat := pmcstat/pmcstat
TOOLS_MAIN_pmccontrol := pmccontrol
TOOLS_MAIN_pmcannotate := annotate/pmcannotate
TOOLS_LIBS_hwpmc := -lprotobuf-c -lncursesw -ltinfo
TOOLS_LIBS_pmcstat := -lncursesw -ltinfo
TOOLS_LIBS_pmcannotate :=
TOOLS_NAMES := hwpmc pmcstat pmccontrol pmcannotate
TOOLS_BIN := $(TOOLS_NAMES:%=$(BUILD)/tools/%)
TOOLS_OBJ_DIR := $(BUILD)/tools/obj
# What the programs share: all sources but those with a main(). The linker takes of
# it what a program uses.
TOOLS_SHARED_SRC := $(filter-out \
	$(foreach t,$(TOOLS_NAMES),$(TOP)/tools/$(TOOLS_MAIN_$(t)).c), \
	$(sort $(wildcard $(TOP)/tools/*/*.c $(TOP)/tools/*/*/*.c)))
TOOLS_SHARED_OBJ := $(TOOLS_SHARED_SRC:$(TOP)/tools/%.c=$(TOOLS_OBJ_DIR)/%.o)
TOOLS_CFLAGS = $(CFLAGS) $(WARN) -D_GNU_SOURCE -DVERSION='"$(VERSION)"' \
	-I$(TOP)/tools -I$(TOP)/include/uapi -I$(TOP)/lib/pmc \
	-I$(TOP)/lib/log -I$(TOP)/lib/stat

tools: $(TOOLS_BIN)

# Of the exports: pprof's messages, and the page's script and style as they are.
EXPORT_GEN := $(BUILD)/tools/gen
EXPORT_OBJ := $(addprefix $(TOOLS_OBJ_DIR)/export/,pprof.pb-c.o flamegraph_js.o \
	flamegraph_css.o) $(TOOLS_OBJ_DIR)/stat/default_metrics.o
TOOLS_CFLAGS += -I$(EXPORT_GEN)

$(EXPORT_GEN)/pprof.pb-c.c: $(TOP)/tools/export/pprof.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) --proto_path=$(<D) $<

$(EXPORT_GEN)/pprof.pb-c.h: $(EXPORT_GEN)/pprof.pb-c.c

$(TOOLS_OBJ_DIR)/export/pprof.o: $(EXPORT_GEN)/pprof.pb-c.h

$(TOOLS_OBJ_DIR)/export/pprof.pb-c.o: $(EXPORT_GEN)/pprof.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

# The names of its symbols come from the file's, without its folder.
$(TOOLS_OBJ_DIR)/export/flamegraph_%.o: $(TOP)/tools/export/flamegraph.%
	@mkdir -p $(@D)
	cd $(<D) && $(LD) -r -b binary -z noexecstack -o $@ $(<F)

# The metrics that hwpmc has by itself, in the same way.
$(TOOLS_OBJ_DIR)/stat/default_metrics.o: $(TOP)/data/metrics/default.metrics
	@mkdir -p $(@D)
	cd $(<D) && $(LD) -r -b binary -z noexecstack -o $@ $(<F)

$(TOOLS_OBJ_DIR)/%.o: $(TOP)/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(TOOLS_CFLAGS) $(COVERAGE) -MMD -MP -c -o $@ $<

$(TOOLS_OBJ_DIR)/shared.a: $(TOOLS_SHARED_OBJ) $(EXPORT_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

define TOOLS_LINK
$(BUILD)/tools/$(1): $(TOOLS_OBJ_DIR)/$(TOOLS_MAIN_$(1)).o $(TOOLS_OBJ_DIR)/shared.a \
		$(BUILD)/lib/libhwpmcstat.a $(BUILD)/lib/libhwpmc.a
	$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -ldl -ljansson -llzma $$(STAT_LIBS) $$(TOOLS_LIBS_$(1)) -lm -lpthread
endef
$(foreach t,$(TOOLS_NAMES),$(eval $(call TOOLS_LINK,$(t))))

-include $(wildcard $(TOOLS_OBJ_DIR)/*.d $(TOOLS_OBJ_DIR)/*/*.d \
	$(TOOLS_OBJ_DIR)/*/*/*.d)

install-tools: tools
	install -d $(DESTDIR)$(prefix)/bin
	install -m 755 $(TOOLS_BIN) $(DESTDIR)$(prefix)/bin
	install -D -m 644 $(TOP)/completion/hwpmc \
		$(DESTDIR)$(prefix)/share/bash-completion/completions/hwpmc
	install -D -m 644 $(TOP)/completion/_hwpmc \
		$(DESTDIR)$(prefix)/share/zsh/site-functions/_hwpmc
	install -D -m 644 $(TOP)/completion/hwpmc.fish \
		$(DESTDIR)$(prefix)/share/fish/vendor_completions.d/hwpmc.fish

.PHONY: tools install-tools
