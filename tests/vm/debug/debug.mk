# SPDX-License-Identifier: BSD-2-Clause
# debug.mk - the tests of the VMs on kernels that watch for faults: `make check-debug`,
# `make check-kcsan` and `make check-cfi`, each with GROUPS= for some groups.

cfi-kernel: clang-deps

clang-deps:
	@$(TOP)/scripts/install-deps clang

debug-kernel kcsan-kernel cfi-kernel: %-kernel:
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/build $*

debug-modules kcsan-modules cfi-modules: %-modules: %-kernel
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/modules $*

check-debug check-kcsan check-cfi: check-%: %-modules vm-fetch vm-ready lib tools
	@BUILD=$(BUILD) $(TOP)/tests/vm/debug/run $* $(GROUPS)

.PHONY: clang-deps debug-kernel kcsan-kernel cfi-kernel debug-modules kcsan-modules cfi-modules \
	check-debug check-kcsan check-cfi
