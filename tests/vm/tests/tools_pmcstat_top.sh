#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_pmcstat_top - pmcstat -T: rounds as text where no terminal is, and a terminal
# (of script(1)) with keys.
. "$VM_TOP/tests/harness/harness.sh"
pmcstat=$VM_TOP/build/tools/pmcstat
hot3=$VM_TOP/build/vm/progs/hot3
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost
ip link set lo up
export TERM=xterm

record() {
	check "$pmcstat" -O hot.log -n 10007 -P instructions,usr -- "$hot3"
	samples=$("$pmcstat" -R hot.log | grep -c ^callchain)
}
# shown FILE: the sum of the samples of all rounds.
shown() { sed -n 's/.*Samples: \([0-9]*\) .*/\1/p' "$1" | awk '{ n += $1 } END { print n }'; }
# near FILE FUNCTION PERCENT
near() {
	got=$(awk -v f="$2" '$3 == f { p = $1 } END { print int(p + 0.5) }' "$1")
	[ "$got" -ge $(($3 - 2)) ] && [ "$got" -le $(($3 + 2)) ] ||
		fail "$2 has $got %, not $3: $(cat "$1")"
}

top_of_a_log_is_one_round_with_the_known_shares() {
	record
	"$pmcstat" -T -R hot.log >text 2>err </dev/null || fail "$(cat err)"
	check_equal "$(shown text)" "$samples" "samples"
	near text hot_sixty 60
	near text hot_thirty 30
	near text hot_ten 10
	check grep -Eq '^ *[0-9.]+ hot3 +hot_sixty +_start' text
}

rounds_of_a_running_program_have_each_sample_once() {
	"$pmcstat" -T -w 0.05 -n 1009 -P instructions,usr -- "$hot3" >text 2>err \
		</dev/null || fail "$(cat err)"
	dropped=$(sed -n 's/.* \([0-9]*\) dropped so far$/\1/p' text | tail -n 1)
	# 30,200,005 instructions, a sample every 1009.
	all=$(($(shown text) + ${dropped:-0}))
	[ "$all" -ge 29925 ] && [ "$all" -le 29931 ] ||
		fail "$(shown text) samples, ${dropped:-0} dropped"
	[ "$(grep -c '^PMC: ' text)" -gt 1 ] || fail "$(cat text)"
}

top_shows_a_log_while_it_comes_from_another() {
	"$pmcstat" -T -w 0.1 -R 127.0.0.1:9996 >text 2>err </dev/null &
	pid=$!
	until "$pmcstat" -O 127.0.0.1:9996 -n 10007 -P instructions,usr -- \
		"$hot3" 2>err.send; do
		grep -q 'Connection refused' err.send || fail "$(cat err.send)"
		sleep 0.1
	done
	wait "$pid" || fail "the reader ended with $?: $(cat err)"
	[ "$(shown text)" -ge 3000 ] || fail "$(shown text) samples"
}

# on_a_terminal KEYS COMMAND...: send keys once the log has ended; what the screen was
# left with is in the file text.
on_a_terminal() {
	keys=$1
	shift
	rm -f keys screen
	mkfifo keys
	script -qefc "$*" screen <keys >out 2>&1 &
	pid=$!
	exec 9>keys
	await grep -qs 'the log has ended' screen
	printf %s "$keys" >&9
	wait $pid || fail "status $?: $(tail -n 5 screen)"
	exec 9>&-
	# Behind the end of the screen, where the terminal is as it was.
	tr -d '\r' <screen | awk '/PMC: \[/ { text = "" } { text = text $0 "\n" }
		END { printf "%s", text }' | sed 's/^.*PMC: /PMC: /' >text
}

