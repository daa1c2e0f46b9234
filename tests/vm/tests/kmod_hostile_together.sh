#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_hostile_together.sh - all programs that try to keep others from the module, each again and
# again at the same time, for TOGETHER_SECONDS (60). Their own tests may fail here, as they take
# counters and CPUs from each other and unload the module. It must hold that each program runs, no
# process remains that cannot be killed, and the kernel reports nothing (the group's dmesg). kmod_clean, the next program of the group, counts and unloads the module.
. "$(dirname "$0")/../../harness/harness.sh"

programs="hostile looking feedback readers puts security snapshots heirs waiting signal revoke
	last_reference disorder"
seconds=${TOGETHER_SECONDS:-60}
dir=$(mktemp -d /tmp/together.XXXXXX)
cgroup=/sys/fs/cgroup/together

uptime_seconds() { cut -d. -f1 /proc/uptime; }

run_again() {
	cd "$VM_TOP" || exit
	while [ "$(uptime_seconds)" -lt "$end" ]; do
		"build/vm/tests/kmod_$1" >>"$dir/$1" 2>&1 </dev/null
	done
}

begin() {
	mkdir "$cgroup" || fail "no cgroup"
	# Some programs let threads of real time take all time of a CPU, and end that from another
	# one. Together they would take all CPUs for good, so what they write is a file.
	echo 950000 >"$dir/runtime"
	mount --bind "$dir/runtime" /proc/sys/kernel/sched_rt_runtime_us || fail "no mount"
	# kmod_waiting holds the lock of a pipe that is its log for as long as its harness allows,
	# so the kernel would report the drain thread. What hangs is found by the end.
	echo 0 >/proc/sys/kernel/hung_task_timeout_secs
	# An argument of the kernel, which it prints.
	echo "rcu_cpu_stall_timeout" >>"$VM_OUT/expected"
	end=$(($(uptime_seconds) + seconds))
	for name in $programs; do
		( sh -c 'echo $PPID' >"$cgroup/cgroup.procs" && run_again "$name" ) &
	done
}

# The last run of most programs ends by itself: their tests have limits of their own.
await_ends() {
	limit=$((end + 60 * ${HARNESS_SCALE:-4}))
	while grep -q . "$cgroup/cgroup.procs" && [ "$(uptime_seconds)" -lt $limit ]; do
		sleep 1
	done
}

# What is killed and does not end waits in the kernel: its stack says where.
kill_all() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		left=$(cat "$cgroup/cgroup.procs")
		[ "$left" ] || return 0
		# shellcheck disable=SC2086
		kill -KILL $left 2>/dev/null
		sleep "$try"
	done
	for pid in $left; do
		echo "$(cat "/proc/$pid/comm") cannot be killed: $(head -n 5 "/proc/$pid/stack")"
	done | tr '\n' ' ' >"$dir/left"
	fail "$(cat "$dir/left")"
}

hostile_programs_run_together_and_none_hangs() {
	begin
	await_ends
	kill_all
	wait
	rmdir "$cgroup"
	umount /proc/sys/kernel/sched_rt_runtime_us
	passing=0
	for name in $programs; do
		runs=$(grep -c '^1[.][.]' "$dir/$name")
		echo "$name: runs: $runs, tests passed: $(grep -c '^ok' "$dir/$name")," \
			"failed: $(grep -c '^not ok' "$dir/$name")" >&2
		[ "$runs" -gt 0 ] || fail "kmod_$name did not run"
		! grep -q '^ok' "$dir/$name" || passing=$((passing + 1))
	done
	# Others find the module busy or gone; none would pass if it did not come back.
	[ $passing -ge 4 ] || fail "$passing programs passed a test"
}

harness_run
