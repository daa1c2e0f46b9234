#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_control - hwpmc list and control, pmcstat and pmccontrol on the emulated PMU.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
tools=$VM_TOP/build/tools
loop=$VM_TOP/build/vm/progs/loop
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
[ -e /dev/hwpmc ] || insmod "$ko"

# The number of the first programmable row.
row() { "$tools/pmccontrol" -l | sed -n 's/^ *#\([0-9]*\) *\(IAP\|K8\)-0 .*/\1/p' | head -n 1; }

control_tells_the_machine_and_who_has_the_counters() {
	check "$tools/hwpmc" control
	"$tools/hwpmc" control >got
	check grep -q '^machine .*2 CPUs' got
	check grep -q '^pmu .*free' got
	grep -E '^.{81}' got && fail "a line over 80 columns"
	if grep -q GenuineIntel /proc/cpuinfo; then
		check grep -q '^guests  *counted with the host' got
	else
		check grep -q "^guests  *not counted, unless an event says 'guest'" got
	fi
	check python3 -c 'import json,subprocess,sys
json.loads(subprocess.check_output([sys.argv[1], "control", "--json"]))' "$tools/hwpmc"
}

control_names_perf_while_perf_has_the_counters() {
	perf stat -a -e instructions sleep 1000 2>/dev/null &
	perf=$!
	await sh -c "'$tools/hwpmc' control | grep -q '^pmu .*held'"
	"$tools/hwpmc" control >got
	pkill -KILL -P $perf
	kill -KILL $perf
	check grep -q 'perf' got
}

control_shows_a_row_in_use_and_its_owner() {
	"$tools/hwpmc" stat -C 0 -e branches:u -- sleep 1000 2>/dev/null &
	stat=$!
	await sh -c "'$tools/pmccontrol' -l | grep -q 'STANDALONE.*pid $stat'"
	check grep -q STANDALONE <<-E
	$("$tools/hwpmc" control -l)
	E
	kill $stat
}

a_disabled_row_is_not_used_until_it_is_enabled() {
	n=$(row)
	check "$tools/hwpmc" control -d "$n" -c 0
	"$tools/pmccontrol" -l | grep -q "#$n .*DISABLED" ||
		fail "$("$tools/pmccontrol" -l)"
	check "$tools/hwpmc" stat -C 0 -e branches:u -- true
	check "$tools/pmccontrol" -c 0 -e "$n"
	"$tools/pmccontrol" -l | grep -q DISABLED && fail "still disabled"
	:
}

# state CPU ROW: how pmccontrol -l tells it
state() {
	"$tools/pmccontrol" -l | sed -n "/^CPU $1:/,/^CPU [^$1]:/s/^ *#$2 .*/&/p" |
		awk '{ print $4, $5 }'
}

# refused SENTENCE COMMAND...: it fails, in one line
refused() {
	want=$1
	shift
	"$@" >got 2>&1 && fail "$*: succeeded"
	check_equal "$(wc -l <got)" 1 "lines of: $(cat got)"
	grep -q "$want" got || fail "$*: said: $(cat got)"
}

control_shows_a_row_of_processes_and_does_not_disable_it() {
	"$tools/hwpmc" stat -e branches:u -- sleep 1000 2>/dev/null &
	pid=$!
	await sh -c "'$tools/pmccontrol' -l | grep -q ' THREAD'"
	used=$("$tools/pmccontrol" -l | sed -n 's/^ *#\([0-9]*\) .* THREAD.*/\1/p' | head -n 1)
	check_equal "$(state 0 "$used")" "FREE THREAD" "on CPU 0"
	check_equal "$(state 1 "$used")" "FREE THREAD" "on CPU 1"
	refused 'in use' "$tools/pmccontrol" -c 0 -d "$used"
	refused 'in use' "$tools/hwpmc" control -c 1 -d "$used"
	check_equal "$(state 0 "$used")" "FREE THREAD" "on CPU 0 after that"
	kill -TERM $pid
	wait
	check_equal "$(state 0 "$used")" "FREE (none)" "when it has ended"
}

a_row_is_disabled_on_the_cpus_that_were_named() {
	n=$(row)
	check "$tools/pmccontrol" -c 1 -d "$n"
	check_equal "$(state 0 "$n")" "FREE STANDALONE" "on CPU 0"
	check_equal "$(state 1 "$n")" "DISABLED STANDALONE" "on CPU 1"
	check "$tools/pmccontrol" -c '*' -d "$n"
	check_equal "$(state 0 "$n")" "DISABLED STANDALONE" "on CPU 0"
	check "$tools/pmccontrol" -c '*' -e "$n"
	check_equal "$(state 0 "$n"), $(state 1 "$n")" \
		"FREE (none), FREE (none)" "enabled"
}

