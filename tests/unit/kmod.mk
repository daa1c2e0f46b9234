# SPDX-License-Identifier: BSD-2-Clause
# kmod.mk - tests of the module's pure files, on this machine, from the same
# sources that the module is made of, under ASan and UBSan. A new program: a
# line with its sources, and its name in unit-progs.

unit-progs := test_amd test_cputype test_debugflags test_intel test_intel_rules test_nmi \
	test_ring test_row test_throttle test_width

UNIT_CFLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer $(WARN) -Werror \
	$(SANITIZE) $(COVERAGE) \
	-I$(TOP)/include/uapi -I$(TOP)/tests/harness -I$(TOP)/kmod
unit-bins := $(addprefix $(BUILD)/unit/,$(unit-progs))
unit-backends := $(TOP)/kmod/backends

$(BUILD)/unit/test_amd: $(unit-backends)/amd_encode.c
$(BUILD)/unit/test_cputype: $(unit-backends)/cputype.c
$(BUILD)/unit/test_debugflags: $(TOP)/kmod/debug/debugflags.c
$(BUILD)/unit/test_intel: $(unit-backends)/intel_encode.c \
	$(unit-backends)/intel_constraints.c
$(BUILD)/unit/test_ring: $(TOP)/kmod/sampling/ring.c \
	$(TOP)/kmod/log/buildid.c
$(BUILD)/unit/test_row: $(TOP)/kmod/core/row.c
# It looks into the tables: the source is included, not linked.
$(BUILD)/unit/test_intel_rules: $(unit-backends)/intel_encode.c

$(unit-bins): $(BUILD)/unit/%: $(TOP)/tests/unit/%.c $(TOP)/tests/harness/harness.c \
		$(wildcard $(TOP)/kmod/*/*.h) $(wildcard $(TOP)/include/uapi/*.h) \
		$(TOP)/tests/harness/harness.h $(TOP)/tests/unit/kmod.mk \
		$(unit-backends)/intel_constraints.c
	@mkdir -p $(@D)
	$(CC) $(UNIT_CFLAGS) -o $@ $(sort $(filter-out \
		$(if $(filter %_rules,$@),%/intel_constraints.c),$(filter %.c,$^))) \
		$$(pkg-config --libs check)

check-unit-kmod: $(unit-bins)
	@BUILD=$(BUILD) $(TOP)/tests/unit/run $(unit-bins)

check-unit: check-unit-kmod

.PHONY: check-unit-kmod
