#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_kinds - the commands where CPUs are of several kinds (CPU 0 a performance core, CPU 2
# an efficient one), and perf beside them: it counts the same of each kind, and is kept out
# while the module has the counters, and the module while perf has them.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

# `loop 1000000` executes so many in user mode, by its source.
insn=3000057
each=cpu_core/instructions/u,cpu_atom/instructions/u

# counts FILE: the counts of a text report, in its order
counts() { sed -n 's/^ *\([0-9][0-9,]*\)  cpu_.*/\1/p' "$1" | tr -d , | tr '\n' ' '; }

stat_counts_each_kind_alone_and_all_in_one() {
	for cpu in 0 2; do
		check taskset -c $cpu "$hwpmc" stat -e $each,instructions:u -o got -- \
			"$loop" 1000000
		[ $cpu = 0 ] && want="$insn 0 " || want="0 $insn "
		check_equal "$(counts got)" "$want" "counts of each kind on CPU $cpu"
		check grep -q '^ *3,000,057  instructions:u' got
	done
}

stat_says_what_ran_elsewhere() {
	check taskset -c 2 "$hwpmc" stat -e $each -o got -- "$loop" 1000000
	check grep -Eq '^ cpu_core/instructions/u: counted on cpu_core only: [0-9.]+ ms in [1-9][0-9]* slices? ran elsewhere$' got
	check grep -q '^ cpu_atom/instructions/u: counted on cpu_atom only: 0.000 ms in 0 slices ran elsewhere$' got
	check taskset -c 2 "$hwpmc" stat --json -e $each -o got -- "$loop" 1000000
	check_equal "$(python3 -c '
import json
for line in open("got"):
    for e in json.loads(line).get("events", []):
        print(e["event"], e["kind"], e["uncounted_ns"] > 0, e["uncounted_slices"] > 0)
')" "cpu_core/instructions/u cpu_core True True
cpu_atom/instructions/u cpu_atom False False" "what ran elsewhere, as JSON"
	taskset -c 2 "$hwpmc" stat --csv -e $each -o got -- "$loop" 1000000 2>said ||
		fail "stat --csv: $(cat said)"
	check grep -q 'cpu_core/instructions/u: counted on cpu_core only' said
}

# sum FILE NAME: the count of this line
line() { sed -n "s|^ *\([0-9][0-9,]*\)  $2\( .*\)\{0,1\}\$|\1|p" "$1" | tr -d ,; }

stat_per_type_counts_each_kind_and_adds_up() {
	for cpu in 0 2; do
		check taskset -c $cpu "$hwpmc" stat --per-type -e instructions:u -o got -- \
			"$loop" 1000000
		[ $cpu = 0 ] && want="$insn 0 " || want="0 $insn "
		check_equal "$(counts got)" "$want" "counts of each kind on CPU $cpu"
		check_equal "$(line got instructions:u)" $insn "the sum"
	done
	check taskset -c 2 "$hwpmc" stat --per-type --json -e instructions:u -o got -- \
		"$loop" 1000000
	check_equal "$(python3 -c '
import json
e = json.loads(open("got").read())["events"]
print(len(e), *e[2]["sum_of"], e[2]["count"] == e[0]["count"] + e[1]["count"])
')" "3 cpu_core/instructions/u cpu_atom/instructions/u True" "as JSON"
}

