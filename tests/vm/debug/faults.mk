# SPDX-License-Identifier: BSD-2-Clause
# faults.mk - each allocation of each operation fails in turn, on the debug kernel.

check-faults: vm-fetch vm-tests vpmu
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/build debug
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/modules debug
	@BUILD=$(BUILD) GROUPS_DIR=$(TOP)/tests/vm/debug/groups \
		$(TOP)/tests/vm/run-groups -k "$$(cat $(BUILD)/debug/debug.release)" \
		-l debug faults

.PHONY: check-faults
