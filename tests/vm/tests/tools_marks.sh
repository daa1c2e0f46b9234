#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_marks - hwpmc stat --markers: the marks of build/vm/progs/marks have known numbers of
# instructions.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
marks=$VM_TOP/build/vm/progs/marks
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
sysctl -q kernel.nmi_watchdog=0

# marked ARGUMENT...: counts of `marks ARGUMENT...`, a line a mark: name values min median max
# begun dropped misused. Those that were dropped, as the thread was switched in a read, are values.
marked() {
	arguments=$*
	"$hwpmc" stat --markers --csv -e instructions:u -o csv -- "$marks" "$@" >out 2>&1 ||
		[ "$1" = kill ] || fail "status $?: $(cat out csv)"
	sed -n 's/^mark,[0-9]*,[^,]*,instructions:u,counted,\([0-9]*\),values,,1,,,,\([^,]*\),[0-9]*,\(.*\)/\2 \1 \3/p' \
		csv | tr ',' ' ' | sort >lines
}

# is NAME BEGUN VALUE: that many times, each of that value, but for a few that have none. The program
# runs again, four times at most, where no mark of the name has a value.
is() {
	for _ in 1 2 3 4; do
		grep -q "^$1 0 " lines || break
		# shellcheck disable=SC2086
		marked $arguments
	done
	read -r _ values min median max begun dropped misused <<-END
	$(grep "^$1 " lines)
	END
	[ "${values:-0}" -gt 0 ] || fail "no value of mark '$1': $(cat lines out)"
	[ "$begun" = "$2" ] || fail "$1: begun $begun times, not $2: $(cat lines)"
	[ $((values + dropped)) = "$begun" ] && [ "$dropped" -le $((2 + begun / 50)) ] ||
		fail "$1: $values values, $dropped dropped of $begun"
	[ "$min" = "$3" ] && [ "$max" = "$3" ] && [ "$median" = "$3" ] ||
		fail "$1: from $min to $max, not $3: $(cat lines)"
	[ "$misused" = 0 ] || fail "$1: misused $misused"
}

# has NAME VALUES BEGUN MISUSED
has() {
	read -r _ values min median max begun dropped misused <<-END
	$(grep "^$1 " lines)
	END
	[ $((${values:-0} + ${dropped:-0})) = "$2" ] && [ "$begun" = "$3" ] && [ "$misused" = "$4" ] ||
		fail "$1: $values values, $dropped dropped, $begun begun, $misused misused: $(cat lines)"
}

marks_of_known_instructions_are_exact() {
	marked exact
	is ten 100 10
	is empty 100 0
}

marks_by_functions_are_the_same_each_time() {
	marked functions
	read -r _ values min median max begun _ <lines
	# The first end is linked when it is called.
	[ "$begun" = 100 ] && [ "$values" -ge 95 ] && [ "$min" = "$median" ] && [ "$min" -ge 10 ] &&
		[ "$min" -le 40 ] && [ "$max" -le 5000 ] || fail "$(cat lines)"
}

marks_within_marks_count_each() {
	marked nested recursive
	is inner 20 10
	has outer 20 20 0
	has recursive 4 4 0
	read -r _ values min _ max _ <<-END
	$(grep '^recursive ' lines)
	END
	# The innermost has ten instructions and a test, the others those of all within.
	[ "$min" -ge 10 ] && [ "$min" -le 14 ] || [ "$values" -lt 4 ] || fail "recursive: least $min"
	[ "$max" -gt 40 ] || fail "recursive: most $max"
}

marks_that_are_left_have_no_value() {
	marked left
	has around 200 200 0
	has jumped 0 200 0
	has returned 0 328 0
	is after 200 10
	is later 10 10
	# The outer ones end at their own end, whatever was left in them.
	read -r _ _ _ _ max _ <<-END
	$(grep '^around ' lines)
	END
	[ "$max" -lt 100000 ] || fail "around: $max instructions"
	has again 1 3 0
}

marks_that_end_without_a_begin_are_misuse() {
	marked misused
	has misused 0 0 3
	is ten 1 10
}

marks_beyond_the_depth_are_dropped() {
	marked deep
	read -r _ values min median max begun dropped misused <<-END
	$(grep '^deep ' lines)
	END
	[ "$begun" = 74 ] && [ "$misused" = 0 ] && [ "$dropped" -ge 10 ] && [ $((values + dropped)) = 74 ] ||
		fail "$(cat lines)"
	is ten 1 10
}

marks_of_threads_are_counted_in_each() {
	marked threads
	is ten 10 10
	has open 0 4 0
	"$hwpmc" stat --markers --per-thread --csv -e instructions:u -o csv -- "$marks" threads \
		>out 2>&1 || fail "$(cat out)"
	check_equal "$(awk -F, 'NR == 1 { n = NF } NF != n' csv)" "" "lines of another shape"
	grep '^mark,.*,ten,' csv | cut -d, -f3,6 >each
	check_equal "$(wc -l <each)" 4 "threads with marks"
	check_equal "$(cut -d, -f1 each | sort -u | wc -l)" 4 "different threads"
}