a_disabled_row_stays_so_over_an_absence_of_its_cpu() {
	n=$(row)
	check "$tools/hwpmc" control -d "$n" -c 1
	echo 0 >/sys/devices/system/cpu/cpu1/online || fail "cannot take CPU 1 off"
	"$tools/pmccontrol" -l >listed 2>&1
	listed=$?
	(refused 'CPU 1.*not online' "$tools/hwpmc" control -e "$n" -c 1)
	hwpmc_said=$?
	(refused 'CPU 1.*not online' "$tools/pmccontrol" -c 1 -e "$n")
	said=$?
	echo 1 >/sys/devices/system/cpu/cpu1/online || fail "cannot bring it back"
	[ $hwpmc_said$said = 00 ] || exit 1
	check_equal $listed 0 "status of the list meanwhile"
	check_equal "$(grep -c '^CPU' listed)" 1 "CPUs in it"
	check_equal "$(state 1 "$n")" "DISABLED STANDALONE" "when it is back"
	check "$tools/hwpmc" control -e "$n" -c 1
	check_equal "$(state 1 "$n")" "FREE (none)" "enabled"
}

control_refuses_cpus_and_rows_that_there_are_not() {
	n=$(row)
	refused 'CPU' "$tools/hwpmc" control -d "$n" -c 7
	refused 'CPU' "$tools/pmccontrol" -c 7 -d "$n"
	refused 'row' "$tools/hwpmc" control -d 63 -c 0
	refused 'row' "$tools/pmccontrol" -c 0 -d 63
	"$tools/pmccontrol" -l | grep -q DISABLED && fail "something is disabled"
	:
}

control_statistics_count_operations_and_errors() {
	before=$("$tools/pmccontrol" -s | sed -n 's/^ *system calls: //p')
	"$tools/hwpmc" stat -e instructions:u true 2>/dev/null
	after=$("$tools/pmccontrol" -s | sed -n 's/^ *system calls: //p')
	[ "$after" -gt "$before" ] || fail "$before, then $after"
}

list_names_a_class_once_and_events_as_stat_prints_them() {
	"$tools/hwpmc" list >got || fail "status $?"
	check_equal "$(grep ':$' got | sort | uniq -d)" "" "classes that come again"
	for event in page-faults context-switches cpu-migrations clock.prof; do
		check grep -q "^  $event " got
	done
	grep '^  SOFT-PAGE' got && fail "by FreeBSD's name too"
	check_equal "$("$tools/hwpmc" list SOFT-PAGE_FAULT.ALL | sed 1d | cut -d' ' -f3)" \
		page-faults "by FreeBSD's name"
	# Each that is listed is taken.
	"$tools/hwpmc" list --json clock page-faults | sed 's/{"event":"\([^"]*\).*/\1/' >names
	while read -r name; do
		check "$tools/hwpmc" stat -e "$name" true
	done <names
}

# What is no event is looked for in all tables: 17,000 million where that was done for the
# name of each tracepoint, 575 million where each name compared was written anew, 138 million
# where the list was made again for each class. Completion lists a pattern at each TAB.
list_takes_few_instructions() {
	for most in "60 list" "20 list branch" "20 list --json -- br"; do
		# shellcheck disable=SC2086
		HWPMC_EVENTS=$VM_TOP/data/events "$tools/hwpmc" stat --csv -e instructions:u \
			-o out.csv -- "$tools/hwpmc" ${most#* } >got || fail "$most: status $?"
		[ -s got ] || fail "$most: lists nothing"
		n=$(awk -F, '$1 == "total" && $4 == "instructions:u" { print $6 }' out.csv)
		[ "$n" -lt $((${most%% *} * 1000000)) ] || fail "$most: $n instructions"
	done
}

# The list by a pattern has just the lines of the list of all that have it.
list_by_a_pattern_is_a_part_of_the_list_of_all() {
	export HWPMC_EVENTS=$VM_TOP/data/events
	"$tools/hwpmc" list --json >all
	for pattern in branch l3_miss clock kfree sched. energy; do
		"$tools/hwpmc" list --json $pattern >part || true
		python3 - $pattern >wanted <<-'END'
		import json, sys
		plain = lambda s: s.lower().translate(str.maketrans(' ._', '---'))
		for line in open('all'):
		    if plain(sys.argv[1]) in plain(json.loads(line)['event']):
		        sys.stdout.write(line)
		END
		check cmp part wanted
		case $pattern in
		branch|clock|kfree) [ -s part ] || fail "$pattern: no event" ;;
		esac
	done
	[ "$(wc -l <all)" -gt 300 ] || fail "$(wc -l <all) events"
	unset HWPMC_EVENTS
}

