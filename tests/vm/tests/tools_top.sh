#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_top - hwpmc top as text and on a terminal: what it shows, that it adds up,
# its keys, and that nothing is left when it has ended.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
hot3=$VM_TOP/build/vm/progs/hot3
screen=$VM_TOP/tests/harness/screen.py
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
[ -e /dev/hwpmc ] || insmod "$ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# adds_up FILE: in each round the lines add up to the samples in its head. Prints
# the samples of all rounds.
adds_up() {
	awk '
		/^# round/ { check(); match($0, /: [0-9]+ samples in/)
			head = substr($0, RSTART + 2) + 0; lines = 0; all += head; n++ }
		/^ *[0-9.]+% / { lines += $2 }
		function check() { if (n && head != lines) bad = bad " " head "/" lines }
		END { check(); print all; if (!n || bad) { print "bad:" bad; exit 1 } }
	' "$1"
}

# The emulator takes a second for the symbols of the kernel: where those do not matter.
no_kernel="--kallsyms /dev/null"

# loop: hot3 again and again, a twentieth of a CPU, until end_loop: hundreds of samples a
# second, and the CPU is the tools'.
loop() {
	SLOWLY=5 "$VM_TOP/tests/harness/slowly" sh -c "while :; do $hot3; done" &
	loop=$!
}
end_loop() { kill "$loop"; wait "$loop" || true; }

top_of_a_command_counts_every_sample_until_it_ends() {
	check "$hwpmc" record -q -e instructions:u -c 10007 -o hot.log -- "$hot3"
	want=$("$hwpmc" report -i hot.log -s pid --format csv | sed 1d | cut -d, -f2)
	"$hwpmc" top --batch $no_kernel -d 1 -e instructions:u -c 10007 "$hot3" >out.txt ||
		fail "status $?"
	check_equal "$(adds_up out.txt)" "$want" "samples of all rounds"
	begun=$(cut -d' ' -f1 /proc/uptime)
	"$hwpmc" top -z --batch $no_kernel -d 1 -e instructions:u -c 10007 "$hot3" >out.txt
	awk '/^# round/ { for (f in p) delete p[f] } { p[$3] = $1 + 0 }
		END { exit !(p["hot_sixty"] > 58 && p["hot_sixty"] < 62 &&
			p["hot_thirty"] > 28 && p["hot_thirty"] < 32 &&
			p["hot_ten"] > 8 && p["hot_ten"] < 12) }' out.txt ||
		fail "shares: $(cat out.txt)"
	# They are printed with one decimal.
	awk -v begun="$begun" 'NR == FNR { spent = $1 - begun; next }
		/ samples in / { split($0, part, " samples in ")
		exit !(part[2] + 0 <= spent + 0.1) }' /proc/uptime out.txt ||
		fail "seconds: $(head -n 1 out.txt), from $begun to $(cat /proc/uptime)"
	"$hwpmc" top --batch $no_kernel sh -c 'exit 3' >out.txt
	check_equal $? 3 "status of the command"
}

top_adds_up_in_each_round_by_each_key() {
	loop
	for key in function dso process tid; do
		"$hwpmc" top -n 2 -d 0.5 -e instructions,branches:u -c 50021 --lines 2 \
			-s $key $no_kernel >out.txt </dev/null || fail "$key: status $?"
		adds_up out.txt >sum || fail "$key: $(cat sum out.txt)"
		check_equal "$(grep -c '^# round' out.txt)" 4 "rounds of two events"
		[ $key != dso ] || check grep -Eq '^# percent +samples +image' out.txt
		[ $key != tid ] || check grep -Eq '^# percent +samples +thread' out.txt
	done
	"$hwpmc" top --batch -n 2 -d 0.5 -e instructions -c 50021 --filter HOT_ten \
		$no_kernel >out.txt
	end_loop
	adds_up out.txt >sum || fail "filter: $(cat sum out.txt)"
	check grep -q 'hot_ten' out.txt
	check grep -q '(excluded by the filter)' out.txt
	! grep -q 'hot_sixty' out.txt || fail "the filter lets hot_sixty through"
}

top_of_a_process_ends_with_it() {
	mkfifo go
	sh -c "read line <go; for i in 1 2 3; do $hot3; done" &
	pid=$!
	"$hwpmc" top --batch $no_kernel -d 1 -e instructions:u -c 10007 -p $pid -z >out.txt &
	top=$!
	await sh -c "'$hwpmc' control | grep -q 'in use by hwpmc'"
	echo go >go
	wait "$top" || fail "status $?"
	check grep -q 'hot_sixty' out.txt
	adds_up out.txt >sum || fail "$(cat sum out.txt)"
	wait
}

