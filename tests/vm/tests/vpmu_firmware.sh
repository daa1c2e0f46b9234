#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vpmu_firmware - the emulated PMU as an awkward firmware leaves it.
. "$VM_TOP/tests/harness/harness.sh"

modprobe -d "$VM_KERNEL" msr

rdmsr() { # CPU, register
	dd if="/dev/cpu/$1/msr" bs=8 count=1 skip="$2" iflag=skip_bytes \
		status=none | od -An -tx8 | tr -d ' '
}

firmware_left_a_counter_running_on_each_cpu() {
	dmesg | grep -q "BIOS has corrupted hw-PMU" || fail "perf did not see it"
	for c in 0 1; do
		check_equal "$(rdmsr $c $((0x18d)))" 00000000004300c0 "select 7 of CPU $c"
		a=$(rdmsr $c $((0xc8)))
		b=$(rdmsr $c $((0xc8)))
		[ "$a" != "$b" ] || fail "counter 7 of CPU $c stands still"
	done
}

counters_have_no_full_width_writes() {
	check_equal "$(rdmsr 0 $((0x345)))" 0000000000000000 PERF_CAPABILITIES
	dmesg | grep -q "full-width counters" && fail "perf believes it has"
	rdmsr 0 $((0x4c1)) | grep -q . && fail "0x4c1 can be read"
	check_equal "$(perf stat -x, -e instructions:u \
		"$VM_TOP/build/vm/progs/loop" 1000000 2>&1 | cut -d, -f1)" \
		3000057 "instructions"
}

harness_run
