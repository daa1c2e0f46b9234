#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_stat - hwpmc stat on the emulated PMU: programs of known length, every
# form of output, every way to say what to measure, and what it says when it cannot.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

# `loop 1000000` executes so many in user mode, by its source.
insn=3000057 branches=1000016
both=instructions:u,branches:u

# csv FIELD EVENT: a column of the last CSV
csv() { awk -F, -v e="$2" -v f="$1" '$1 == "total" && $4 == e { print $f }' out.csv; }

# lines_are_equal: each line of the last CSV, which has no quotes, has the fields of the header
lines_are_equal() {
	check_equal "$(awk -F, 'NR == 1 { n = NF } NF != n' out.csv)" "" "lines of another shape"
}

stat_prints_the_exact_count_of_a_program() {
	check "$hwpmc" stat -e $both -o got -- "$loop" 1000000
	check_equal "$(sed -n 's/^ *\([0-9,]*\) *\(instructions\|branches\):u.*/\1/p' got |
		tr '\n' ' ')" "3,000,057 1,000,016 " "counts"
}

stat_writes_the_exact_count_as_csv() {
	check "$hwpmc" stat --csv -e $both -o out.csv -- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 6 branches:u)" \
		"$insn $branches" "counts"
	check_equal "$(head -n 1 out.csv)" \
		type,time_ns,cpu,event,status,count,unit,stddev,runs,metric,metric_unit,why \
		"columns"
}

stat_writes_the_exact_count_as_json() {
	check "$hwpmc" stat --json -e $both -o got -- "$loop" 1000000
	check grep -Eq "\"event\":\"instructions:u\"[^}]*\"count\":$insn" got
	check python3 -c 'import json,sys
for line in open("got"): json.loads(line)'
}

stat_measures_what_fits_and_derives_ipc_and_miss_rates() {
	check "$hwpmc" stat -o got -- "$loop" 1000000
	check grep -q 'instructions per cycle' got
	check grep -q '% of branches' got
	check grep -q 'seconds elapsed' got
	grep -q 'not counted' got && fail "events left got: $(cat got)"
	:
}

stat_refuses_asked_events_that_do_not_fit_before_running() {
	set -- -e instructions:u
	for _ in 1 2 3 4 5 6 7 8 9; do set -- "$@" -e branches:u; done
	"$hwpmc" stat "$@" -- touch ran >got 2>&1
	check_equal $? 125 "status"
	[ -e ran ] && fail "the command ran"
	check grep -q 'branches' got
}

stat_means_of_several_runs_have_their_deviation() {
	check "$hwpmc" stat --csv -r 5 -e $both -o out.csv -- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 9 instructions:u)" "$insn 5" mean
	check_equal "$(csv 8 instructions:u)" "0.000" "deviation"
}

stat_intervals_add_up_to_the_total() {
	check "$hwpmc" stat --csv -I 20 -e instructions:u -o out.csv -- \
		"$loop" 30000000
	check_equal "$(awk -F, '$1 == "interval" && $4 == "instructions:u" {
		s += $6; n++ } END { printf "%d %d", s, (n > 1) }' out.csv)" \
		"90000064 1" "sum of intervals"
}

stat_counts_a_pipeline_with_its_children() {
	check "$hwpmc" stat --csv -e $both -o out.csv -- \
		sh -c "$loop 1000000 | $loop 1000000; $loop 1000000"
	[ "$(csv 6 instructions:u)" -gt $((3 * insn)) ] ||
		fail "$(csv 6 instructions:u)"
	check "$hwpmc" stat --csv --no-descendants -e $both -o out.csv -- \
		sh -c "$loop 1000000; :"
	[ "$(csv 6 instructions:u)" -lt $insn ] ||
		fail "children too: $(csv 6 instructions:u)"
}

stat_attaches_to_running_processes_by_pid() {
	"$loop" 4000000000 &
	pid=$!
	# The command ends when the process has run for three hundredths of a second.
	# shellcheck disable=SC2016
	check "$hwpmc" stat --csv -p $pid -e instructions:u -o out.csv -- sh -c '
		used() { cut -d" " -f14 "/proc/$1/stat"; }
		end=$(($(used $1) + 3))
		until [ "$(used $1)" -ge $end ]; do sleep 0.1; done' - $pid
	kill $pid
	[ "$(csv 6 instructions:u)" -gt 1000000 ] || fail "$(cat out.csv)"
	# The CPU time of the command would be taken for that of the process.
	grep -qE ',(user|system|task-clock),' out.csv && fail "times: $(cat out.csv)"
	"$hwpmc" stat -p $pid -e instructions:u -- true >got 2>&1 &&
		fail "a process that is gone was measured"
	grep -q "$pid" got || fail "said: $(cat got)"
}

stat_leaves_out_default_events_that_another_counts_in_the_process() {
	SLOWLY=5 "$VM_TOP/tests/harness/slowly" "$loop" 4000000000 &
	pid=$!
	"$hwpmc" stat -p $pid -o first -- sh -c '
		touch begun; until [ -e "done" ]; do sleep 0.1; done' &
	first=$!
	until [ -e begun ]; do sleep 0.1; done
	"$hwpmc" stat -p $pid -o got -- true 2>said
	check_equal $? 0 "status: $(cat said got)"
	touch "done"
	wait $first
	kill $pid
	check grep -q 'not counted' got
	check grep -q 'seconds elapsed' got
	grep -q 'not counted' first && fail "the first lacks events: $(cat first)"
	:
}

