# SPDX-License-Identifier: BSD-2-Clause
# vpmu.mk - unit tests of the emulated PMU's pure parts, under ASan and UBSan.

VPMU_UNITS	:= vpmu_pure vpmu_ibs
VPMU_UNIT	:= $(addprefix $(BUILD)/tests/unit/,$(VPMU_UNITS))
VPMU_UNIT_SRC	:= $(addprefix $(TOP)/,tests/harness/harness.c tests/vpmu/classify.c \
	tests/vpmu/event.c tests/vpmu/space.c tests/vpmu/ibs_model.c tests/vpmu/ibs_data.c)

$(VPMU_UNIT): $(BUILD)/tests/unit/%: $(TOP)/tests/unit/%.c $(VPMU_UNIT_SRC) \
		$(wildcard $(TOP)/tests/vpmu/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g1 $(WARN) -Werror $(SANITIZE) \
		-I$(TOP)/tests/vpmu \
		-I$(TOP)/tests/harness -o $@ $< $(VPMU_UNIT_SRC) \
		$$(pkg-config --cflags --libs check)

check-unit-vpmu: $(VPMU_UNIT)
	@all=0; for t in $(VPMU_UNITS); do \
		status=0; u=$(BUILD)/tests/unit/$$t; $$u >$$u.tap || status=$$?; \
		cat $$u.tap; \
		$(TOP)/tests/harness/tap2tsv unit $$t $$status \
			<$$u.tap >>$(BUILD)/results.tsv; \
		[ $$status = 0 ] || all=1; done; exit $$all

check-unit: check-unit-vpmu

.PHONY: check-unit-vpmu
