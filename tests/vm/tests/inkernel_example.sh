#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# inkernel_example - the example of hwpmc(9), doc/examples/module, loaded as its reader would.
# tests/unit/inkernel builds it against installed files; here is what it counts.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
sysctl -q kernel.nmi_watchdog=0

# counted COMMAND...: of all CPUs, while the command runs
counted() {
	check insmod "$VM_TOP/build/vm/kmods/$(uname -r)/instructions.ko"
	check "$@"
	check rmmod instructions
	dmesg | sed -n 's/.*instructions: \([0-9]*\)$/\1/p' | tail -n 1
}

inkernel_example_counts_the_instructions_of_all_cpus() {
	# The program alone has so many; a turn of its loop has three.
	n=$(counted "$VM_TOP/build/vm/progs/loop" 5000000)
	[ "${n:-0}" -gt 15000000 ] || fail "counted '$n'"
	# The counter is free again.
	check "$hwpmc" stat -e instructions:u -o got -- true
	grep -q 'instructions:u' got || fail "$(cat got)"
}

harness_run
