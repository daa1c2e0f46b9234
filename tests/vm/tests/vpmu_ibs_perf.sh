#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vpmu_ibs_perf - Debian's perf, by the kernel's own driver, on the emulated PMU's
# instruction-based sampling: what it records is what the emulated PMU says that it sampled.
. "$VM_TOP/tests/harness/harness.sh"
ibs=$VM_TOP/build/vm/progs/ibs
loop=$VM_TOP/build/vm/progs/loop

# recorded EVENT...: records the loop on all CPUs, and prints how many samples perf has and their
# sum, and the same of the emulated PMU, ITEM and ITEM2 of it
recorded() {
	event=$1 items=$2
	before=$("$ibs" $items)
	perf record -q -a -m 256 -o perf.data -c 100000 -e "$event" -- "$loop" 10000000 ||
		fail "perf record -e $event"
	after=$("$ibs" $items)
	perf script -i perf.data -F ip 2>/dev/null | "$ibs" --sum >of-perf
	echo "$before $after $(cat of-perf)"
}

# Samples that perf took, and those that the PMU made, and their addresses' sums (modulo 2^64)
compare() {
	sysctl -q kernel.perf_cpu_time_max_percent=0
	# Within $() a failure would end the subshell alone.
	got=$(recorded "$1" "$2") || exit 1
	# shellcheck disable=SC2086
	"$ibs" --differ $got || fail "$got"
}

perf_finds_the_sampling_of_ops_and_of_fetches() {
	caps=$(printf '0x%08x' "0x$IBS_CAPS")
	dmesg | grep -q "perf: AMD IBS detected ($caps)" || fail "not detected: $caps"
	[ -e /sys/bus/event_source/devices/ibs_op/type ] || fail "no ibs_op"
	[ -e /sys/bus/event_source/devices/ibs_fetch/type ] || fail "no ibs_fetch"
}

perf_samples_of_ops_equal_the_emulated_pmus() {
	compare ibs_op/cnt_ctl=1/ "op rip"
}

perf_samples_of_cycles_equal_the_emulated_pmus() {
	compare ibs_op// "op rip"
}

perf_samples_of_fetches_equal_the_emulated_pmus() {
	compare ibs_fetch// "fetch lin"
}

perf_precise_events_are_sampled_by_ops() {
	compare r0c1:p "op rip"
}

harness_run
