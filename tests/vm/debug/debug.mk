# SPDX-License-Identifier: BSD-2-Clause
# debug.mk - the tests of the VMs on kernels that watch for faults: `make check-debug`
# and `make check-kcsan`, both with GROUPS= for some groups.

debug-kernel kcsan-kernel: %-kernel:
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/build $*

debug-modules kcsan-modules: %-modules: %-kernel
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/modules $*

check-debug check-kcsan: check-%: %-modules vm-fetch vm-ready lib tools
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/run $* $(GROUPS)

.PHONY: debug-kernel kcsan-kernel debug-modules kcsan-modules check-debug check-kcsan
