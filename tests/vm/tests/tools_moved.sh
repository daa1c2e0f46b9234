#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_moved - names and call chains of code that is moved, or put over that of a file, or runs
# in a process whose first thread has ended. Each has its right name, or none and the reason;
# never that of another function.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
named=$VM_TOP/build/vm/progs/named-a
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# The kind of each process, its function ("-": none), and how its chains are: complete, or
# with the reason.
kinds() {
	cat <<-'END'
	moved of_moved no-table
	grown of_grown no-table
	stale - no-table
	over work_of_a complete
	all work_of_a complete
	fixed work_of_a complete
	late work_of_a complete
	forked work_of_a complete
	other - no-table
	END
}

# Samples of a function in the process; of all functions if it is "".
samples_of() {
	awk -F, -v p="$1" -v s="$2" \
		'$(NF - 1) == p && (s == "" || $NF == s) { n += $2 } END { print n + 0 }' out.csv
}

# The loop is nearly all of the process.
check_kind() { # KIND FUNCTION
	want=$2
	[ "$want" != "-" ] || want="[unknown]"
	n=$(samples_of "$1" "$want")
	[ "$n" -ge 90 ] || wrong="$wrong $1: $n samples in $want, of $(samples_of "$1" '');"
	for other in work_of_a of_moved of_grown; do
		[ "$other" = "$want" ] || [ "$(samples_of "$1" $other)" = 0 ] ||
			wrong="$wrong $1: samples in $other;"
	done
}

check_kinds() {
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm,symbol -o out.csv
	wrong=
	for row in $(kinds | tr ' ' /); do
		name=${row%%/*} row=${row#*/}
		check_kind "$name" "${row%%/*}"
	done
	[ ! "$wrong" ] || fail "$wrong"
	check "$hwpmc" report -i log --kallsyms /dev/null -o out.txt
	check grep -q 'doubtful symbols of .*named-a (.*part of its code ran in anonymous memory' out.txt
	check grep -q 'no symbols of //anon (.*perf-PID.map' out.txt
}

# perf has no name for "moved", "grown" and "fixed", and the wrong one, work_of_a, for "stale" and
# "other": it does not hear of mremap().
names_of_code_that_is_moved_or_replaced() {
	kinds | cut -d' ' -f1 >names
	check "$hwpmc" record -q -e instructions:u -c 40000 -o log -- sh -c '
		while read -r name; do timeout -s KILL 4 "$0" $name $name & done <names; wait' "$named"
	check_kinds
}

# Other mappings of the program are few.
mremap_that_changes_nothing_writes_no_mapping() {
	"$hwpmc" record -e instructions:u -c 40000 -d 2 -o log -- "$named" noop noop >out 2>said
	[ -e log ] || fail "status $?: $(cat said)"
	check "$hwpmc" dump -i log --type map-in -o out.txt
	n=$(grep -c //anon out.txt) || true
	[ "$n" -ge 1 ] && [ "$n" -lt 50 ] || fail "$n mappings of anonymous code: $(cat said; head -n 3 out.txt)"
}

# The tables of the program are there before it runs. perf copies stacks and needs none.
chains_of_code_that_was_replaced_are_complete() {
	for kind in over all fixed late forked; do
		"$hwpmc" record --call-graph=tables --unwind-cache="$PWD/cache" -e instructions:u \
			-c 40000 -d 2 -o log -- "$named" $kind $kind >out 2>said
		grep -Eq '^(100.0|9[0-9].[0-9]) % of [0-9]+ call chains complete' said ||
			fail "$kind: status $?: $(cat said)"
	done
	pgrep -x forked | xargs kill
	"$hwpmc" record --call-graph=tables --unwind-cache="$PWD/cache" -e instructions:u -c 40000 \
		-d 2 -o log -- "$named" other other >out 2>said
	check grep -Eq 'call chains complete; [0-9]+ end early: no unwind table' said
}

# start KIND: a process of this kind that works again and again; its number is $pid.
start() {
	"$named" "$1" "$1" again >/dev/null &
	pid=$!
	await pgrep -x "$1" >/dev/null
	sleep 1
}

# The mappings are those that the recording finds. perf lists those of /proc.
a_process_that_has_replaced_its_code_is_named() {
	for kind in over all fixed late; do
		start $kind
		"$hwpmc" record --call-graph=tables -e instructions:u -c 40000 -p $pid -d 2 \
			-o log >out 2>said || fail "$kind: $(cat said)"
		kill $pid
		grep -Eq '^(100.0|9[0-9].[0-9]) % of [0-9]+ call chains complete' said ||
			fail "$kind: $(cat said)"
		check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm,symbol -o out.csv
		[ "$(samples_of $kind work_of_a)" -ge 50 ] || fail "$kind: $(cat out.csv)"
	done
}

# perf gives it the name work_of_a.
a_process_that_has_put_other_code_over_its_own_is_not_named() {
	start other
	"$hwpmc" record -q -e instructions:u -c 40000 -p $pid -d 2 -o log >out 2>said ||
		fail "$(cat said)"
	kill $pid
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm,symbol -o out.csv
	check_equal "$(samples_of other work_of_a)" 0 "samples in work_of_a"
	[ "$(samples_of other "[unknown]")" -ge 50 ] || fail "$(cat out.csv)"
}

# perf names it, too.
a_process_whose_first_thread_has_ended_is_named() {
	start leader
	"$hwpmc" record --call-graph=tables -e instructions:u -c 40000 -p $pid -d 2 \
		-o log >out 2>said || fail "$(cat said)"
	"$hwpmc" top --batch -p $pid --delay 1 -n 2 -e instructions:u -c 40000 >top 2>&1 ||
		fail "top: $(cat top)"
	kill -9 $pid
	check grep -Eq '^(100.0|9[0-9].[0-9]) % of [0-9]+ call chains complete' said
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm,symbol -o out.csv
	[ "$(samples_of leader work_of_a)" -ge 50 ] || fail "$(cat out.csv)"
	check grep -q work_of_a top
}

harness_run
