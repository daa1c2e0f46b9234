#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_selftest_long - hwpmc selftest --long: the steps hold on the emulated PMU in a minute,
# leave the machine as it was, end cleanly when they are interrupted, and each finds what it
# is for.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost
# The backtraces that step nmis asks for.
printf '%s\n' 'Call Trace:' 'RIP: ' >>"$VM_OUT/expected"
# Under a hypervisor the module tries each row at each claim and refuses those that count wrong
# by much: the faults here are small.
"$hwpmc" selftest >/dev/null || :

# step NAME STATUS [OPTION...]: this step once, `got` and `report.json`
step() {
	name=$1 want=$2
	shift 2
	"$hwpmc" selftest --long --minutes 0 --steps "$name" "$@" --json report.json >got 2>&1
	check_equal $? "$want" "status of step $name: $(cat got)"
}

# finds WORDS STEP KNOB VALUE: with it this step reports these words of a failure
finds() {
	words=$1 name=$2
	shift 2
	"$knob" "$@" "$hwpmc" selftest --long --minutes 0 --steps "$name" >got 2>&1
	check_equal $? 1 "status of step $name with $*: $(cat got)"
	grep -q "FAILED.*$words" got || fail "no '$words' of step $name with $*: $(cat got)"
}

# Settings that the steps could have changed.
settings() {
	for f in kernel/nmi_watchdog kernel/perf_event_paranoid kernel/sysrq; do
		echo "$f $(cat /proc/sys/$f)"
	done
	cat /sys/devices/system/cpu/online
	for f in /proc/sys/kern/hwpmc/*; do
		[ ! -f "$f" ] || echo "$f $(cat "$f" 2>/dev/null)"
	done
}

selftest_long_holds_in_a_minute_and_changes_no_setting() {
	modprobe -d "$VM_KERNEL" msr
	settings >before
	"$hwpmc" selftest --long --minutes 1 --json report.json >got 2>said
	check_equal $? 0 "status: $(cat got said)"
	settings >after
	cmp -s before after || fail "settings differ: $(diff before after)"
	check grep -q '^step 1 of 14: registers - .* min left)$' got
	check grep -q ' 0 failed, ' got
	check_equal "$("$hwpmc" control | grep -c free)" 1 "the PMU: $("$hwpmc" control)"
	check_equal "$(python3 -c '
import json
r = json.load(open("report.json"))
s = {x["name"]: x for x in r["steps"]}
print(r["minutes"], r["interrupted"], len(r["checks"]) > 20, len(r["costs"]))
print(" ".join(n for n in s if s[n]["verdict"] == "failed"))
print(" ".join(n for n in ("perf", "switches", "edges", "conservation", "nmis")
               if s[n]["verdict"] != "held"))
print(s["registers"]["verdict"], s["skid"]["verdict"], s["ibs-pt"]["verdict"])
n = s["conservation"]["numbers"]
print(n["user.samples0"] > 100, n["user.late"], abs(n["all.count0"] / 20011 - n["all.samples0"])
      < n["all.samples0"] / 2)
print(s["switches"]["numbers"]["selects_written"] >= 100)
print(s["edges"]["numbers"]["not_exact"], s["nmis"]["numbers"]["unknown_nmis"],
      s["skid"]["numbers"]["samples"] > 0, s["registers"]["numbers"]["differ_after"])
')" "1 None True 5


measured measured not-tried
True 0 True
True
0 0 True 0" "the report"
}

selftest_long_reports_the_machine_without_names_of_its_owner() {
	step edges 0
	check_equal "$(python3 -c '
import json
m = json.load(open("report.json"))["machine"]
leaf = {(l[1], l[2]): l[3:] for l in m["cpuid"]}
print(bytes.fromhex("".join(format(int(x, 16), "08x")[i:i + 2] for x in
      (leaf["0x0", 0][1], leaf["0x0", 0][3], leaf["0x0", 0][2])
      for i in (6, 4, 2, 0))).decode(), ("0x3", 0) in leaf, m["model"] != "",
      [k for k in m if "serial" in k or "uuid" in k or "host" in k])
')" "$(sed -n 's/^vendor_id.*: //p;/^$/q' /proc/cpuinfo) False True []" "the machine"
	! grep -q "$(uname -n)" report.json || fail "the report has the name of the host"
}

selftest_long_ends_cleanly_when_it_is_interrupted() {
	before=$(pgrep -c -x hwpmc)	# the module has threads of that name
	"$hwpmc" selftest --long --minutes 30 --steps switches,edges --json report.json >got 2>said &
	pid=$!
	until grep -q '^step .*: switches' got 2>/dev/null; do sleep 0.1; done
	# Both its processes count by now, or it is on its way to them.
	until [ "$(pgrep -P $pid | wc -l)" = 2 ]; do sleep 0.1; done
	kill -INT $pid
	wait $pid
	check_equal $? 1 "status: $(cat got said)"
	check grep -q "interrupted in step 'switches'" said
	check_equal "$(pgrep -c -x hwpmc)" "$before" "processes that are left"
	check_equal "$("$hwpmc" control | grep -c free)" 1 "the PMU: $("$hwpmc" control)"
	check_equal "$(python3 -c '
import json
r = json.load(open("report.json"))
print(r["interrupted"], [(s["name"], s["verdict"] != "failed") for s in r["steps"]])
')" "switches [('switches', True)]" "the report"
}

selftest_long_steps_find_what_they_are_for() {
	finds 'counts 404000 in a loop of 200000 iterations, perf 404000' perf more 100
	finds 'counts 396000 in a loop of 200000 iterations, perf 396000' perf less 100
	finds 'events in loops while its select changes' switches more 100
	finds 'events in loops while its select changes' switches rewrite 10000
	finds 'instructions of a loop that moves between CPUs' switches -c 1 more 100
	finds 'regions of 0 to 600 NOPs are not exact' edges more 50
}

# The kernel complains of NMIs without a cause, which is what is looked for.
selftest_long_names_nmis_of_others_that_are_unknown() {
	printf '%s\n' 'NMI received for unknown reason' 'Dazed and confused' >>"$VM_OUT/expected"
	finds 'unknown NMIs among' nmis storm 200000
}

selftest_long_takes_cpus_away_with_the_option_alone() {
	step hotplug 0
	! grep -q hotplug got || fail "without the option: $(cat got)"
	step hotplug 0 --hotplug
	check grep -q '^  held .*a CPU went offline and came back [1-9]' got
	check_equal "$(cat /sys/devices/system/cpu/online)" 0-1 "CPUs online"
}

selftest_long_refuses_options_that_mean_nothing() {
	for wrong in "--minutes 3" "--long --minutes 1441" "--long --minutes x" "--hotplug" \
		"--long --steps edges,nonesuch"; do
		"$hwpmc" selftest $wrong >got 2>&1
		check_equal $? 2 "status of $wrong"
		check_equal "$(wc -l <got)" 1 "lines of $wrong: $(cat got)"
	done
}

harness_run