# The symbols come from a pipe: as long as nobody writes there, nothing may be sampled.
top_reads_the_symbols_of_the_kernel_before_it_samples() {
	mkfifo symbols
	"$hwpmc" top --batch -n 1 -d 1 --kallsyms symbols >out.txt 2>&1 &
	top=$!
	exec 7>symbols
	"$hwpmc" control -l >before 2>&1
	# As many as show that it goes on: all of them are a second of the emulator.
	head -n 1000 /proc/kallsyms >&7
	exec 7>&-
	wait $top
	check_equal $? 0 "status: $(cat out.txt)"
	check grep -q '^# round 1' out.txt
	grep -q "pid $top\|hwpmc" before && fail "sampled before: $(cat before)"
	:
}

# The kernel says when its symbols are opened and when a PMC is started.
watch_symbols() {
	tracing=/sys/kernel/tracing
	echo 'p:symbols kallsyms_open' >$tracing/kprobe_events || fail "no probe"
	echo 1 >$tracing/events/kprobes/symbols/enable
	echo 1 >$tracing/events/hwpmc/hwpmc_pmc_start/enable
	echo >$tracing/trace
}
# symbols_first PROGRAM: it opened them before it started one
symbols_first() {
	awk -v program="$1" '!index($0, " " program "-") { next }
		/: symbols:/ { if (!start) symbols++ } / hwpmc_pmc_start:/ { start++ }
		END { exit !(symbols && start) }' $tracing/trace ||
		fail "$1: $(grep -v '^#' $tracing/trace)"
}
end_watch() {
	echo 0 >$tracing/events/hwpmc/hwpmc_pmc_start/enable
	echo 0 >$tracing/events/kprobes/symbols/enable
	echo >$tracing/kprobe_events
}

top_says_on_its_first_screen_what_it_waits_for() {
	loop
	watch_symbols
	check "$screen" "$hwpmc" top -d 4 -e instructions -c 200003 <<-EOF
		see sampling; the first round is shown after 4.0 s
		see hot_sixty +hot3
		gone the first round
		keys q
		end
		next $VM_TOP/build/tools/pmcstat -T -w 4 -S instructions -n 200003
		see Waiting for samples: they are shown every 4 s
		see hot_sixty
		gone Waiting for samples
		keys q
		end
	EOF
	symbols_first hwpmc
	symbols_first pmcstat
	end_watch
	end_loop
}

top_on_a_terminal_obeys_its_keys_and_restores_it() {
	loop
	check "$screen" "$hwpmc" top $no_kernel -g -d 0.5 -e instructions,branches -c 200003 <<-'EOF'
		see hot_sixty +hot3
		see 1 of 2.*round
		keys s
		see ^ percent +samples +image
		keys s
		see ^ percent +samples +process
		keys s
		see ^ percent +samples +comm
		keys s
		see ^ percent +samples +thread
		keys s/hot_thirty\n
		see excluded by 'hot_thirty'
		gone hot_sixty
		see hot_thirty +hot3
		keys \n
		see hot_thirty, and its callers below
		see ^ +100.00% .*  hot_thirty  hot3
		see ^ .*    _start  hot3
		keys \x1b
		keys /\x1b
		see hot_sixty
		keys p
		see \[paused\]
		see not taken during the pause
		keys p
		gone paused
		keys z
		see all since then
		keys e
		see 2 of 2
		keys h
		see pause: keep the screen
		see ^key
		keys h
		see hot_sixty
		size 10 60
		gone h help
		see ^q end  p pause
		see hot_
		size 24 80
		see ^ percent +samples +function +image +process
		see hot_sixty +hot3 +hot3
		size 30 200
		see Enter callers  h help
		see hot_sixty +hot3 +hot3
		keys q
		end
	EOF
	end_loop
}

top_keeps_the_last_round_of_a_command_on_the_screen() {
	"$screen" "$hwpmc" top $no_kernel -z -d 1 -e instructions:u -c 10007 "$hot3" <<-EOF
		see \[ended\]
		see hot_sixty +hot3
		keys s
		see ^ percent +samples +image
		keys q
		end
		next $hwpmc top $no_kernel sh -c 'sleep 1; exit 3'
		see \[ended\]
		keys q
		end
	EOF
	check_equal $? 3 "status of the command"
}

top_ended_by_a_signal_restores_the_terminal() {
	top="$hwpmc top $no_kernel -d 0.3 -e instructions:u -c 100003"
	# By Ctrl-C too, with a command that would go on; and where top hears of the command's
	# end first.
	check "$screen" $top <<-EOF
		see round [1-9]
		run pkill -TERM -x hwpmc
		end
		next $top
		see round [1-9]
		run pkill -HUP -x hwpmc
		end
		next $top sleep 1000
		see round [1-9]
		keys \x03
		end
		run ! pgrep -x sleep
		next $top sleep 1000
		see round [1-9]
		run pkill -STOP -x hwpmc; pkill -INT -x 'hwpmc|sleep'; while pgrep -r R,S -x sleep; do :; done; pkill -CONT -x hwpmc
		end
	EOF
}

