#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# spec_nopmu - a machine without a PMU: the module loads, says so, offers the TSC.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
tools=$VM_TOP/build/tools

the_module_loads_without_a_pmu_and_says_so_in_one_line() {
	check insmod "$ko"
	check_equal "$(dmesg | grep -c 'hwpmc: .*no usable')" 1 "lines about it"
	dmesg | grep -q 'hwpmc: TSC/1/64/0x20<REA>$' ||
		fail "classes: $(dmesg | grep hwpmc: | tail -n 1)"
}

the_tsc_class_counts_where_there_is_no_pmu() {
	"$tools/hwpmc" stat -a -e tsc -- sleep 0.1 >out 2>&1 ||
		fail "hwpmc stat: $(cat out)"
	grep -Eq ' [0-9,]{7,} .*tsc' out || fail "counted: $(cat out)"
}

hardware_events_are_refused_with_a_reason_without_a_pmu() {
	"$tools/hwpmc" stat -e instructions true >out 2>&1 &&
		fail "counted: $(cat out)"
	grep -q 'no hardware counters' out ||
		fail "said: $(cat out)"
}

the_module_unloads_where_there_is_no_pmu() {
	check rmmod hwpmc
}

harness_run
