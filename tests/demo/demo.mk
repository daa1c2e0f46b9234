# SPDX-License-Identifier: BSD-2-Clause
# demo.mk - `make demo`: the main job, shown: real programs counted in a virtual
# machine, with the emulated PMU's own totals beside each count.

# On a fresh machine too: what is missing is installed before make looks for it.
demo:
	@$(TOP)/scripts/install-deps build vm
	@$(MAKE) --no-print-directory demo-run

demo-run: module-vm lib tools vm-fetch vm-tests vpmu
	@$(TOP)/tests/demo/demo

check-demo: module-vm lib tools vm-fetch vm-tests vpmu
	@$(TOP)/tests/demo/demo -c

.PHONY: demo demo-run check-demo
