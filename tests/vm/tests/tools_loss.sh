#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_loss - the host of a virtual machine takes counters while they count: the tools say
# first which events that concerns, and count the others.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
loop=$VM_TOP/build/vm/progs/loop
all=0xffffffffffffffff
long=1000000000	# some seconds, as the module looks once a second
taken='the host took the counter for some time, in which it did not count (row [0-9]*)'
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

stat_says_first_which_event_lost_its_counter() {
	"$hwpmc" stat -e instructions:u,page-faults -- "$knob" steal $all "$loop" $long 2>out
	check_equal $? 125 "status: $(cat out)"
	# The title and an empty line are above it.
	sed -n 4p out | grep -q "^ instructions:u is not counted: .*: $taken; measure again; on the host" ||
		fail "line 4: $(cat out)"
	grep -q "<not counted>  instructions:u *# $taken\$" out || fail "its row: $(cat out)"
	grep -q '^ *[1-9][0-9,]*  page-faults' out || fail "the other event: $(cat out)"
}

stat_with_a_lost_event_keeps_the_status_of_its_command() {
	"$hwpmc" stat -e instructions:u,page-faults -- sh -c '"$@"; exit 3' sh "$knob" steal $all \
		"$loop" $long 2>out
	check_equal $? 3 "status: $(cat out)"
	grep -q '^ instructions:u is not counted: ' out || fail "no loss: $(cat out)"
}

stat_in_other_forms_says_which_event_lost_its_counter() {
	"$hwpmc" stat --json -o json -e instructions:u,page-faults -- "$knob" steal $all \
		"$loop" $long 2>out
	check_equal $? 125 "status: $(cat out)"
	grep -q "instructions:u: .*$taken" out || fail "no message: $(cat out)"
	python3 -c '
import json
e = {e["event"]: e for e in json.load(open("json"))["events"]}
assert e["instructions:u"]["status"] == "not-counted", e
assert "the host took the counter" in e["instructions:u"]["why"], e
assert e["page-faults"]["status"] == "counted", e
' || fail "$(cat json)"
}

report_says_first_which_samples_are_missing() {
	"$hwpmc" record -a -e instructions -c 1000003 -o log -- "$knob" steal $all \
		"$loop" $long 2>out
	grep -q "$taken" out || fail "record: $(cat out)"
	"$hwpmc" report -i log --stdio >report 2>out || fail "report: $(cat out)"
	grep -q "^# samples may be missing on [12] CPUs* from [0-9.]* s to .* of the log: $taken\$" report ||
		fail "report: $(head -n 8 report)"
	"$hwpmc" dump -i log --type loss >dump 2>out || fail "dump: $(cat out)"
	head -n 1 dump | grep -q "loss: CPU [01] may lack events of instructions since [0-9.]*: $taken\$" ||
		fail "dump: $(cat dump)"
}

top_says_in_each_round_which_samples_are_missing() {
	"$hwpmc" top --batch --kallsyms /dev/null -a -d 1 -e instructions,page-faults -c 1000003 -- \
		"$knob" steal $all "$loop" $long >rounds 2>out || fail "top: $(cat out)"
	awk '/^# round/ { event = $4 }
		/^# samples may be missing on [12] CPUs?(, counting again)?: the host took the counter / { n[event]++ }
		END { exit !(n["instructions,"] && !n["page-faults,"]) }' rounds ||
		fail "rounds: $(grep '^#' rounds)"
	"$VM_TOP/tests/harness/screen.py" "$hwpmc" top --kallsyms /dev/null -a -d 1 -e instructions \
		-c 1000003 -- "$knob" steal $all "$loop" $long <<-END || fail "screen: $?"
		see ^samples may be missing on [12] CPUs?.*: the host took the counter
		see \[ended\]
		keys q
		end
	END
}

harness_run