# All six counters of AMD's can count the event.
stat_within_stat_is_told_who_counts_already() {
	all=$both
	[ "$VM_MODEL" = intel ] || all=$both,$both,$both
	"$hwpmc" stat -e $all -o outer -- sh -c "echo \$PPID >pid; exec '$hwpmc' stat \
		-e instructions:u -o inner -- '$loop' 1000" 2>said
	check_equal $? 125 "status: $(cat said)"
	check grep -q "counts the process with the same counter (of process $(cat pid), hwpmc); " said
	check grep -q 'instructions:u' outer
}

stat_counts_whole_cpus_and_their_sum() {
	check "$hwpmc" stat --csv -a --per-cpu -e instructions:u -o out.csv -- "$loop" 1000000
	check_equal "$(awk -F, '$4 == "instructions:u" { if ($3 == "all") all = $6
		else sum += $6 } END { print all - sum, (all > 3000057) }' out.csv)" \
		"0 1" "the sum over CPUs"
	check "$hwpmc" stat --csv -C 0 --per-cpu -e instructions:u -o out.csv -- true
	check_equal "$(awk -F, '$4 == "instructions:u" && $3 != "all" { print $3 }' out.csv)" \
		0 "the CPU"
}

# places socket|core: those of all CPUs, by /sys
places() {
	for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
		case $1 in
		socket) echo "S$(cat $cpu/topology/physical_package_id)" ;;
		core) echo "S$(cat $cpu/topology/physical_package_id)-D$(
			cat $cpu/topology/die_id)-C$(cat $cpu/topology/core_id)" ;;
		esac
	done | sort -u | tr '\n' ' '
}

stat_of_whole_cpus_prints_one_total_and_its_parts_on_request() {
	check "$hwpmc" stat -a -e instructions:u,branches:u -o got -- "$loop" 1000000
	check_equal "$(grep -cE 'instructions:u|branches:u' got)" 2 "rows: $(cat got)"
	check "$hwpmc" stat --csv -a -e instructions:u -o out.csv -- "$loop" 1000000
	check_equal "$(awk -F, '$4 == "instructions:u" { print $3 }' out.csv)" all "rows"
	for by in core socket; do
		check "$hwpmc" stat --csv -a --per-$by -e instructions:u,cycles:u -o out.csv -- \
			"$loop" 1000000
		check_equal "$(awk -F, '$4 == "instructions:u" && $3 != "all" { print $3 }' out.csv |
			sort -u | tr '\n' ' ')" "$(places $by)" "each $by"
		check_equal "$(awk -F, '$4 == "instructions:u" { if ($3 == "all") all = $6
			else sum += $6 } END { print all - sum, (all > 3000057) }' out.csv)" \
			"0 1" "the sum over each $by"
		check "$hwpmc" stat -a --per-$by -I 20 -e instructions:u,cycles:u -o got -- \
			"$loop" 30000000
		check grep -q "$(places $by | cut -d' ' -f1)  *[0-9,]*  instructions:u" got
		check "$hwpmc" stat --json -a --per-$by -e instructions:u -o got -- "$loop" 10
		check python3 -c "import json
for line in open('got'):
	e = json.loads(line)['events'][0]
	assert sum(p['count'] for p in e['${by}s']) == e['count']
	assert sum(p['cpus'] for p in e['${by}s']) == len(e['cpus'])"
	done
	"$hwpmc" stat --per-cpu -- true >got 2>&1
	check_equal $? 2 "status without -a"
}

# On the emulated PMU a cycle is an instruction. What passes between the reads of two
# counters is the same at each read, so intervals of a CPU agree to the instruction; the
# first and the last, which begin and end with other code, to what passes between
# two counters then.
stat_intervals_have_the_ipc_of_the_machine() {
	check "$hwpmc" stat --csv -I 20 -a --per-cpu -e instructions,cycles -o out.csv -- \
		"$loop" 60000000
	check_equal "$(awk -F, '
		$1 == "interval" && !($2 in nr) { nr[$2] = ++n }
		$1 == "interval" && $4 == "instructions" { insn[$2, $3] = $6 }
		$1 == "interval" && $4 == "cycles" { cycles[$2, $3] = $6 }
		$4 == "instructions" && $3 == "all" { ipc[$1 == "total" ? "total" : $2] = $10 }
		END {
			if (n < 4) print n " intervals"
			for (i in insn) {
				split(i, at, SUBSEP)
				d = insn[i] - cycles[i]
				if (at[2] != "all" && (nr[at[1]] % n < 2 ? d * d > 250 * 250 : d))
					print "interval " nr[at[1]] ": " insn[i] " and " cycles[i]
			}
			for (t in ipc)
				if ((t == "total" || nr[t] % n > 1) && sprintf("%.2f", ipc[t]) != "1.00")
					print "an IPC of " ipc[t]
			if (!("total" in ipc)) print "no total"
		}' out.csv)" "" "intervals of all CPUs"
	check "$hwpmc" stat -I 20 -e instructions:u,cycles:u -o got -- "$loop" 60000000
	check_equal "$(sed -n 's/.* \([0-9.]*\) instructions per cycle.*/\1/p' got |
		sort -u)" 1.000 "the IPC of a command"
	check "$hwpmc" stat -e '{instructions,cycles}' -o got -- "$loop" 1000000
	check_equal "$(sed -n 's/.* \([0-9.]*\) instructions per cycle.*/\1/p' got)" \
		1.000 "the IPC of a group"
}

