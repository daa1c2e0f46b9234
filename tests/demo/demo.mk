# SPDX-License-Identifier: BSD-2-Clause
# demo.mk - `make demo`: the main job, shown: real programs counted in a virtual
# machine, with the emulated PMU's own totals beside each count.

demo: module lib tools vm-fetch vm-tests vpmu
	@$(TOP)/tests/demo/demo

check-demo: module lib tools vm-fetch vm-tests vpmu
	@$(TOP)/tests/demo/demo -c

.PHONY: demo check-demo
