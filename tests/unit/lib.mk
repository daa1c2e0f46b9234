# SPDX-License-Identifier: BSD-2-Clause
# lib.mk - unit tests of the library, made of its own sources under ASan and
# UBSan, and the test of what `make install-lib` puts into place.

LIB_UNIT	:= $(addprefix $(BUILD)/tests/unit/,lib_events lib_parser \
		     lib_pmclog lib_reasons \
		     lib_freebsd lib_group lib_ibs lib_marks lib_no_libpfm lib_null lib_offline \
		     lib_region lib_tables lib_table_files)
LIB_UNIT_DEPS	:= $(wildcard $(TOP)/lib/*/*.h $(TOP)/lib/freebsd/sys/*.h \
		$(TOP)/tests/unit/lib_*.h $(TOP)/tests/harness/*.h) \
	$(TOP)/include/uapi/hwpmc.h $(TOP)/tests/unit/lib.mk

$(LIB_UNIT): $(BUILD)/tests/unit/%: $(TOP)/tests/unit/%.c $(UNIT_HARNESS) \
		$(UNIT_LIB) $(LIB_UNIT_DEPS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g1 $(WARN) -Werror $(SANITIZE) $(COVERAGE) \
		-pthread $(LIB_CFLAGS) $(LIB_UNIT_FLAGS) \
		-I$(TOP)/lib/event -I$(TOP)/lib/freebsd -I$(TOP)/tests/harness \
		-o $@ $(filter %.c %.o,$^) \
		$$(pkg-config --cflags --libs check) $(LIB_LIBS) $(LIB_UNIT_LIBS)

$(BUILD)/tests/unit/lib_no_libpfm: LIB_UNIT_LIBS := -Wl,--wrap=dlopen
$(BUILD)/tests/unit/lib_group: LIB_UNIT_LIBS := -Wl,--wrap=sys_call,--wrap=hwpmc_open_counter
$(BUILD)/tests/unit/lib_tables: LIB_UNIT_LIBS := -lpfm

$(BUILD)/tests/unit/lib_pmclog: $(TOP)/tests/unit/loggen.c $(TOP)/tests/unit/loggen.h

# The tables of events against the module's encoder, and in the vendor's form.
EVENTS_JSON	:= $(BUILD)/tests/events/json
LIB_UNIT_KMOD	:= $(addprefix $(TOP)/kmod/backends/,cputype.c intel_encode.c intel_kinds.c \
	intel_constraints.c intel_arming.c intel_shared.c)

$(EVENTS_JSON)/mapfile.csv: $(TOP)/tests/events/make-json $(wildcard $(TOP)/data/events/*)
	@rm -rf $(@D)
	@mkdir -p $(@D)
	$(TOP)/tests/events/make-json $(TOP)/data/events $(@D)

$(BUILD)/tests/unit/lib_tables: $(LIB_UNIT_KMOD)
$(BUILD)/tests/unit/lib_tables $(BUILD)/tests/unit/lib_table_files: $(EVENTS_JSON)/mapfile.csv
$(BUILD)/tests/unit/lib_tables $(BUILD)/tests/unit/lib_table_files: LIB_UNIT_FLAGS := \
	-I$(TOP)/kmod -DTABLES_SRC='"$(TOP)/data/events"' -DJSON_SRC='"$(EVENTS_JSON)"' \
	-DDIFFERENCES='"$(TOP)/tests/events/libpfm-differences.tsv"' \
	-DDIFFERENCES_FOUND='"$(BUILD)/tests/events/libpfm-differences.tsv"'

check-unit-lib: $(LIB_UNIT) lib
	@failed=0; for prog in $(LIB_UNIT); do \
		status=0; $$prog >$$prog.tap || status=$$?; \
		grep '^not ok' $$prog.tap; \
		$(TOP)/tests/harness/tap2tsv unit $${prog##*/} $$status \
			<$$prog.tap >>$(BUILD)/results.tsv; \
		[ $$status = 0 ] || failed=1; \
	done; \
	$(if $(COVERAGE),,BUILD=$(BUILD) $(TOP)/tests/unit/lib-install || failed=1;) \
	exit $$failed

check-unit: check-unit-lib

.PHONY: check-unit-lib

# The same library in a guest, with the module under it.
VM_TEST_LIBS_lib_live	:= $(LIB_CFLAGS) -I$(TOP)/lib/freebsd $(LIB_STATIC) \
	$(LIB_LIBS)
$(BUILD)/vm/tests/lib_live: $(LIB_STATIC)
VM_TEST_LIBS_lib_lifetimes := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
# All of the library under ThreadSanitizer.
VM_TEST_LIBS_lib_tsan := -g -fsanitize=thread -Wno-tsan $(LIB_CFLAGS) -I$(TOP)/lib/freebsd $(LIB_SRC) \
	$(LIB_LIBS)