# closed COMMAND...: its status and what it said, where nobody reads its output
closed() {
	{ "$@" 2>said; echo $? >status; } | true
	echo "$(cat status) $(cat said)"
}

commands_end_without_a_word_where_no_reader_is_left() {
	for command in "top --batch $no_kernel -d 0.1 -e instructions -a" \
			"top --batch $no_kernel -d 0.1 -e instructions sleep 1000" \
			"stat -o - -I 50 -a -e instructions" "stat -o - --csv -I 50 -e page-faults sleep 1000" \
			"stat -o - -e page-faults true" "stat -o - --json -e page-faults true" \
			"metrics -o - --every 200ms -e instructions" \
			"list" "list --json instr" "control"; do
		# shellcheck disable=SC2086
		check_equal "$(closed "$hwpmc" $command)" "141 " "hwpmc $command"
	done
	for command in "-w 1 -s instructions" "-w 0.1 -T -S instructions" "-L"; do
		# shellcheck disable=SC2086
		check_equal "$(closed "$VM_TOP/build/tools/pmcstat" -o - $command)" "141 " "pmcstat $command"
	done
	pkill -x sleep
	pgrep -f "^$hwpmc " && fail "still runs"
	# A parent that ignores the signal, as many services do, wants the message.
	check_equal "$(trap '' PIPE; closed "$hwpmc" top --batch $no_kernel -d 0.1 -e instructions -a)" \
		"125 hwpmc top: cannot write to standard output: Broken pipe" "an ignored signal"
}

top_says_what_it_cannot_do() {
	for bad in "-d 0" "-n 0" "-s nonesuch" "--lines x" "-a -C 0" "-e ,"; do
		status=0
		"$hwpmc" top $bad >out.txt 2>&1 || status=$?
		check_equal "$status" 2 "status of $bad: $(cat out.txt)"
		check_equal "$(wc -l <out.txt)" 1 "lines of $bad"
	done
	check_equal "$("$hwpmc" top $no_kernel nonesuch 2>&1 >/dev/null; echo $?)" \
		"hwpmc top: cannot run 'nonesuch': no such command
127" "a command that is none"
	status=0
	"$hwpmc" top $no_kernel -n 1 -d 0.2 -e instructions >/dev/full 2>err || status=$?
	check_equal "$status" 125 "status with a full disk"
	check grep -q 'No space left' err
	status=0
	TERM=nonesuch "$screen" sh -c "TERM=nonesuch exec $hwpmc top $no_kernel" </dev/null \
		>out.txt 2>&1 || status=$?
	check_equal "$status" 125 "status on an unknown terminal"
}

top_tells_how_much_was_dropped() {
	"$hwpmc" top --batch $no_kernel -d 1 -e instructions:u -c 1009 --ring-size 4 "$hot3" \
		>out.txt || fail "status $?"
	adds_up out.txt >sum || fail "$(cat sum out.txt)"
	# What is not in the rounds was dropped; the records lost are samples.
	awk '/^# round/ { match($0, /: [0-9]+ samples/); kept += substr($0, RSTART + 2)
			match($0, /[0-9]+ dropped/); lost += substr($0, RSTART) }
		END { exit !(lost > 0 && kept + lost >= 29900 && kept + lost <= 29960) }' \
		out.txt || fail "of 29930 samples: $(grep round out.txt)"
}

top_tells_how_long_sampling_was_paused() {
	echo 5 >/proc/sys/kern/hwpmc/selfcost
	"$hwpmc" top --batch $no_kernel -d 1 -e instructions:u -c 1009 \
		"$VM_TOP/build/vm/progs/loop" 30000000 >out.txt 2>err
	status=$?
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	check_equal $status 0 "status: $(cat err)"
	grep -Eq '^# (warning: )?sampling was paused for [0-9.]+ s: [0-9]+ of [0-9]+ samples \([0-9.]+ %\) are missing; sample less often' \
		out.txt || fail "$(grep '^#' out.txt)"
}

completion_offers_the_events_of_the_machine() {
	cat >complete.sh <<-EOF
		PATH=${hwpmc%/*}:\$PATH
		. $VM_TOP/completion/hwpmc
		COMP_WORDS=(hwpmc stat -e instr) COMP_CWORD=3
		_hwpmc
		echo "\${COMPREPLY[@]}"
	EOF
	bash complete.sh >offered 2>&1
	check_equal "$(tr ' ' '\n' <offered | grep -cx instructions)" 1 \
		"events that begin with instr: $(cat offered)"
}

# The last one: after all of them.
after_top_no_counter_is_left_in_use() {
	check rmmod hwpmc
	check insmod "$ko"
	check "$hwpmc" stat -e instructions:u "$hot3"
}

harness_run
