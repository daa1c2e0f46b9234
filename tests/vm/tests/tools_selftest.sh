#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_selftest - hwpmc selftest holds on the emulated PMU, and says what is wrong where
# something is made to go wrong.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# with KNOB VALUE STATUS: the report in `got`
with() {
	"$knob" "$1" "$2" "$hwpmc" selftest >got 2>&1
	check_equal $? "$3" "status with $1 $2: $(cat got)"
}

finds() {
	grep -q "FAILED.*$1" got || fail "no '$1' in: $(cat got)"
}

selftest_holds_on_the_emulated_pmu() {
	"$hwpmc" selftest --json report.json >got 2>&1
	check_equal $? 0 "status: $(cat got)"
	check grep -q '^  held .*rows .*counts a loop of 40000 instructions exactly' got
	check grep -q '^  held .*each of .* rows interrupts once per period' got
	check grep -q '^  held .*perf counts the same loop exactly before and after' got
	check grep -q '^  held .*each of 2 CPUs counts in system scope on each of [0-9]* rows$' got
	check grep -q '^  held .*rows .*count the same in the kernel: [1-9][0-9.]* instructions per system call' got
	check grep -q '^  held .*samples the kernel: [1-9][0-9]* samples and' got
	check grep -q '^  held .*instructions on .* and branches on .* overflow at the same time, 20 times: each is a sample' got
	check grep -q ' 0 failed, ' got
	check grep -q 'ns  a sample' got
	check_equal "$("$hwpmc" selftest --json - | python3 -c '
import json, sys
r = json.load(sys.stdin)
bad = [c for c in r["checks"] if c["verdict"] == "failed"]
print(len(bad), len(r["costs"]), r["cpus"] == len([l for l in open("/proc/cpuinfo") if l.startswith("processor")]))
')" "0 5 True" "the report"
	check_equal "$(python3 -c '
import json
r = json.load(open("report.json"))
print(r["cpuid"].split("-")[0], sorted(c["class"] for c in r["classes"])[-1])
')" "$(sed -n 's/^vendor_id.*: //p;/^$/q' /proc/cpuinfo) TSC" "the machine in the report"
}

selftest_finds_interrupts_that_are_lost() {
	with lost 3 1
	finds 'samples of 20 periods'
}

selftest_finds_interrupts_that_come_late() {
	with late 250000 1
	finds 'samples were dropped: their interrupts were late'
}

# Whether it is throttled is a question of time, where NMIs take longer or the rest does:
# it is asked for until it is.
selftest_judges_no_sample_where_sampling_is_throttled() {
	tries=0 status=0
	echo 1 >/proc/sys/kern/hwpmc/selfcost
	while [ $tries -lt 10 ] && ! grep -q 'FAILED.*sampling was throttled' got 2>/dev/null; do
		"$hwpmc" selftest >got 2>&1
		status=$?
		tries=$((tries + 1))
	done
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	check_equal $status 1 "status: $(cat got)"
	check_equal "$(grep -c FAILED got)" 1 "failures: $(cat got)"
	finds 'sampling was throttled [0-9]* times\{0,1\}, .*kern.hwpmc.selfcost'
	check "$hwpmc" selftest
}

# The select of the last counter that is used: perf would complain, and takes the first ones.
last_select() {
	n=$("$hwpmc" control --json | python3 -c '
import json, sys
print([c["rows"] for c in json.load(sys.stdin)["classes"] if c["class"] in ("IAP", "K8")][0] - 1)
')
	[ -z "${TFA:-}" ] || n=$((n - 1))
	if grep -q GenuineIntel /proc/cpuinfo; then
		printf '0x%x' $((0x186 + n))
	elif grep -q perfctr_core /proc/cpuinfo; then
		printf '0x%x' $((0xc0010200 + 2 * n))
	else
		printf '0x%x' $((0xc0010000 + n))
	fi
}

selftest_finds_registers_that_fault() {
	with refuse "$(last_select)" 1
	finds 'access to a counter register faulted'
}

selftest_leaves_the_counters_free_and_exact() {
	check "$hwpmc" selftest >got
	check_equal "$("$hwpmc" control | grep -c 'free')" 1 "the PMU: $("$hwpmc" control)"
	check_equal "$("$hwpmc" stat --csv -e instructions:u -- \
		"$VM_TOP/build/vm/progs/loop" 1000000 2>&1 |
		awk -F, '$4 == "instructions:u" { print $6 }')" 3000057 "a count after it"
}

selftest_names_the_holder_where_perf_has_the_counters() {
	echo 1 >/proc/sys/kernel/nmi_watchdog
	"$hwpmc" selftest >got 2>&1
	check_equal $? 1 "status: $(cat got)"
	echo 0 >/proc/sys/kernel/nmi_watchdog
	check_equal "$(grep -c FAILED got)" 1 "failures: $(cat got)"
	finds 'the counters are held by .*the NMI watchdog; .*sysctl kernel.nmi_watchdog=0'
}

selftest_says_what_is_wrong_with_its_arguments() {
	"$hwpmc" selftest now >got 2>&1
	check_equal $? 2 "status"
	check_equal "$(wc -l <got)" 1 "lines: $(cat got)"
	"$hwpmc" selftest --json /nonesuch/x >got 2>&1
	check_equal $? 1 "status of a report that cannot be written"
	check grep -q "cannot write '/nonesuch/x'" got
}

harness_run
