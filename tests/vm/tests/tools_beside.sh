#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_beside - commands that measure a program which counts itself with the same event.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
vtruth=$VM_TOP/build/vm/truth/vtruth
program=$VM_TOP/build/vm/tests/lib_beside
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
sysctl -q kernel.nmi_watchdog=0

# Until the program has said that it counts itself, or has ended.
await_ready() { until grep -q ready said || has_ended "$1"; do sleep 0.1; done; check grep -q ready said; }

counted() { sed -n 's/^ *\([0-9][0-9,]*\)  instructions:u.*/\1/p' "$1" | tr -d ,; }

stat_beside_a_program_that_counts_itself_is_exact() {
	"$hwpmc" stat -e instructions:u -o got -- "$vtruth" -o truth \
		"$program" itself 100000 >said 2>&1 || fail "$(cat said)"
	grep -q '^5 values from' said || fail "it said: $(cat said)"
	check_equal "$(counted got)" \
		"$("$vtruth" -r truth | sed -n 's/^instructions:u //p')" "count of the program"
}

# beside N COMMAND...: measure, by a command of hwpmc, a program that counts itself already
# while it executes 3 N instructions; $own: how many it has counted
beside() {
	rm -f go
	mkfifo go
	"$program" wait go "$1" >said 2>&1 &
	pid=$!
	shift
	await_ready $pid
	"$@" -p $pid -- sh -c "echo >go
		while grep -qs '^State:[[:space:]]*[^XZ]' /proc/$pid/status; do sleep 0.1; done" >out 2>&1 ||
		fail "$*: $(cat out)"
	wait $pid || fail "it said: $(cat said)"
	own=$(sed -n 2p said)
}

stat_of_a_process_that_counts_itself_is_exact() {
	beside 1000000 "$hwpmc" stat -e instructions:u -o got
	# Between its second read and its end it prints.
	[ "$(counted got)" -ge "$own" ] && [ "$(counted got)" -lt $((own + 200000)) ] ||
		fail "it counted $own, stat $(counted got)"
}

record_takes_samples_of_a_process_that_counts_itself() {
	beside 20000000 "$hwpmc" record -q -c 100000 -e instructions:u -o log
	samples=$("$hwpmc" dump -i log | grep -c lib_beside) || true
	[ "$samples" -ge 500 ] || fail "$samples samples: $(cat out)"
}

harness_run
