#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_fleet - hwpmc record --every into a directory with a limit, and hwpmc metrics, as
# services run them. What hwpmc push does with the directory is in tests/export/push.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

of() { sed -n "s/^$1 //p" "$2/account"; }
logs_in() { find "$1" -name '*.log' | wc -l; }
samples_in() { "$hwpmc" report -i "$1" --csv -s process | awk -F, '{ n += $2 } END { print n + 0 }'; }

# What was begun is somewhere.
account_is_even() {
	n=0
	for key in failed pushed refused empty dropped; do
		n=$((n + $(of $key "$1")))
	done
	check_equal "$(of begun "$1")" $((n + $(logs_in "$1"))) "account of $1: $(cat "$1/account")"
}

busy() {
	"$loop" 1000000000000 &
	busy_pid=$!
}

record_every_writes_a_log_each_time_and_holds_nothing_between() {
	busy
	"$hwpmc" record --every 1500ms --for 300ms -a -e instructions -c 20011 -o logs 2>err &
	pid=$!
	await [ -e logs/0000000003.log ]
	# Between two recordings the counters are nobody's.
	await sh -c "! '$hwpmc' control | grep -q 'in use by hwpmc'"
	kill -TERM $pid
	wait $pid
	check_equal $? 0 "status: $(cat err)"
	kill $busy_pid
	check_equal "$(cat err)" "" "what was said"
	account_is_even logs
	check_equal "$(of failed logs)" 0 "failed"
	all=0
	for log in logs/*.log; do
		all=$((all + $(samples_in $log)))
		check_equal "$("$hwpmc" dump -i $log | grep -ci closelog)" 1 "ends of $log"
	done
	[ $all -gt 0 ] || fail "no samples beside a busy loop"
	check_equal "$(stat -c %a logs/0000000001.log)" 600 "mode of a log"
}

record_every_keeps_the_limit_and_counts_what_it_dropped() {
	busy
	# More than a quarter of the limit in each: they end early.
	"$hwpmc" record --every 600ms --for 400ms -a -e instructions -c 1009 --keep 256K \
		-o logs 2>err &
	pid=$!
	most=0
	while [ "$(of dropped logs 2>/dev/null || echo 0)" -lt 2 ]; do
		size=$(du -sk logs 2>/dev/null | cut -f1)
		[ "${size:-0}" -le $most ] || most=$size
		sleep 0.05
	done
	kill -TERM $pid
	wait $pid
	kill $busy_pid
	# The account, two locks and the directory itself are no logs.
	[ $most -le $((256 + 20)) ] || fail "$most KiB"
	account_is_even logs
	[ "$(of dropped_bytes logs)" -gt 0 ] || fail "no bytes: $(cat logs/account)"
	check grep -q 'dropped the [0-9]* oldest logs' err
	check grep -q 'File too large; the log is incomplete' err
	for log in logs/*.log; do
		[ "$(samples_in $log)" -gt 0 ] || fail "$log has $(samples_in $log) samples"
	done
}

record_every_ends_in_order_and_goes_on_where_it_was() {
	busy
	check "$hwpmc" record --every 500ms --for 200ms -d 2 -C 0 -e instructions -c 100003 -o logs
	first=$(of begun logs)
	[ "$first" -ge 2 ] || fail "$first recordings in two seconds"
	account_is_even logs
	# Killed in a recording, together with the child that records.
	setsid "$hwpmc" record --every 20s --for 10s -C 0 -e instructions -c 100003 -o logs &
	pid=$!
	await sh -c "ls logs/*.part >/dev/null 2>&1"
	"$hwpmc" record --every 1s --for 100ms -C 0 -o logs 2>err
	check_equal $? 125 "status of a second one"
	check grep -q "another hwpmc record --every writes there" err
	kill -KILL -$pid
	wait $pid
	check "$hwpmc" record --every 500ms --for 200ms -d 1 -C 0 -e instructions -c 100003 -o logs
	kill $busy_pid
	check_equal "$(of failed logs)" 1 "failed: the one that was killed"
	account_is_even logs
	check_equal "$(find logs -name "*part*" | wc -l)" 0 "parts"
}

wrong_options_of_record_every_are_told() {
	for options in '--for 1s -a' '--keep 2M -a' '--every 1s -a' '--every 1s --for 2s -a' \
		'--every 0s -a' '--every 1d -a' '--every 2s --keep 1K -a' '--every 2s -- true'; do
		"$hwpmc" record $options >out 2>err
		check_equal $? 2 "status of $options"
		check_equal "$(wc -l <err)" 1 "lines of $options"
	done
	mkdir -m 700 others
	chown 65534 others
	: >file
	"$hwpmc" record --every 2s -a -o file/logs >out 2>err
	check_equal $? 125 "status without a directory"
	check grep -q "cannot use the directory 'file/logs' for logs: Not a directory" err
}

# value EVENT CPU FILE
value() { sed -n "s/^hwpmc_events_total{event=\"$1\",cpu=\"$2\"} //p" "$3"; }

metrics_are_counters_that_rise_and_promtool_takes_them() {
	busy
	"$hwpmc" metrics --every 300ms -e instructions,instructions:u -o m.prom 2>err &
	pid=$!
	await [ -e m.prom ]
	cp m.prom first
	await sh -c "! cmp -s m.prom first"
	cp m.prom second
	check promtool check metrics <second
	n=$(($(nproc) * 2))
	check_equal "$(grep -c '^hwpmc_events_total' second)" $n "lines of events"
	for event in instructions instructions:u; do
		cpu=0
		while [ $cpu -lt "$(nproc)" ]; do
			[ "$(value $event $cpu second)" -ge "$(value $event $cpu first)" ] ||
				fail "$event of CPU $cpu fell"
			cpu=$((cpu + 1))
		done
	done
	[ "$(value instructions 0 second)" -gt 0 ] || fail "no instructions"
	kill -TERM $pid $busy_pid
	wait $pid
	check_equal $? 0 "status: $(cat err)"
	[ ! -e m.prom.new ] || fail "a file that is not complete"
	check "$hwpmc" metrics -d 1 --every 200ms -e instructions -o - -C 0
	grep -q '^hwpmc_overflows_total ' m.prom || fail "no driver's counters"
}

# What a CPU counts between two readings is what perf's own clock cannot say, but the
# emulated PMU can: see tests/vm/tests/kmod_system.c. Here: the same as hwpmc stat.
metrics_count_what_stat_counts() {
	taskset -c 0 "$loop" 1000000000000 &
	busy_pid=$!
	"$hwpmc" stat -C 0 -e instructions:u --json -o s.json -- \
		"$hwpmc" metrics -C 0 -d 1 --every 400ms -e instructions:u -o m.prom || fail "status $?"
	kill $busy_pid
	metric=$(value instructions:u 0 m.prom)
	stat=$(grep -o '"count":[0-9]*' s.json | head -n 1 | cut -d: -f2)
	[ "$metric" -gt 0 ] && [ "$metric" -le "$stat" ] || fail "metrics $metric, stat $stat"
}

harness_run