stat_counts_groups_together_or_not_at_all() {
	check "$hwpmc" stat --csv -e '{instructions,branches}:u' -o out.csv -- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 6 branches:u)" \
		"$insn $branches" "counts"
	"$hwpmc" stat -e "{$(printf 'branches,%.0s' 1 2 3 4 5 6 7 8 9)branches}" -- \
		touch ran >got 2>&1
	check_equal $? 125 "status"
	[ -e ran ] && fail "the command ran"
	check_equal "$(wc -l <got)" 1 "lines: $(cat got)"
	check grep -q '10 events of a group.*count fewer events' got
	"$hwpmc" stat -e '{instructions' -- true >got 2>&1
	check_equal $? 2 "status of an open group"
	check grep -q 'close the group' got
	"$hwpmc" record -e '{instructions}' -- true >got 2>&1
	check_equal $? 2 "status of record"
	check grep -q 'remove the braces' got
}

# Formulas of counts that are known, and one that divides by 0.
stat_computes_metrics_of_files_exactly() {
	export XDG_CONFIG_HOME=$PWD
	mkdir -p hwpmc/metrics
	cat >hwpmc/metrics/own.metrics <<-E
		[rest]
		groups = mine
		unit = instructions
		formula = instructions:u - branches:u
		[share]
		groups = mine
		unit = %
		formula = 100 * branches:u / instructions:u
		[nothing]
		formula = branches:u / ( branches:u - branches:u )
		[many]
		formula = $(for i in 1 2 3 4 5 6 7 8 9; do echo "r${i}c0 + "; done | tr -d '\n') r1c2
	E
	check "$hwpmc" stat --csv -M mine,nothing -o out.csv -- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 6 branches:u)" "$insn $branches" counts
	check_equal "$(csv 10 rest) $(csv 10 share | cut -c1-7) '$(csv 10 nothing)'" \
		"2000041 33.3332 ''" metrics
	check "$hwpmc" stat --json -M mine,nothing -o got -- "$loop" 1000000
	check_equal "$(python3 -c 'import json
for m in json.load(open("got"))["metrics"]: print(m["metric"], m["value"] and int(m["value"]))' | tr '\n' ' ')" \
		"rest 2000041 share 33 nothing None " "JSON"
	check "$hwpmc" stat -M rest -o got -- "$loop" 1000000
	check grep -Eq '^ +2000041\.000  rest +# instructions$' got
	check "$hwpmc" stat -M ipc -o got -- "$loop" 1000000
	check grep -Eq '^ +1\.000  ipc' got
	"$hwpmc" stat -M many -- touch ran >got 2>&1
	check_equal $? 125 "status"
	[ -e ran ] && fail "the command ran"
	check grep -q "10 events of metric 'many' cannot be counted together" got
	"$hwpmc" stat -M nosuch -- true >got 2>&1 && fail "an unknown metric was counted"
	check grep -q "unknown metric or group 'nosuch'" got
	echo '[broken' >>hwpmc/metrics/own.metrics
	"$hwpmc" stat -M ipc -- true >got 2>&1 && fail "a damaged file was read"
	check grep -q 'own.metrics:13: ' got
	unset XDG_CONFIG_HOME
}

