# SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
# vpmu.mk - the emulated PMU: a plug-in of QEMU 11, $(BUILD)/vpmu/vpmu.so.

VPMU_SO		:= $(BUILD)/vpmu/vpmu.so
VPMU_SRC	:= $(wildcard $(TOP)/tests/vpmu/*.c)
VPMU_HDR	:= $(wildcard $(TOP)/tests/vpmu/*.h)
VPMU_CFLAGS	= -std=gnu11 -O2 -g -fPIC -fvisibility=hidden -Wa,-I$(BUILD)/tests/events $(WARN) \
		  $(shell pkg-config --cflags glib-2.0)

vpmu: $(VPMU_SO)

$(VPMU_SO): $(VPMU_SRC) $(VPMU_HDR) $(TOP)/tests/vpmu/vpmu.mk \
	    $(BUILD)/tests/events/intel-counters.tsv
	@mkdir -p $(@D)
	$(CC) $(VPMU_CFLAGS) -shared -o $@.new $(VPMU_SRC)
	mv $@.new $@

.PHONY: vpmu
