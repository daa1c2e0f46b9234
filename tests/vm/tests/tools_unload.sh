#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_unload - the module goes when it is told to, and not before.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
hwpmc=$VM_TOP/build/tools/hwpmc

is_loaded() {
	grep -q '^hwpmc ' /proc/modules
}

# A program that has the device open, and does nothing with it.
keep_open() {
	sleep 1000 3</dev/hwpmc &
	await grep -qsx sleep "/proc/$!/comm"
}

rmmod_is_refused_while_the_device_is_open() {
	is_loaded || check insmod "$ko"
	keep_open
	rmmod hwpmc 2>err && fail "rmmod took it away"
	grep -qi 'in use\|busy' err || fail "said: $(cat err)"
	kill $!
}

unload_ends_those_who_count_and_takes_the_module_away() {
	is_loaded || check insmod "$ko"
	# The command runs when all counts.
	# Not the default events: they can be as many as there are counters.
	"$hwpmc" stat -a -e instructions -- sleep 1000 >out 2>&1 &
	stat=$!
	await pgrep -P $stat -x sleep
	"$hwpmc" record -q -a -o log -- sleep 1000 >out2 2>&1 &
	record=$!
	await pgrep -P $record -x sleep
	commands="$(pgrep -P $stat -x sleep) $(pgrep -P $record -x sleep)"
	check "$hwpmc" unload
	is_loaded && fail "the module is still there"
	status=0
	wait $stat || status=$?
	check_equal $status 125 "status of stat, whose command runs on"
	wait $record && fail "record went on"
	# What they counted goes on.
	check kill $commands
	"$hwpmc" unload 2>err && fail "unloaded twice"
	grep -q 'module is not loaded' err || fail "said: $(cat err)"
}

unload_says_who_keeps_the_device_open() {
	is_loaded || check insmod "$ko"
	# It ignores the signal, and has nothing to be told of.
	keep_open
	"$hwpmc" unload -w 0 2>err && fail "unloaded under an open device"
	grep -q "still open in process .*$!" err || fail "said: $(cat err)"
	kill $!
	wait $!
	check "$hwpmc" unload
	is_loaded && fail "the module is still there"
	true
}

counting_works_after_the_module_came_back() {
	for life in first second; do
		check insmod "$ko"
		"$hwpmc" stat -e instructions:u -- true >out 2>&1 ||
			fail "in its $life life: $(cat out)"
		check "$hwpmc" unload
	done
}

harness_run
