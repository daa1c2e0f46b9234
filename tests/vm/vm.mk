# SPDX-License-Identifier: BSD-2-Clause
# vm.mk - virtual machines: what they need is fetched once into $(BUILD)/vm.

vm-fetch:
	$(TOP)/tests/vm/fetch

.PHONY: vm-fetch