# The first thread goes from one kind to the other, those of `loop` each stay on one.
stat_per_thread_of_each_kind_adds_up() {
	# shellcheck disable=SC2016
	check "$hwpmc" stat --per-type --per-thread --json -e instructions:u -o got -- sh -c '
		spin() { i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done; }
		taskset -c 0 "$0" 1000000 &
		taskset -c 2 "$0" 2000000 &
		taskset -p -c 0 $$ >pinned && spin
		taskset -p -c 2 $$ >pinned && spin
		wait' "$loop"
	check_equal "$(python3 -c '
import json
r = json.loads(open("got").read())
core, atom, both = r["events"]
n = [{t["tid"]: t["count"] for t in e["threads"]} for e in r["events"]]
print(len(r["events"]), *both["sum_of"], r.get("lost_records", 0))
print([sum(of.values()) == e["count"] for of, e in zip(n, r["events"])])
print(core["count"] + atom["count"] == both["count"])
print(all(n[2][t] == n[0].get(t, 0) + n[1].get(t, 0) for t in n[2]))
name = {t["tid"]: t["comm"] for t in both["threads"]}
loops = sorted((t for t in name if name[t] == "loop"), key=lambda t: n[2][t])
print(n[0][loops[0]] >= 3000057, n[1][loops[1]] >= 6000057)
print(any(name[t] == "sh" and n[0][t] > 500000 and n[1][t] > 500000 for t in name))
')" "3 cpu_core/instructions/u cpu_atom/instructions/u 0
[True, True, True]
True
True
True True
True" "by kind and thread: $(cat got)"
}