$(BUILD)/vm/tests/lib_tsan: $(LIB_SRC)
VM_TEST_LIBS_lib_group := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_lib_records := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_lib_pmclog	:= $(VM_TEST_LIBS_lib_live)
VM_TEST_LIBS_lib_freebsd_reader	:= $(VM_TEST_LIBS_lib_live)
VM_TEST_LIBS_lib_freebsd_calls	:= $(VM_TEST_LIBS_lib_live)
$(addprefix $(BUILD)/vm/tests/,lib_lifetimes lib_group lib_records lib_pmclog lib_freebsd_reader lib_freebsd_calls): \
	$(LIB_STATIC)

VM_TEST_LIBS_kmod_sample := -fno-omit-frame-pointer $(LIB_CFLAGS) $(LIB_STATIC) \
	$(LIB_LIBS)
$(BUILD)/vm/tests/kmod_sample: $(LIB_STATIC)
VM_TEST_LIBS_kmod_hotplug := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_kinds := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_msr_faults := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_p4 := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_joined := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_siblings := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
$(addprefix $(BUILD)/vm/tests/,kmod_hotplug kmod_kinds kmod_msr_faults kmod_p4 kmod_siblings): \
	$(LIB_STATIC)
VM_TEST_LIBS_kmod_log := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
$(BUILD)/vm/tests/kmod_log: $(LIB_STATIC)
VM_TEST_LIBS_kmod_soft := -fno-omit-frame-pointer $(LIB_CFLAGS) $(LIB_STATIC) \
	$(LIB_LIBS)
VM_TEST_LIBS_kmod_moves := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
$(BUILD)/vm/tests/kmod_soft $(BUILD)/vm/tests/kmod_moves: $(LIB_STATIC)
VM_TEST_LIBS_kmod_records := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_maps := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_pmi := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_pmi_long := $(VM_TEST_LIBS_kmod_pmi)
VM_TEST_LIBS_kmod_nmi := $(VM_TEST_LIBS_kmod_pmi)
VM_TEST_LIBS_kmod_skid := $(VM_TEST_LIBS_kmod_pmi)
VM_TEST_LIBS_kmod_ibs := $(VM_TEST_LIBS_kmod_pmi)
VM_TEST_LIBS_kmod_late := $(VM_TEST_LIBS_kmod_pmi)
VM_TEST_LIBS_kmod_suspend := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
VM_TEST_LIBS_kmod_rdpmc := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS) -lpthread
VM_TEST_LIBS_kmod_region := $(VM_TEST_LIBS_kmod_rdpmc)
VM_TEST_LIBS_kmod_narrow_page := $(VM_TEST_LIBS_kmod_rdpmc)
$(addprefix $(BUILD)/vm/tests/,kmod_records kmod_maps kmod_pmi kmod_pmi_long kmod_nmi kmod_skid kmod_ibs kmod_late kmod_rdpmc \
		kmod_region kmod_narrow_page kmod_suspend): $(LIB_STATIC)
VM_TEST_LIBS_kmod_unwind := $(LIB_CFLAGS) -I$(TOP)/lib/stat $(STAT_STATIC) \
	$(LIB_STATIC) $(LIB_LIBS) $(STAT_LIBS)
VM_TEST_LIBS_kmod_chains := $(VM_TEST_LIBS_kmod_unwind)
VM_TEST_LIBS_kmod_puts := $(VM_TEST_LIBS_kmod_unwind)
VM_TEST_LIBS_kmod_unwind_live := $(VM_TEST_LIBS_kmod_unwind)
$(addprefix $(BUILD)/vm/tests/,kmod_unwind kmod_chains kmod_puts kmod_unwind_live): \
	$(LIB_STATIC) $(STAT_STATIC)
VM_TEST_LIBS_kmod_revoke := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
$(BUILD)/vm/tests/kmod_revoke: $(LIB_STATIC)
SESSION_TESTS	:= kmod_hidden kmod_kexec kmod_reboot kmod_registers kmod_throttle kmod_drops kmod_precise kmod_addresses kmod_periods \
	kmod_together kmod_frequency kmod_guests kmod_models kmod_look kmod_ibs_samples kmod_ibs_life kmod_ibs_suspend \
	kmod_ibs_zen6
$(foreach t,$(SESSION_TESTS),$(eval VM_TEST_LIBS_$(t) := $(LIB_CFLAGS) \
	$(LIB_STATIC) $(LIB_LIBS)))
$(addprefix $(BUILD)/vm/tests/,$(SESSION_TESTS)): $(LIB_STATIC)
VM_TEST_LIBS_lib_beside := $(LIB_CFLAGS) $(LIB_STATIC) $(LIB_LIBS)
$(BUILD)/vm/tests/lib_beside: $(LIB_STATIC)