each_tool_goes_on_without_processes_that_have_ended() {
	"$loop" 1000000000000 &
	busy=$!
	true &
	ended=$!
	wait $ended
	# Its parent waits for nobody.
	sh -c 'true & echo $! >zombie; exec sleep 1000' &
	parent=$!
	await sh -c 'grep -q "^State:.*Z" "/proc/$(cat zombie)/status"'
	zombie=$(cat zombie)
	others="it has ended; going on with the others"
	for pids in $busy,$ended $ended,$busy $zombie,$busy $ended,$busy,$zombie; do
		"$hwpmc" stat --csv -p $pids -e instructions:u -o out.csv -- sleep 0.2 2>said ||
			fail "stat -p $pids: $(cat said)"
		[ "$(csv 6 instructions:u)" -gt 0 ] || fail "stat -p $pids: $(cat out.csv)"
		check grep -Eq "^hwpmc stat: cannot count process ($ended|$zombie): $others$" said
		"$hwpmc" record -q -p $pids -e instructions:u -d 1 -o gone.log 2>said ||
			fail "record -p $pids: $(cat said)"
		check grep -Eq "^hwpmc record: cannot sample process ($ended|$zombie): $others$" said
		"$hwpmc" top --batch -n 1 -d 0.2 --kallsyms /dev/null -p $pids -e instructions:u \
			>got 2>said || fail "top -p $pids: $(cat said)"
		check grep -q "^hwpmc top: cannot sample process" said
	done
	"$hwpmc" stat -t $busy,$ended -e instructions:u -o got -- sleep 0.2 2>said ||
		fail "stat -t: $(cat said)"
	check grep -q "cannot count thread $ended: $others" said
	check grep -q "Counts of thread $busy" got
	"$hwpmc" stat -p $busy,$ended -e instructions:u -o got -- sleep 0.2 2>said
	check grep -q "Counts of process $busy and its descendants while" got
	for tool in stat record top; do
		status=0
		"$hwpmc" $tool -p $ended,$ended -e instructions:u 2>said || status=$?
		check_equal $status 125 "$tool: $(cat said)"
		grep -q "going on with the others" said && fail "$tool, all ended: $(cat said)"
	done
	"$loop" 1000000000000 &
	first=$!
	"$hwpmc" record --every 1s --for 200ms -d 4 -p $first,$busy -e instructions:u -o rounds \
		2>said &
	every=$!
	await [ -e rounds/0000000001.log ]
	kill $first
	wait $every
	check_equal $? 0 "record --every: $(cat said)"
	check grep -q "cannot sample process $first: $others$" said
	rm rounds/0000000001.log
	for log in rounds/*.log; do
		"$hwpmc" dump -i "$log" --no-symbols --type sample --json | grep -q CALLCHAIN ||
			fail "$log has no samples: $(cat said)"
	done
	kill $busy $parent
}

# Of each group instructions are three times the branches, but for the program's first ones;
# all turns together have no more than there was, and their times no more than the whole.
stat_rotates_what_does_not_fit_and_says_for_how_long() {
	pair='{instructions:u,branches:u}'
	check "$hwpmc" stat --csv --rotate=20 -e $pair,$pair,$pair,$pair,$pair,$pair \
		-o out.csv -- "$loop" 100000000
	awk -F, '
		NR == 1 && $13 != "counted_ns" { print "columns: " $0 }
		$4 == "instructions:u" { i = $6; if (!($13 in ran)) { sum += i; ns += $13 }; ran[$13] = 1 }
		$4 == "branches:u" { d = i - 3 * $6; if (d < -36 || d > 36 || i < 1000) print "a group: " i " " $6
			if (!($13 in ran)) print "a group with two times" }
		$4 == "elapsed" { all = $6 }
		END { for (t in ran) turns++
			if (turns < 2 || turns > 6) print turns " turns"
			if (sum > 300000071) print "sum " sum
			if (ns > all) print "time " ns " of " all }' out.csv >wrong
	[ -s wrong ] && fail "$(cat wrong out.csv)"
	lines_are_equal
	check "$hwpmc" stat --csv --rotate -e $both -o out.csv -- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 6 branches:u)" "$insn $branches" "one turn"
	check "$hwpmc" stat --rotate=20 -e $pair,$pair,$pair,$pair,$pair,$pair -o got -- \
		"$loop" 1000000
	check grep -Eq 'instructions:u .*\(counted [0-9.]+ of [0-9.]+ s, [0-9.]+ %\)$' got
	check "$hwpmc" stat -x\; --rotate=60000 -e $pair,$pair,$pair,$pair,$pair,$pair -o got -- \
		"$loop" 1000
	check grep -Eq '^<not counted>;;instructions:u;0;0.00;;$' got
	"$hwpmc" stat --rotate -e instructions:u,nosuch -- touch ran >got 2>&1
	check_equal $? 125 status
	[ -e ran ] && fail "the command ran"
	"$hwpmc" stat --rotate -r 2 -e $both -- true >got 2>&1
	check_equal $? 2 "status with -r"
}

# A PMC that no process is attached to would count the one that starts it. The command dies
# before the first attach of its third turn, and before the second one.
stat_that_rotates_counts_nothing_of_itself() {
	pair='{instructions:u,branches:u}'
	for dies in 1 2; do
		DIES=$dies LD_PRELOAD=$VM_TOP/build/vm/progs/libdies.so "$hwpmc" stat --csv \
			--rotate=20 -e $pair,$pair,$pair,$pair,$pair,$pair -o out.csv -- \
			"$loop" 1000000000 2>err
		check_equal $? 137 "status: $(cat err)"
		awk -F, '
			$4 == "instructions:u" { i = $6 }
			$4 == "branches:u" && $6 > 0 { n++; d = i - 3 * $6; if (d < -36 || d > 36) print "a group: " i " " $6 }
			$4 == "branches:u" && !$6 && i > 0 { print "one half: " i }
			END { if (n != 6) print n " groups" }' out.csv >wrong
		[ ! -s wrong ] || fail "$dies: $(cat wrong out.csv)"
	done
}

# rotate_with_laps TURNS COMMAND: six pairs have two sets of turns. laps.sh makes laps of
# $insn instructions until all turns are over; each turn has a whole lap of it.
rotate_with_laps() {
	cat >laps.sh <<-EOF
		until [ -e over ]; do
			$loop 1000000
			echo >>laps
		done
		touch ended
	EOF
	rm -f over laps ended
	pair='{instructions:u,branches:u}'
	check env TURNS="$1" LD_PRELOAD="$VM_TOP/build/vm/progs/libturns.so" "$hwpmc" stat --csv \
		--rotate=20 -e $pair,$pair,$pair,$pair,$pair,$pair -o out.csv -- \
		sh -c "$2
			until [ -e ended ]; do sleep 0.1; done"
}

# A process whose parent has exited is counted in later turns too.
stat_rotates_with_all_descendants() {
	rotate_with_laps 6 "(sh laps.sh &)"
	check_equal "$(awk -F, -v i=$insn '$4 == "instructions:u" { n++; few += $6 < 3 * i }
		END { print n, few }' out.csv)" "6 0" "events, and those of few: $(cat out.csv)"
}

# Its parent, another child of the tool's, exits when the tool has listed its children: before
# the command's first attach, before its own first and before its own second.
stat_rotates_with_a_process_that_just_lost_its_parent() {
	echo 'sh laps.sh & echo $! >orphan; echo $$ >middle; wait' >middle.sh
	for attach in 1 7 8; do
		export ORPHAN=$attach
		rm -f orphaned
		rotate_with_laps 2 "(sh middle.sh &)"
		[ -e orphaned ] || fail "$attach: no process lost its parent"
		check_equal "$(awk -F, -v i=$insn -v b=$branches '
			$4 == "instructions:u" { n++; few += $6 < i }
			$4 == "branches:u" { few += $6 < b }
			END { print n, few }' out.csv)" "6 0" "$attach: events, and those of few: $(cat out.csv)"
	done
}

# They have the tool as their parent.
stat_that_rotates_leaves_no_zombies_of_descendants() {
	cat >orphans <<-'EOF'
		for i in 1 2 3; do (sh -c 'exit 0' &); done
		n=0
		until [ $n -eq 300 ] || ! grep -qs "^[0-9]* ([^)]*) Z $PPID " /proc/[0-9]*/stat; do
			sleep 0.1
			n=$((n + 1))
		done
		echo $n >waited
	EOF
	pair='{instructions:u,branches:u}'
	check "$hwpmc" stat --rotate=20 -e $pair,$pair,$pair,$pair,$pair,$pair -o got -- \
		sh orphans
	[ "$(cat waited)" -lt 300 ] || fail "zombies: $(cat waited)"
}