# The emulated PMU counts half of the branches by the code of the one kind, a quarter by that of
# the other, of all that its CPU has executed. So the part of each slice is rounded, up or down.
a_name_with_another_code_on_each_kind_is_counted_by_each_and_added_up() {
	for cpu in 0 2; do
		check taskset -c $cpu "$hwpmc" stat --no-big-num -o got \
			-e BR_INST_RETIRED.COND:u,branches:u,context_switch -- "$loop" 1000000
		part=$(line got BR_INST_RETIRED.COND:u) all=$(line got branches:u)
		slices=$(($(line got context_switch) + 1))
		[ $cpu = 0 ] && n=2 || n=4
		[ $cpu = 0 ] && want="$part 0 " || want="0 $part "
		check_equal "$(counts got)" "$want" "counts of each kind on CPU $cpu"
		check [ $all -ge 1000012 ]
		off=$((n * part - all))
		check [ ${off#-} -lt $((n * slices)) ]
	done
}

in_system_scope_a_name_has_the_code_of_each_cpus_kind() {
	check "$hwpmc" stat -C 0,2 --per-cpu --csv -e branches:u,BR_INST_RETIRED.COND:u -o got -- \
		sh -c "taskset -c 0 $loop 100000; taskset -c 2 $loop 100000"
	check_equal "$(python3 -c '
import csv
n = {(r["cpu"], r["event"]): int(r["count"]) for r in csv.DictReader(open("got"))
     if r["unit"] == "events"}
for cpu, kind, part in ("0", "core", 2), ("2", "atom", 4):
    cond = n[cpu, f"cpu_{kind}/BR_INST_RETIRED.COND/u"]
    print(abs(cond - n[cpu, "branches:u"] // part) <= 1, n[cpu, "BR_INST_RETIRED.COND:u"] == cond)
')" "True True
True True" "each CPU by its code: $(cat got)"
}

list_and_control_say_the_kinds() {
	"$hwpmc" list br_inst_retired.cond >got || fail "list: $?"
	check grep -Eq '^  BR_INST_RETIRED.COND +cpu_core' got
	check grep -Eq '^  BR_INST_RETIRED.COND +cpu_atom' got
	"$hwpmc" control >got
	check grep -q '^kinds    cpu_core: CPUs 0-1$' got
	check grep -q '^         cpu_atom: CPUs 2-3$' got
}

an_event_that_one_kind_has_is_counted_there() {
	check taskset -c 2 "$hwpmc" stat -e MEM_INST_RETIRED.ALL_LOADS:u -o got -- "$loop" 1000
	check grep -q '^ *0  cpu_core/MEM_INST_RETIRED.ALL_LOADS/u' got
	check grep -q ' cpu_core/MEM_INST_RETIRED.ALL_LOADS/u: counted on cpu_core only' got
	check_equal "$(grep -c 'ALL_LOADS:u' got)" 0 "sums"
	check "$hwpmc" stat -e TOPDOWN.SLOTS_P:u -o got -- "$loop" 1000
}

an_event_of_one_kind_is_refused_with_the_remedy() {
	"$hwpmc" stat -e r81d0:u -- "$loop" 1000 >got 2>&1
	check_equal $? 125 "status"
	check grep -q 'cpu_core/EVENT/' got
	check "$hwpmc" stat -e cpu_atom/r81d0/u,cpu_core/event=0xd0,umask=0x81/u -o got -- \
		"$loop" 1000
	"$hwpmc" stat -e cpu_lowpower/instructions/u -- "$loop" 1000 >got 2>&1
	check_equal $? 125 "status of a kind that is not here"
	check grep -q 'no cores of that kind' got
	"$hwpmc" stat -e cpu_core/instructions -- "$loop" 1000 >got 2>&1
	check_equal $? 125 "status without the second slash"
}

in_system_scope_an_event_is_refused_on_cpus_of_another_kind() {
	"$hwpmc" stat -C 2 -e cpu_core/instructions/u -- true >got 2>&1
	check_equal $? 125 "status"
	check grep -q 'core of another kind' got
	check "$hwpmc" stat -C 2 -e cpu_atom/instructions/u -- true
}

record_samples_one_kind_and_says_what_ran_elsewhere() {
	# The emulator's NMIs take long: on a busy host sampling would be paused.
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	taskset -c 2 "$hwpmc" record -c 10000 -e cpu_core/instructions/u -o log -- \
		"$loop" 1000000 2>said || fail "record: $(cat said)"
	check grep -q 'cpu_core/instructions/u: counted on cpu_core only' said
	taskset -c 0 "$hwpmc" record -c 10000 -e $each -o log -- \
		sh -c "$loop 100000; taskset -c 2 $loop 100000" 2>said || fail "record: $(cat said)"
	"$hwpmc" report -i log >got || fail "report: $?"
	for kind in cpu_core cpu_atom; do
		check grep -Eq "^# counted on $kind only: [0-9.]+ ms in [1-9][0-9]* slices? ran elsewhere\$" got
	done
	check taskset -c 2 "$hwpmc" record -c 10000 -e cpu_atom/instructions/u -o log -- \
		"$loop" 1000000
	check_equal "$("$hwpmc" dump -i log --type sample | wc -l)" 300 \
		"samples, a period each 10,000 instructions"
	echo 50 >/proc/sys/kern/hwpmc/selfcost
}

# The kind of each sample, by its CPU: what was recorded on both, in each form of a log.
samples_say_the_kind_of_core() {
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	both="$loop 1000000; taskset -c 2 $loop 500000"
	check taskset -c 0 "$hwpmc" record -q -c 10000 -e instructions:u -o log -- sh -c "$both"
	check taskset -c 0 "$VM_TOP/build/tools/pmcstat" -d -n 10000 -P instructions:u -O log2 -- \
		sh -c "$both"
	for log in log log2; do
		"$hwpmc" report -i $log --csv -s kind,process --comm loop >got
		sed -n 's/^[^,]*,\([0-9]*\),[^,]*,cpu_\(.*\),loop$/\2 \1/p' got | sort >counts
		# A period may lie across two programs.
		awk '{ n[$1] = $2 } END { exit !(n["core"] >= 299 && n["core"] <= 301 &&
			n["atom"] >= 149 && n["atom"] <= 151) }' counts || fail "$log: $(cat got)"
		check_equal "$("$hwpmc" dump -i $log --type cpu-kind | sed 's/.* cpu-kind //' | sort |
			tr '\n' ' ')" "0 cpu_core 1 cpu_core 2 cpu_atom 3 cpu_atom " "records of $log"
	done
	"$hwpmc" report -i log >got
	check grep -Eq '^# samples: [0-9]+ on cpu_core, [0-9]+ on cpu_atom$' got
	check_equal "$("$hwpmc" dump -i log --json --type sample | python3 -c '
import json, sys
print(sorted({(s["cpu"], s["kind"]) for s in map(json.loads, sys.stdin)}))
')" "[(0, 'cpu_core'), (2, 'cpu_atom')]" "kinds of samples as JSON"
	# What is written anew keeps them.
	check "$hwpmc" filter -i log -o less --comm loop
	check "$hwpmc" merge -o more log log
	for log in less more; do
		"$hwpmc" report -i $log >got
		check grep -Eq '^# samples: [0-9]+ on cpu_core, [0-9]+ on cpu_atom$' got
	done
	echo 50 >/proc/sys/kern/hwpmc/selfcost
}

top_says_the_kinds_and_what_ran_elsewhere() {
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	both="$loop 1000000; taskset -c 2 $loop 500000"
	taskset -c 0 "$hwpmc" top --batch --kallsyms /dev/null -z -n 1 -d 20 -s kind -c 10000 \
		-e instructions:u,cpu_core/instructions/u -- sh -c "$both" >got 2>said ||
		fail "status $?: $(cat got said)"
	check grep -Eq '^# round 1: instructions:u,.*, [0-9]+ on cpu_core, [0-9]+ on cpu_atom$' got
	check grep -Eq '^# round 1: cpu_core/instructions/u,.*, [0-9]+ on cpu_core, counted on cpu_core only: [0-9.]+ ms in [1-9][0-9]* slices ran elsewhere$' got
	check grep -Eq '^ *[0-9.]+% +[0-9]+  cpu_atom ' got
	# Each kind's samples are those of its line.
	awk '/^# round/ { for (i in w) w[i] = 0; for (i = 1; i < NF; i++) if ($(i + 1) == "on") {
			k = $(i + 2); sub(",", "", k); want[k] += $i } }
		/^ *[0-9.]+%/ { got[$3] += $2 }
		END { for (k in want) if (want[k] != got[k]) bad = 1
			exit bad || !(want["cpu_core"] && want["cpu_atom"]) }' got || fail "$(cat got)"
	echo 50 >/proc/sys/kern/hwpmc/selfcost
}