list_tells_table_and_counters_of_the_vendors_events() {
	export HWPMC_EVENTS=$VM_TOP/data/events
	"$tools/hwpmc" stat --csv -e instructions:u -o out.csv -- "$tools/hwpmc" list -v >got 2>said
	n=$(awk -F, '$1 == "total" && $4 == "instructions:u" { print $6 }' out.csv)
	[ "$n" -lt 200000000 ] || fail "$n instructions"
	if [ "$VM_MODEL" = intel ]; then
		check grep -q '^  MEM_LOAD_RETIRED.L3_MISS  of skylakex, counters 0-3' got
		check grep -q '^  UOPS_RETIRED.MACRO_FUSED  of skylakex, counters 0-7$' got
		grep 'MEM_LOAD_RETIRED:L3_MISS' got && fail "libpfm4's name of it too"
		check_equal "$(cat said)" "" "said"
		check "$tools/hwpmc" stat -e MEM_LOAD_RETIRED.L3_MISS,OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE true
		"$tools/hwpmc" list --json l3_miss >names
		check python3 -c 'import json,sys
e = {x["event"]: x for x in map(json.loads, open("names"))}["MEM_LOAD_RETIRED.L3_MISS"]
assert (e["table"], e["kind"], e["counters"] & 15) == ("skylakex", "cpu", 15), e'
	fi
	HWPMC_EVENTS=$VM_TOP/nowhere LIBPFM_FORCE_PMU=ix86arch "$tools/hwpmc" list >got 2>said
	[ "$VM_MODEL" != intel ] ||
		check grep -q 'no table has the events of this processor (GenuineIntel-6-55-4)' said
	check grep -q '^  cycles ' got
	unset HWPMC_EVENTS
}

list_finds_events_by_a_pattern() {
	"$tools/hwpmc" list branch >got
	check grep -qi 'branches' got
	grep -q '^ *tsc' got && fail "tsc is no branch"
	check "$tools/hwpmc" list -v cycles
	check "$tools/pmccontrol" -L
}

pmcstat_prints_freebsds_columns_and_the_exact_count() {
	check "$tools/pmcstat" -C -o got -p instructions,usr -- "$loop" 1000000
	check_equal "$(head -n 1 got | tr -s ' ')" "# p/instructions,usr" "header"
	check_equal "$(tail -n 1 got | tr -d ' ')" 3000057 "count"
}

pmcstat_counts_cpus_and_attached_processes() {
	check "$tools/pmcstat" -o got -c 1 -s instructions -- "$loop" 1000000
	check grep -q '^# *s/01/instructions' got
	"$VM_TOP/tests/harness/slowly" "$loop" 4000000000 &
	pid=$!
	check "$tools/pmcstat" -o got -l 1 -w 0.3 -t $pid -p instructions,usr
	kill $pid
	[ "$(tail -n 1 got | tr -d ' ')" -gt 10000 ] || fail "$(cat got)"
}

pmcstat_says_that_an_option_behind_the_events_is_ignored() {
	"$tools/pmcstat" -p instructions,usr -d true >got 2>&1
	check grep -q '^pmcstat: -d is ignored, as no event follows it' got
	"$tools/pmcstat" -p branches,usr -d -p instructions,usr true >got 2>&1
	grep ignored got && fail "said: $(cat got)"
	"$tools/pmcstat" -d -p instructions,usr -w 5 true >got 2>&1
	grep ignored got && fail "said: $(cat got)"
	:
}

# A container has the kernel's /sys, and of /dev what it is given.
tools_in_a_container_without_the_device_say_so() {
	check mv /dev/hwpmc /dev/kept
	"$tools/hwpmc" stat -e instructions:u true >got 2>&1
	status=$?
	mv /dev/kept /dev/hwpmc
	check_equal "$status" 125 "status"
	check_equal "$(wc -l <got)" 1 "lines: $(cat got)"
	check grep -q 'the module is loaded, but the device does not exist; give it to the container' got
}

tools_say_that_the_module_is_not_loaded() {
	check rmmod hwpmc
	"$tools/hwpmc" stat true >got 2>&1 && fail "counted without a module"
	check grep -q 'modprobe hwpmc' got
	"$tools/hwpmc" control >got 2>&1
	check grep -qi 'not loaded' got
	check insmod "$ko"
	check "$tools/hwpmc" stat -e instructions:u true
}

harness_run