list_of_metrics_has_what_the_machine_counts() {
	"$hwpmc" list --metrics basic >got || fail "list: $?"
	check_equal "$(awk 'NR > 1 { print $1 }' got | tr '\n' ' ')" \
		"ipc cpi branch-miss-rate llc-miss-rate " "metrics of a group"
	"$hwpmc" list --metrics --json ipc >got || fail "list: $?"
	check_equal "$(python3 -c 'import json
for l in open("got"): print(*json.loads(l)["events"])')" "instructions cycles" "its events"
	"$hwpmc" list --metrics nosuch >got 2>&1 && fail "listed: $(cat got)"
	check grep -q 'hwpmc list --metrics' got
}

stat_ends_with_the_status_of_the_command() {
	"$hwpmc" stat -o got -- sh -c 'exit 7'
	check_equal $? 7 "exit 7"
	# shellcheck disable=SC2016
	"$hwpmc" stat -o got -- sh -c 'kill -TERM $$'
	check_equal $? 143 "killed"
	"$hwpmc" stat -o got -- ./no-such-program 2>err
	check_equal $? 127 "no such program"
	check_equal "$(wc -l <err)" 1 "lines of error"
	touch plain
	"$hwpmc" stat -o got -- ./plain 2>err
	check_equal $? 126 "not executable"
}

stat_prints_what_it_has_when_interrupted() {
	"$hwpmc" stat --csv -e instructions:u -o out.csv -- \
		"$VM_TOP/tests/harness/slowly" "$loop" 40000000000 &
	pid=$!
	await has_running_child $pid loop
	# Not INT, which a shell has its background commands ignore.
	kill -TERM $pid
	wait $pid
	[ "$(csv 6 instructions:u)" -gt 1000 ] || fail "$(cat out.csv)"
}

stat_x_has_the_fields_of_perf() {
	check "$hwpmc" stat -x, -e $both -o got -- "$loop" 1000000
	check_equal "$(cut -d, -f1-3 got | tr '\n' ' ')" \
		"$insn,,instructions:u $branches,,branches:u " "counts"
	check_equal "$(awk -F, '{ print NF, ($4 > 0), $5 }' got | sort -u)" "7 1 100.00" "fields"
	check "$hwpmc" stat -x ';' -r 3 -e $both -o got -- "$loop" 1000000
	check_equal "$(cut -d';' -f1-4 got | head -n 1)" "$insn;;instructions:u;0.00%" "runs"
	check "$hwpmc" stat -x, -a --per-cpu -e instructions:u -o got -- "$loop" 1000000
	check_equal "$(awk -F, '{ print $1, $4 }' got | tr '\n' ' ')" \
		"$(for cpu in /sys/devices/system/cpu/cpu[0-9]*; do
			echo "CPU${cpu##*/cpu} instructions:u"; done | tr '\n' ' ')" "CPUs"
	check "$hwpmc" stat -x, -I 20 -e instructions:u -o got -- "$loop" 30000000
	check_equal "$(awk -F, 'NF == 8 { n += $2; $2 = "" } END { print n }' got)" \
		90000064 "the sum of intervals: $(cat got)"
	check_equal "$(awk -F, '{ print NF }' got | sort -u)" 8 "fields of the lines of intervals"
	# Where perf has what it says of an event, this has it too.
	check perf stat -x, -e page-faults -o perf.csv -- true
	check "$hwpmc" stat -x, -e page-faults -o got -- true
	check_equal "$(awk -F, '{ print NF, $3 }' got)" \
		"$(awk -F, '/page-faults/ { sub(/:u$/, "", $3); print NF, $3 }' perf.csv)" perf
	"$hwpmc" stat -x, --json -- true 2>got
	check_equal $? 2 "status of two forms"
}