marks_of_forked_children_are_their_own() {
	marked fork
	is ten 5 10
	is child 7 10
	has open 1 1 1
}

marks_go_on_in_the_program_that_is_executed() {
	marked exec
	is before 1 10
	has executes 0 1 0
	is ten 100 10
}

marks_outlive_the_program_however_it_ends() {
	marked exit
	is ten 1 10
	has open 0 1 0
	marked kill
	is ten 1 10
	has open 0 1 0
}

marks_have_a_median_of_many_values() {
	marked many
	is ten 5000 10
}

marks_of_signal_handlers_and_destructors_harm_nothing() {
	marked signals
	has interrupted 2 2 0
	is handler 2 10
	is ten 1 10
}

marks_of_a_handler_on_another_stack_leave_no_others() {
	marked altstack
	has interrupted 1 1 0
	is handler 1 10
}

marks_in_a_child_close_no_reused_descriptor() {
	marked reused
	is ten 1 10
}

marks_of_several_events_are_counted_at_once() {
	"$hwpmc" stat --markers --json -e instructions:u,branches:u -o json -- "$marks" exact \
		>out 2>&1 || fail "$(cat out)"
	/usr/bin/python3 - <<-'END' || fail "$(cat json)"
	import json
	marks = {(m["mark"], m["event"]): m for m in json.load(open("json"))["marks"]}
	assert len(marks) == 4, marks
	for name, value in (("ten", 10), ("empty", 0)):
	    m = marks[name, "instructions:u"]
	    assert m["min"] == m["max"] == m["median"] == value, m
	    assert m["values"] + m["dropped"] == m["begun"] == 100, m
	    m = marks[name, "branches:u"]
	    assert m["min"] == m["max"] == m["median"] == 0, m
	END
}

marks_are_printed_as_a_table() {
	"$hwpmc" stat --markers -e instructions:u -o text -- "$marks" exact misused exit >out 2>&1 ||
		fail "$(cat out)"
	grep -q '^ mark  *event  *values  *sum  *min  *median  *max$' text || fail "$(cat text)"
	grep -Eq '^ ten +instructions:u +[0-9]+ +1,0[0-9]0 +10 +10 +10$' text || fail "$(cat text)"
	grep -q '^ 1 marks were begun and have no value' text || fail "$(cat text)"
	grep -q '^ 3 marks ended without a begin' text || fail "$(cat text)"
}

marks_of_an_event_given_twice_are_noted_once() {
	"$hwpmc" stat --markers -e instructions:u,instructions:u -o text -- "$marks" misused exit \
		>out 2>&1 || fail "$(cat out)"
	grep -q '^ 1 marks were begun and have no value' text || fail "$(cat text)"
	grep -q '^ 3 marks ended without a begin' text || fail "$(cat text)"
}

marks_beyond_the_limit_of_files_are_refused_in_a_line() {
	status=0
	(ulimit -f 1000; exec "$hwpmc" stat --markers -e instructions:u -- true) >out 2>&1 || status=$?
	check_equal "$status" 125 "status"
	check_equal "$(wc -l <out)" 1 "lines"
	grep -q 'cannot make the memory of marks: .*; raise the limit (ulimit -f)' out || fail "$(cat out)"
}

# The program cannot map the memory, or may not open it, and counts nothing.
marks_of_programs_that_cannot_listen_have_a_reason() {
	"$hwpmc" stat --markers -e instructions:u -o text -- sh -c "ulimit -v 200000; $marks exact" \
		>out 2>&1 || fail "$(cat out)"
	grep -q 'or it ran as another user, in another PID namespace or with too little memory' text ||
		fail "$(cat text)"
}

marks_that_cannot_be_counted_say_why() {
	"$hwpmc" stat --markers -e page-faults -o text -- "$marks" exact >out 2>&1 || fail "$(cat out)"
	grep -q 'a program could not count its marks: cannot ' text || fail "$(cat text)"
	"$hwpmc" stat --markers -e instructions:u -o text -- true >out 2>&1 || fail "$(cat out)"
	grep -q 'no program with marks' text || fail "$(cat text)"
	"$hwpmc" stat --markers -- true >out 2>&1 && fail "without events"
	grep -q -- '--markers needs' out || fail "$(cat out)"
}

marks_without_a_listener_cost_no_counter() {
	"$hwpmc" stat --json -e instructions:u -o json -- "$marks" many many many many >out 2>&1 ||
		fail "$(cat out)"
	n=$(sed -n 's/.*"count":\([0-9]*\).*/\1/p' json)
	# Twenty thousand marks: some instructions each, and the start of the program.
	[ "$n" -lt 2000000 ] || fail "$n instructions"
	env HWPMC_MARKS=/proc/1/fd/0 "$marks" exact || fail "with a listener that is none: $?"
	env HWPMC_MARKS=/proc/self/fd/0 "$marks" exact </etc/passwd || fail "with a file: $?"
}

harness_run