# Where the kernel's perf knows the model, it has a PMU for each kind. Else it counts
# architectural events by one, if at all.
perf_kinds() { [ -d /sys/bus/event_source/devices/cpu_core ]; }

perf_counts_the_same_of_each_kind() {
	for cpu in 0 2; do
		if ! perf_kinds; then
			taskset -c $cpu perf stat -x, -o perf.out -e instructions:u "$loop" 1000000
			check_equal "$(sed -n 's/^\([0-9]*\),.*/\1/p' perf.out)" $insn "perf on CPU $cpu"
			continue
		fi
		taskset -c $cpu perf stat -x, -o perf.out -e $each "$loop" 1000000
		check taskset -c $cpu "$hwpmc" stat -e $each -o got -- "$loop" 1000000
		check_equal "$(sed -n 's/^\([0-9]*\|<not counted>\),.*/\1/p' perf.out |
			sed 's/<.*/0/' | tr '\n' ' ')" "$(counts got)" "counts on CPU $cpu"
	done
}

perf_and_the_module_keep_each_other_out() {
	perf_kinds && event=cpu_core/instructions/u || event=instructions:u
	"$hwpmc" stat -e instructions:u -o mine -- sh -c \
		"perf stat -x, -e $event true 2>&1" >got 2>&1
	check grep -Eq 'busy|not supported|not counted' got
	check_equal "$(grep -Ec '^[1-9][0-9]*,' got)" 0 "counts of perf: $(cat got)"
	perf stat -o theirs -e $event -- \
		"$hwpmc" stat -e cpu_atom/instructions/u -- true >got 2>&1
	check grep -q 'perf' got
	check grep -q 'instructions' theirs
	check "$hwpmc" stat -e $each -o got -- "$loop" 1000
}

harness_run
