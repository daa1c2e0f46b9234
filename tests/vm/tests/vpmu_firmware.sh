#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vpmu_firmware - the emulated PMU as an awkward firmware leaves it, and what hwpmc
# does on such a machine: nothing while the counter runs, all of its work after.
. "$VM_TOP/tests/harness/harness.sh"

modprobe -d "$VM_KERNEL" msr
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop

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

stop_counter() {
	for c in 0 1; do
		head -c 8 /dev/zero | dd of="/dev/cpu/$c/msr" bs=8 count=1 \
			seek=$((0x18d)) oflag=seek_bytes conv=notrunc status=none
	done
}

hwpmc_takes_the_firmwares_counter_where_it_may_and_puts_it_back() {
	check insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko" takerunning=1
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	global=$(rdmsr 1 $((0x38f)))
	before=$((0x$(rdmsr 1 $((0xc8)))))
	check "$hwpmc" stat --csv -o stat.csv -e instructions:u -- "$loop" 1000000
	check grep -q '3000057' stat.csv
	check "$hwpmc" record -e branches:u -c 10000 -o fw.log -- "$loop" 1000000
	for c in 0 1; do
		check_equal "$(rdmsr $c $((0x18d)))" 00000000004300c0 "select 7 of CPU $c"
	done
	check_equal "$(rdmsr 1 $((0x38f)))" "$global" "global control"
	after=$((0x$(rdmsr 1 $((0xc8)))))
	[ "$after" -gt "$before" ] || fail "counter 7 went back from $before to $after"
	[ "$(rdmsr 1 $((0xc8)))" != "$(rdmsr 1 $((0xc8)))" ] || fail "it stands still"
	check rmmod hwpmc
}

hwpmc_leaves_the_firmwares_counter_alone_and_says_so() {
	check insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
	"$hwpmc" stat -e instructions:u -- "$loop" 1000 >out.txt 2>&1 &&
		fail "it counted"
	check grep -q 'this kernel has not reserved.*0x18d' out.txt
	check_equal "$(rdmsr 1 $((0x18d)))" 00000000004300c0 "select 7"
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	stop_counter
	check "$hwpmc" record -e instructions:u -c 10000 -o fw.log -- "$loop" 1000000
	check "$hwpmc" report -i fw.log --format csv -s symbol -o fw.csv
	check_equal "$(sed 1d fw.csv | cut -d, -f2)" 300 "samples of 3,000,057 instructions"
	check "$hwpmc" stat --csv -o stat.csv -e instructions:u -- "$loop" 1000000
	check grep -q '3000057' stat.csv
}

harness_run
