#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_leaks - after tests of all areas in this VM: nothing they allocated is left
# without an owner. Runs last in its group, with kmemleak=on.
. "$VM_TOP/tests/harness/harness.sh"

no_memory_is_lost_while_the_module_is_there() {
	check grep -q '^hwpmc ' /proc/modules
	check "$VM_TOP/tests/vm/debug/leaks"
}

no_memory_is_lost_when_the_module_has_gone() {
	# Another test's, which uses what the module exports.
	! grep -q '^clientmod ' /proc/modules || check rmmod clientmod
	check "$VM_TOP/build/tools/hwpmc" unload
	check "$VM_TOP/tests/vm/debug/leaks"
}

harness_run