stat_counts_events_of_the_kernel_and_task_time_by_default() {
	check "$hwpmc" stat -o got -- "$loop" 30000000
	check grep -q 'instructions per cycle' got
	check grep -Eq '^ +[0-9,.]+ +page-faults' got
	check grep -Eq '^ +[0-9,.]+ +context-switches' got
	check grep -Eq '^ +[0-9.]+ +msec task-clock +# +[01][.][0-9]+ CPUs used' got
	check "$hwpmc" stat --csv -o out.csv -- "$loop" 30000000
	check_equal "$(($(csv 6 user) + $(csv 6 system)))" "$(csv 6 task-clock)" "task-clock"
	check "$hwpmc" stat -x, -o got -- "$loop" 1000000
	check grep -Eq '^[0-9.]+,msec,task-clock,[0-9]+,100.00,[01][.][0-9]+,CPUs used$' got
	check "$hwpmc" stat -e $both -o got -- "$loop" 1000000
	grep -Eq 'task-clock|page-faults' got && fail "not asked for: $(cat got)"
	:
}

# The command goes on when something was counted: what it ran before was not.
stat_with_a_delay_begins_to_count_later() {
	check "$hwpmc" stat --csv -I 100 --delay 6000 -e branches:u -o out.csv -- sh -c "
		$loop 5000000
		until grep -q '^interval.*,branches:u,counted,[1-9]' out.csv; do sleep 0.5; done
		$loop 1000000"
	n=$(csv 6 branches:u)
	[ "$n" -ge $branches ] && [ "$n" -lt 5000000 ] || fail "$n branches: $(cat out.csv)"
	"$hwpmc" stat --csv --delay 600000 -e branches:u -o out.csv -- "$loop" 1000 2>said ||
		fail "status $?: $(cat said)"
	check_equal "$(csv 6 branches:u)" 0 "a command that is over before"
	grep -q 'nothing was counted' said || fail "said: $(cat said)"
	"$hwpmc" stat --delay -1 -- true 2>got
	check_equal $? 2 "a delay without an end"
}

stat_with_a_timeout_ends_the_command() {
	"$hwpmc" stat --csv --timeout 500 -e instructions:u -o out.csv -- \
		"$VM_TOP/tests/harness/slowly" "$loop" 40000000000
	check_equal $? 143 "status"
	[ "$(csv 6 instructions:u)" -gt 1000 ] || fail "$(cat out.csv)"
	check "$hwpmc" stat --csv -a --timeout 200 -e instructions -o out.csv
	[ "$(csv 6 instructions)" -gt 1000 ] || fail "$(cat out.csv)"
}

stat_counts_when_control_says_so() {
	mkfifo ctl ack
	"$hwpmc" stat --csv --delay -1 --control fifo:ctl,ack -e branches:u -o out.csv -- sh -c "
		told() { echo \$1 >ctl; read -r said <ack; echo \$said >>acks; }
		$loop 5000000
		told ping; told enable
		$loop 1000000
		told disable
		$loop 5000000
		told enable
		$loop 1000000
		echo bad >ctl
		told stop
		$loop 5000000" 2>said || fail "status $?: $(cat said)"
	n=$(csv 6 branches:u)
	[ "$n" -ge $((2 * branches)) ] && [ "$n" -lt 5000000 ] || fail "$n branches"
	check_equal "$(sort acks | uniq -c | tr -s ' ')" " 5 ack" "acknowledged"
	grep -q "unknown control command 'bad'" said || fail "said: $(cat said)"
	exec 7<>ctl
	echo stop >ctl
	check "$hwpmc" stat --csv --control fd:7 -e branches:u -o out.csv -- "$loop" 1000
	exec 7>&-
	"$hwpmc" stat --control nowhere -- true 2>got
	check_equal $? 2 "status of a bad control"
	"$hwpmc" stat --control fd:99 -- true 2>got
	check_equal $? 2 "status of a bad descriptor"
}

# member CGROUP COUNT: a process in it that executes a loop of so many once there is a
# line in `go`; its number is in $member.
member() {
	rm -f ready
	[ -p go ] || mkfifo go
	# shellcheck disable=SC2016
	sh -c 'echo 0 >"$1/cgroup.procs" && touch ready && read -r _ <go; "$2" "$3"; :' - \
		"/sys/fs/cgroup/$1" "$loop" "$2" &
	member=$!
	until [ -e ready ]; do sleep 0.1; done
}

