# SPDX-License-Identifier: BSD-2-Clause
# kmod.mk - tests of the module's pure files, on this machine, from the same
# sources that the module is made of, under ASan and UBSan. A new program: a
# line with its sources, and its name in unit-progs.

unit-progs := kmod_adapt kmod_amd kmod_cputype kmod_debugflags kmod_ibs kmod_intel \
	kmod_intel_events kmod_intel_kinds kmod_intel_rules kmod_nmi kmod_p4 kmod_payload kmod_rapl \
	kmod_ring kmod_row kmod_throttle kmod_unwind_memo kmod_width

UNIT_CFLAGS := -std=gnu11 -O1 -g1 -fno-omit-frame-pointer $(WARN) -Werror \
	$(SANITIZE) $(COVERAGE) \
	-I$(TOP)/include/uapi -I$(TOP)/tests/harness -I$(TOP)/kmod \
	-DEVENTS_SRC='"$(BUILD)/tests/events"'
unit-bins := $(addprefix $(BUILD)/unit/,$(unit-progs))
unit-backends := $(TOP)/kmod/backends

$(BUILD)/unit/kmod_amd: $(unit-backends)/amd_encode.c
$(BUILD)/unit/kmod_cputype: $(unit-backends)/cputype.c
$(BUILD)/unit/kmod_debugflags: $(TOP)/kmod/debug/debugflags.c
$(BUILD)/unit/kmod_ibs: $(unit-backends)/ibs_encode.c
$(BUILD)/unit/kmod_intel: $(unit-backends)/intel_encode.c \
	$(unit-backends)/intel_constraints.c $(unit-backends)/intel_arming.c \
	$(unit-backends)/intel_shared.c $(unit-backends)/intel_kinds.c
$(BUILD)/unit/kmod_intel_events: $(unit-backends)/cputype.c \
	$(unit-backends)/intel_constraints.c $(unit-backends)/intel_kinds.c
$(BUILD)/unit/kmod_intel_kinds: $(unit-backends)/cputype.c $(unit-backends)/intel_encode.c \
	$(unit-backends)/intel_constraints.c $(unit-backends)/intel_arming.c \
	$(unit-backends)/intel_shared.c $(unit-backends)/intel_kinds.c
$(BUILD)/unit/kmod_p4: $(unit-backends)/p4_encode.c
$(BUILD)/unit/kmod_p4: unit-libs := -lpfm
$(BUILD)/unit/kmod_rapl: $(unit-backends)/rapl_units.c
$(BUILD)/unit/kmod_ring: $(TOP)/kmod/sampling/ring.c \
	$(TOP)/kmod/log/buildid.c
$(BUILD)/unit/kmod_row: $(TOP)/kmod/core/row.c
$(BUILD)/unit/kmod_intel_events: $(BUILD)/tests/events/intel-counters.tsv

$(BUILD)/tests/events/intel-counters.tsv: $(TOP)/tests/events/make-counters \
		$(wildcard $(TOP)/data/events/*)
	@mkdir -p $(@D)
	$(TOP)/tests/events/make-counters $(TOP)/data/events $(@D)

# It looks into the tables: the source is included, not linked.
$(BUILD)/unit/kmod_intel_rules: $(unit-backends)/intel_encode.c \
	$(unit-backends)/intel_arming.c $(unit-backends)/intel_shared.c \
	$(unit-backends)/intel_kinds.c

$(unit-bins): $(BUILD)/unit/%: $(TOP)/tests/unit/%.c $(TOP)/tests/harness/harness.c \
		$(wildcard $(TOP)/kmod/*/*.h) $(wildcard $(TOP)/include/uapi/*.h) \
		$(TOP)/tests/harness/harness.h $(TOP)/tests/unit/kmod.mk \
		$(unit-backends)/intel_constraints.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $(sort $(filter-out \
		$(if $(filter %_rules,$@),%/intel_constraints.c),$(filter %.c,$^))) \
		$(unit-libs) $$(pkg-config --libs check)

check-unit-kmod: $(unit-bins)
	@BUILD=$(BUILD) $(TOP)/tests/unit/run $(unit-bins)

check-unit: check-unit-kmod

.PHONY: check-unit-kmod
