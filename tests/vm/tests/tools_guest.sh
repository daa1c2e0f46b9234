#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_guest - where a host gives fewer counters at a time than it lists, plain hwpmc stat
# counts right or says which event it does not count, and why.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
[ -e /dev/hwpmc ] || insmod "$ko"

guest_stat_counts_right_or_says_why_not() {
	check "$hwpmc" stat -- "$loop" 1000000 2>out
	cat out
	for event in cycles instructions branches branch-misses cache-references cache-misses; do
		grep -q "$event" out || fail "nothing of $event: $(cat out)"
		grep -E "^ *0 +$event" out && fail "0 $event: $(cat out)"
	done
	grep -q 'fewer counters at a time than it lists' out || fail "no reason: $(cat out)"
	check "$hwpmc" stat --csv -e instructions:u -- "$loop" 1000000 2>out
	check_equal "$(awk -F, '$4 == "instructions:u" { print $6 }' out)" 3000057 "instructions"
}

guest_stat_rotates_what_does_not_fit() {
	check "$hwpmc" stat --rotate -- "$loop" 100000000 2>out
	grep -E "^ *0 +(cycles|instructions|branches|cache-references)" out && fail "0: $(cat out)"
	for event in cycles instructions branches branch-misses cache-references cache-misses; do
		grep -q "$event" out || fail "nothing of $event: $(cat out)"
	done
}

guest_selftest_holds_and_shows_how_many_it_gives() {
	"$hwpmc" selftest >got 2>&1
	check_equal $? 0 "status: $(cat got)"
	grep -q 'measured .*fewer counters at a time than it lists (at most' got || fail "$(cat got)"
}

harness_run