json_of_cgroup() {
	python3 -c '
import json, sys
r = json.loads(open("got").read())
print(r["events"][0]["count"] // 1000000, len(r["pids"]), r["cgroup_joined"], r["cgroup_left"])' ||
		cat got
}

stat_counts_the_processes_of_a_cgroup_and_what_they_start() {
	mkdir /sys/fs/cgroup/outer /sys/fs/cgroup/outer/inner
	member outer 1000000
	first=$member
	member outer/inner 2000000
	begin_stat -a -G outer --json -e branches:u -o got
	# Who is not in it, or joins it later, is not counted.
	"$loop" 4000000
	exec 8<>go
	printf '\n\n' >&8
	check wait $stat
	wait $first $member
	exec 8>&-
	check_equal "$(json_of_cgroup)" "3 2 0 0" "millions of branches, processes, joined, left"
	check grep -q '"cgroups":\["outer"\]' got
	rmdir /sys/fs/cgroup/outer/inner /sys/fs/cgroup/outer
}

stat_of_a_cgroup_says_who_joined_and_left() {
	mkdir /sys/fs/cgroup/one /sys/fs/cgroup/two
	member one 1000000
	first=$member
	# It stays, and so does its child: both are members of another cgroup in the end.
	member one 1000000
	begin_stat -G one --json -e branches:u -o got
	echo $member >/sys/fs/cgroup/two/cgroup.procs
	sleep 1000 &
	late=$!
	echo $late >/sys/fs/cgroup/one/cgroup.procs
	kill $stat
	wait $stat
	check_equal "$(json_of_cgroup)" "0 2 1 1" "millions of branches, processes, joined, left"
	begin_stat -G one,two -e branches:u -o text
	echo $late >/sys/fs/cgroup/cgroup.procs
	kill $stat
	wait $stat
	check grep -q 'Counts of the 3 processes of cgroups one, two and their descendants:' text
	check grep -q '^ 1 process left the cgroups and was still counted$' text
	exec 8<>go
	printf '\n\n' >&8
	wait $first $member
	exec 8>&-
	kill $late
	wait $late
	rmdir /sys/fs/cgroup/one /sys/fs/cgroup/two
}

# An attach takes the descendants that there are, and hwpmc is one of them here.
stat_of_a_cgroup_leaves_out_descendants_elsewhere_and_itself() {
	mkdir /sys/fs/cgroup/mine
	# `check` writes to a file "out", and another test has made "over".
	rm -f moved counted
	[ -p go ] || mkfifo go
	# shellcheck disable=SC2016
	check sh -c 'echo 0 >/sys/fs/cgroup/mine/cgroup.procs
		sh -c "echo 0 >/sys/fs/cgroup/cgroup.procs; touch moved; read -r _ <go; \"$2\" 8000000
			touch counted" &
		until [ -e moved ]; do sleep 0.1; done
		"$1" stat -G mine --json -e branches:u -o got -- sh -c "
			echo >go; until [ -e counted ]; do sleep 0.1; done
			\"$2\" 3000000"
		wait' - "$hwpmc" "$loop"
	check_equal "$(json_of_cgroup | cut -d" " -f1,3,4)" "3 0 0" "millions of branches, joined, left"
	rmdir /sys/fs/cgroup/mine
}

stat_refuses_a_cgroup_that_is_none() {
	for name in nonesuch /nonesuch; do
		"$hwpmc" stat -G $name -- touch ran >got 2>&1
		check_equal $? 125 "status of $name"
		check grep -q "no cgroup '$name'" got
	done
	mkdir /sys/fs/cgroup/empty
	"$hwpmc" stat -G empty -- touch ran >got 2>&1
	check_equal $? 125 "status of an empty one"
	check grep -q "cannot count the cgroup: it has no processes" got
	rmdir /sys/fs/cgroup/empty
	for o in "-G /" "-G /sys/fs/cgroup" "-C 0 -G empty" "-p 1 -G empty"; do
		# shellcheck disable=SC2086
		"$hwpmc" stat $o -- touch ran >got 2>&1
		[ $? -ge 2 ] || fail "$o: $(cat got)"
	done
	[ -e ran ] && fail "a command ran"
	:
}

stat_says_what_is_wrong_with_an_event_and_what_to_try() {
	"$hwpmc" stat -e instrucions -- true >got 2>&1
	check_equal $? 125 "status"
	check_equal "$(wc -l <got)" 1 "lines: $(cat got)"
	check grep -q "instructions" got
}

stat_has_no_colours_but_on_a_terminal() {
	"$hwpmc" stat -e $both -- "$loop" 10 2>got
	grep -q "$(printf '\033')" got && fail "colours in a file"
	:
}

# threads COUNT ROUNDS: a program of so many threads that waits; their numbers are in `tids`.
# A line in `go` has it work.
begin_threads() {
	rm -f go tids
	mkfifo go
	"$VM_TOP/build/vm/progs/threads" "$1" "$2" <go >tids &
	threads=$!
	exec 8>go
	until [ "$(wc -l <tids)" = "$1" ]; do sleep 0.1; done
}

# stat in the background, which counts when this returns.
begin_stat() {
	rm -f ctl ack
	mkfifo ctl ack
	"$hwpmc" stat --control fifo:ctl,ack "$@" &
	stat=$!
	echo ping >ctl
	read -r _ <ack
}

# In the last CSV the counts of the threads, and what is no thread's, add up to the total.
adds_up() {
	awk -F, -v e="$1" -v t="${2:-total}" '$1 == t && $4 == e {
		if ($3 == "all") total += $6; else sum += $6; n++ }
		END { if (n < 2 || sum != total) { print sum, "of", total; exit 1 } }' out.csv >sum ||
		fail "$1: $(cat sum)"
}

thread_count() { awk -F, -v e="$2" -v n="^$1-" '$1 == "total" && $4 == e && $3 ~ n { print $6 }' out.csv; }

