#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_nopmu - a machine without a PMU: the module loads, says so, offers the TSC.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
tools=$VM_TOP/build/tools

the_module_loads_without_a_pmu_and_says_so_in_one_line() {
	check insmod "$ko"
	check_equal "$(dmesg | grep -c 'hwpmc: .*no usable')" 1 "lines about it"
	dmesg | grep -q 'hwpmc: TSC/1/64/0x20<REA> SOFT/16/64/0x67<INT,USR,SYS,REA,WRI>$' ||
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

doctor_says_why_a_loaded_module_has_no_counters() {
	"$tools/hwpmc" doctor >out 2>&1
	check_equal $? 1 "status: $(cat out)"
	grep -q '^WRONG  pmu .* has no hardware counters' out || fail "said: $(cat out)"
	check_equal "$(grep -c '^WRONG' out)" 1 "problems: $(cat out)"
}

record_falls_back_to_a_timer_without_a_pmu_and_says_so() {
	# Until it has had a CPU for 0.2 s.
	# shellcheck disable=SC2016
	"$tools/hwpmc" record -g -o log -- sh -c '
		until read -r line </proc/$$/stat; set -- $line
			[ $((${14} + ${15})) -ge 20 ]; do :; done' \
		>out 2>&1 || fail "hwpmc record: $(cat out)"
	grep -q '^hwpmc record: this machine has no usable hardware counters: sampling clock.prof' out ||
		fail "said: $(cat out)"
	"$tools/hwpmc" report -i log >report 2>&1 || fail "report: $(cat report)"
	grep -q '^# event clock.prof, a sample every 8: ' report ||
		fail "reported: $(cat report)"
	n=$(awk '$1 ~ /%$/ { n += $2 } END { print n + 0 }' report)
	[ "$n" -gt 20 ] || fail "only $n samples: $(cat report out)"
	"$tools/hwpmc" record -q -e sched:sched_switch -o log -- sleep 0.05 ||
		fail "cannot sample a tracepoint"
	"$tools/hwpmc" report -i log | grep -q ' sched_switch, a sample every 1: \| sched:sched_switch, a sample every 1: ' ||
		fail "reported: $("$tools/hwpmc" report -i log)"
}

stat_counts_the_kernels_events_by_default_without_a_pmu() {
	"$tools/hwpmc" stat -- sh -c 'ls / | cat' >out 2>&1 || fail "$(cat out)"
	check_equal "$(head -n 1 out)" "hwpmc stat: this machine has no usable hardware counters: counting kernel events; the hypervisor gives this machine no performance counters (see hwpmc doctor)" "first line"
	for event in page-faults context-switches cpu-migrations clock.prof; do
		grep -Eq "^ *[0-9,]+ +$event" out || fail "no $event: $(cat out)"
	done
}

every_tool_says_why_there_are_no_counters() {
	why="the hypervisor gives this machine no performance counters"
	"$tools/hwpmc" control >out 2>&1 || fail "$(cat out)"
	grep -q "$why" out || fail "control: $(cat out)"
	"$tools/hwpmc" list >out 2>&1 || fail "$(cat out)"
	grep -q "$why" out || fail "list: $(cat out)"
	"$tools/hwpmc" record -o log -- true 2>out || fail "$(cat out)"
	grep -q "$why" out || fail "record: $(cat out)"
	"$tools/hwpmc" control --json | grep -q "$why" || fail "control --json"
}

each_missing_class_is_told_with_its_reason() {
	"$tools/hwpmc" control >out 2>&1 || fail "$(cat out)"
	grep -Eq '^(missing | ) +(K8|IAP) +the hypervisor gives this machine no perf' out ||
		fail "control: $(cat out)"
	grep -Eq '^ +RAPL +the (hypervisor|processor) ' out || fail "control: $(cat out)"
	"$tools/hwpmc" control --json | python3 -c '
import json, sys
notes = {n["class"]: n for n in json.load(sys.stdin)["notes"]}
assert all(n["missing"] and n["why"] for n in notes.values()), notes
assert notes["PERF"]["reason"] == "CLASS_GUEST", notes
' || fail "control --json"
	"$tools/hwpmc" list >out 2>&1 || fail "$(cat out)"
	tail -n 1 out | grep -q '^not available: .*PERF (the hypervisor gives' ||
		fail "list: $(cat out)"
	for tool in "stat -a" "record -a -o log"; do
		# shellcheck disable=SC2086
		"$tools/hwpmc" $tool -e perf_aperf -- true 2>out && fail "$tool: counted"
		check_equal "$(wc -l <out)" 1 "lines of $tool: $(cat out)"
		grep -q 'no counters of class PERF: the hypervisor gives' out ||
			fail "$tool: $(cat out)"
	done
}

list_shows_the_kernels_events_without_a_pmu() {
	"$tools/hwpmc" list >out 2>&1 || fail "$(cat out)"
	for event in clock.prof page_fault.read cpu-migrations SOFT-sched_switch; do
		grep -q "^  $event " out || fail "no $event: $(cat out)"
	done
}

the_module_unloads_where_there_is_no_pmu() {
	check rmmod hwpmc
}

harness_run