keys_switch_what_is_shown_on_a_terminal() {
	record
	on_a_terminal q "$pmcstat" -T -R hot.log
	check_equal "$(shown text)" "$samples" "samples"
	near text hot_sixty 60
	on_a_terminal nq "$pmcstat" -T -R hot.log
	check grep -q '^%SAMP CALLTREE' text
	check grep -Eq '^ *[0-9.]+  hot_sixty$' text
	on_a_terminal nfq "$pmcstat" -T -R hot.log
	check grep -Eq '^ *[0-9.]+ \.hot_sixty$' text
	on_a_terminal Iq "$pmcstat" -T -R hot.log
	check grep -Eq ' hot_sixty\+0x[0-9a-f]+ +_start' text
	on_a_terminal Aq "$pmcstat" -T -R hot.log
	check grep -Eq ' hot3 +0x401[0-9a-f]+ ' text
	on_a_terminal mq "$pmcstat" -T -R hot.log
	check grep -q '^PMC: \[all\]' text
}

keys_choose_among_the_events() {
	check "$pmcstat" -O two.log -n 10007 -P instructions,usr -n 3001 \
		-P branches,usr -- "$hot3"
	on_a_terminal q "$pmcstat" -T -R two.log
	check grep -q '^PMC: \[instructions,usr\]' text
	on_a_terminal pq "$pmcstat" -T -R two.log
	check grep -q '^PMC: \[branches,usr\]' text
	on_a_terminal ppq "$pmcstat" -T -R two.log
	check grep -q '^PMC: \[instructions,usr\]' text
}

top_leaves_the_terminal_as_it_found_it() {
	# More functions than the screen has lines, and no more samples than that takes; none of
	# the kernel, the symbols of which take long.
	check "$pmcstat" -O many.log -n 3001 -P instructions,usr -- perl -e 1
	top="$pmcstat -T -R many.log -f threshold=0"
	for last in 'keys q' "run pkill -TERM -x pmcstat"; do
		[ "$last" = 'keys q' ] || echo "next $top"
		cat <<-EOF
			see ^PMC: .*Samples: [1-9]
			see the log has ended
			see ^.[0-9]+ lines more
			keys n
			see CALLTREE
			keys \x20
			see paused
			$last
			end
		EOF
	done >steps
	"$VM_TOP/tests/harness/screen.py" $top <steps >out 2>err || fail "$(cat err)"
}

no_loop_runs() { ! pidof loop >/dev/null; }

quitting_ends_the_command_that_is_measured() {
	rm -f keys screen
	mkfifo keys
	script -qefc "$pmcstat -T -w 0.1 -n 100003 -P instructions,usr -- \
		$VM_TOP/tests/harness/slowly $VM_TOP/build/vm/progs/loop 400000000000" screen <keys >out 2>&1 &
	pid=$!
	exec 9>keys
	await grep -qs 'FUNCTION' screen
	printf q >&9
	wait $pid || fail "status $?: $(tail -n 5 screen)"
	exec 9>&-
	# It was killed; a process that its group holds back dies at its next turn.
	await no_loop_runs
	check "$pmcstat" -o got -C -p instructions,usr -- "$hot3"
	check_equal "$(tail -n 1 got | tr -d ' ')" 30200005 "count afterwards"
}

# refused TEXT OPTIONS...: it is a wrong use, and says that.
refused() {
	text=$1
	shift
	status=0
	"$pmcstat" "$@" >refused.out 2>&1 || status=$?
	check_equal "$status" 2 "status of $*"
	grep -q -- "$text" refused.out || fail "$*: $(cat refused.out)"
}

top_refuses_options_that_do_not_go_with_it() {
	refused "needs samples" -T
	refused "cannot be combined with -O" -T -O x -P instructions true
	refused "cannot be combined with -p or -s" -T -p instructions -P branches true
	refused "cannot be combined with -a" -T -R x -G y
	refused "-f skiplink needs -T" -R x -G y -f skiplink=1
	refused "neither threshold" -T -R x -f skiplink=2
	"$pmcstat" -T -R nonesuch >out 2>err </dev/null && fail "success"
	check grep -q "cannot open 'nonesuch'" err
}

harness_run