stat_per_thread_adds_up_to_the_total() {
	check "$hwpmc" stat --per-thread --csv -e $both -o out.csv -- "$loop" 1000000
	check_equal "$(thread_count loop instructions:u) $(csv 6 instructions:u | sort -u)" \
		"$insn $insn" "of one thread, and the total"
	check "$hwpmc" stat --per-thread --csv -e instructions,branches:u,context-switches \
		-o out.csv -- sh -c "echo | '$VM_TOP/build/vm/progs/threads' 4 50; '$loop' 1000; :"
	for e in instructions branches:u context-switches; do adds_up $e; done
	for i in 1 2 3 4; do
		n=$(thread_count t$i branches:u)
		[ "$n" -ge $((i * 1000000)) ] && [ "$n" -lt $((i * 1000000 + 100000)) ] ||
			fail "branches of t$i: $n"
		[ "$(thread_count t$i context-switches)" -ge 25 ] ||
			fail "switches of t$i: $(thread_count t$i context-switches)"
	done
	# The busiest first.
	check_equal "$(awk -F, '$4 == "branches:u" && $3 ~ /^t[1-4]-/ { printf "%s ", substr($3, 1, 2) }' \
		out.csv)" "t4 t3 t2 t1 " order
}

stat_per_thread_of_a_process_has_threads_that_are_there() {
	begin_threads 3 0
	"$hwpmc" stat --per-thread --csv -p $threads -e branches:u -o out.csv -- sh -c \
		"echo >&8; while kill -0 $threads; do sleep 0.1; done" 2>/dev/null
	check_equal $? 0 status
	adds_up branches:u
	for i in 1 2 3; do
		n=$(awk -F, -v tid="t$i-$(sed -n ${i}p tids)" '$3 == tid { print $6 }' out.csv)
		[ "${n:-0}" -ge $((i * 1000000)) ] || fail "t$i: $n of: $(cat out.csv)"
	done
}

stat_of_threads_leaves_out_the_others() {
	begin_threads 3 0
	"$hwpmc" stat --json -t "$(sed -n 2p tids)" -e branches:u -o got -- sh -c \
		"echo >&8; while kill -0 $threads; do sleep 0.1; done" 2>/dev/null
	check_equal $? 0 status
	n=$(sed -n 's/.*"branches:u","status":"counted","count":\([0-9]*\).*/\1/p' got)
	[ "${n:-0}" -ge 2000000 ] && [ "$n" -lt 2100000 ] || fail "$(cat got)"
	# It ends with its threads, while their process goes on.
	begin_threads 2 0
	begin_stat --per-thread --csv -t "$(paste -sd, tids)" -e branches:u -o out.csv
	echo >&8
	check wait $stat
	adds_up branches:u
	check_equal "$(grep -c ',t[12]-' out.csv)" 2 "lines: $(cat out.csv)"
	"$hwpmc" stat -t 4194303 -- touch ran >got 2>&1
	check_equal $? 125 "status of no thread"
	[ -e ran ] && fail "the command ran"
	check grep -q 'thread 4194303: No such process' got
}

stat_per_thread_of_each_interval_adds_up() {
	check "$hwpmc" stat --per-thread --csv -I 20 -e instructions:u -o out.csv -- \
		"$loop" 30000000
	check_equal "$(awk -F, '$1 == "interval" { s[$3 != "all"] += $6; n++ }
		END { printf "%d %d %d", s[0], s[1], (n > 2) }' out.csv)" \
		"90000064 90000064 1" "sums of intervals"
	# What a thread that is never switched has counted is in each of them.
	check_equal "$(awk -F, '$1 == "interval" { n[$2, $3 != "all"] += $6; at[$2] }
		END { for (t in at) bad += n[t, 0] != n[t, 1]; print bad + 0 }' out.csv)" 0 \
		"intervals whose threads do not add up"
}

stat_per_thread_says_what_lost_records_had() {
	begin_threads 2 4000
	begin_stat --per-thread --ring-size 4 --json -p $threads -e branches:u -o got
	kill -STOP $stat
	until grep -q '^State:.T' /proc/$stat/status; do sleep 0.1; done
	echo >&8
	# It is not read meanwhile.
	wait $threads
	kill -CONT $stat
	wait $stat
	check_equal $? 0 "status of stat"
	check python3 -c '
import json
r = json.loads(open("got").read())
e = r["events"][0]
assert r["lost_records"] > 0, r
of = {t["comm"]: t["count"] for t in e["threads"]}
assert sum(of.values()) == e["count"], e
assert of["unknown"] > 0, e
assert e["count"] >= 3000000, e'
}

stat_per_thread_goes_with_what_it_can() {
	for o in -a "-r 2" --rotate --per-cpu; do
		# shellcheck disable=SC2086
		"$hwpmc" stat --per-thread $o -- touch ran >got 2>&1
		check_equal $? 2 "status with $o"
	done
	"$hwpmc" stat -t 1 -p 1 -- touch ran >got 2>&1
	check_equal $? 2 "status of -t with -p"
	[ -e ran ] && fail "the command ran"
	check "$hwpmc" stat --per-thread -x ';' -e branches:u -o got -- "$loop" 1000000
	check_equal "$(sed 's/^loop-[0-9]*;1000016;;branches:u;[0-9]*;100.00;;$/right/' got)" right line
	check "$hwpmc" stat --per-thread -M ipc -o got -- "$loop" 1000
	check grep -Eq 'loop-[0-9]+ +[01]\.[0-9]+ +ipc' got
}

wrong_options_end_with_2_and_point_to_help() {
	"$hwpmc" stat --no-such-option >got 2>&1
	check_equal $? 2 "status"
	check grep -q -- --help got
	"$hwpmc" no-such-command >got 2>&1
	check_equal $? 2 "status of an unknown command"
	check "$hwpmc" --help
	check "$hwpmc" --version
	check "$hwpmc" stat --help
}

harness_run
