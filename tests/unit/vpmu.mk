# SPDX-License-Identifier: BSD-2-Clause
# vpmu.mk - unit tests of the emulated PMU's pure parts, under ASan and UBSan.

VPMU_UNIT	:= $(BUILD)/tests/unit/vpmu_pure
VPMU_UNIT_SRC	:= $(addprefix $(TOP)/,tests/unit/vpmu_pure.c \
	tests/harness/harness.c tests/vpmu/classify.c tests/vpmu/event.c \
	tests/vpmu/space.c)

$(VPMU_UNIT): $(VPMU_UNIT_SRC) $(wildcard $(TOP)/tests/vpmu/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O1 -g1 $(WARN) -Werror $(SANITIZE) \
		-I$(TOP)/tests/vpmu \
		-I$(TOP)/tests/harness -o $@ $(VPMU_UNIT_SRC) \
		$$(pkg-config --cflags --libs check)

check-unit-vpmu: $(VPMU_UNIT)
	@status=0; $(VPMU_UNIT) >$(VPMU_UNIT).tap || status=$$?; \
	cat $(VPMU_UNIT).tap; \
	$(TOP)/tests/harness/tap2tsv unit vpmu_pure $$status \
		<$(VPMU_UNIT).tap >>$(BUILD)/results.tsv; exit $$status

check-unit: check-unit-vpmu

.PHONY: check-unit-vpmu
