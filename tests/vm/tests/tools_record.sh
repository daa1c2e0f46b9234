#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_record - hwpmc record and hwpmc report on a program with three functions of
# 60, 30 and 10 percent: shares, sums, trees, and what they say when they cannot.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
hot3=$VM_TOP/build/vm/progs/hot3
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# The emulator takes a second for the symbols of the kernel: where those do not matter.
no_kernel="--kallsyms /dev/null"

# share NAME: percent of a function in the last CSV
share() { awk -F, -v s="$1" '$NF == s { print $3 }' out.csv; }

# near NAME PERCENT: within one and a half of it; 30,000 samples, so five sigma
near() {
	awk -v got="$(share "$1")" -v want="$2" \
		'BEGIN { exit !(got > want - 1.5 && got < want + 1.5) }' ||
		fail "$1 has $(share "$1") percent, not $2"
}

samples() { awk -F, '{ n += $2 } END { print n + 0 }' out.csv; }

report_shows_the_known_shares_of_three_functions() {
	check "$hwpmc" record -e instructions:u -c 1009 -o hot.log -- "$hot3"
	check "$hwpmc" report -i hot.log --format csv -s symbol -o out.csv
	near hot_sixty 60
	near hot_thirty 30
	near hot_ten 10
}

report_counts_each_sample_of_the_log_once() {
	check "$hwpmc" record -e instructions:u -c 10000 -o loop.log -- "$loop" 1000000
	check "$hwpmc" report -i loop.log --format csv -s process,image,symbol -o out.csv
	check_equal "$(samples)" 300 "samples of 3,000,057 instructions"
	# One whose interrupt came after a timer's has the first instruction of that.
	check_equal "$(sed 1d out.csv | cut -d, -f4- | grep -v '^loop,\[kernel\],asm_')" \
		"loop,loop,loop" "where they are"
	sum=$(awk -F, '$6 ~ /^asm_/ { n += $2 } END { print n + 0 }' out.csv)
	[ "$sum" -le 2 ] || fail "$sum of 300 in interrupts"
}

# events LOG: of its samples, as the columns of a report add them up
events() {
	check "$hwpmc" report -i "$1" --csv -s process -o out.csv
	samples
}

# The interval that is wanted is a microsecond, then a second: how fast the machine is does not
# matter.
record_at_a_frequency_weights_samples_by_their_periods() {
	"$hwpmc" record -F 1000000 -e instructions:u -o fast.log -- "$loop" 1000000 2>said ||
		fail "status $?: $(cat said)"
	dropped=$(sed -n 's/.* samples, \([0-9]*\) dropped.*/\1/p' said)
	check_equal $(($(events fast.log) + 1000 * dropped)) 3000000 "events of 3,000,057"
	check "$hwpmc" record -F 1 -e instructions:u -o slow.log -- "$loop" 10000000
	n=$(events slow.log)
	[ "$n" -le 30000171 ] || fail "$n events of 30,000,171"
	check_equal "$("$hwpmc" dump -i slow.log --json --type sample |
		sed -n 's/.*"period":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n }')" \
		"$n" "events of single samples"
	"$hwpmc" dump -i slow.log --json --type sample | grep -q '"period":8000,' ||
		fail "the period does not adapt"
	"$hwpmc" report -i slow.log | grep -Eq \
		"^# event instructions:u, 1 sample a second: [0-9]+ samples of $n events in" ||
		fail "the head: $("$hwpmc" report -i slow.log)"
	check "$hwpmc" filter -i slow.log -e instructions:u -o some.log
	check_equal "$(events some.log)" "$n" "events behind a filter"
	check "$hwpmc" merge -o both.log slow.log fast.log
	check_equal "$(events both.log)" $((n + $(events fast.log))) "events of both"
	for option in "-F 0" "-F 1000001" "-F 99 -c 99"; do
		# shellcheck disable=SC2086
		"$hwpmc" record $option -- true >got 2>&1
		check_equal $? 2 "record $option"
	done
}

record_takes_4000_samples_a_second_by_default_as_perf() {
	check "$hwpmc" record -e instructions:u,page-faults -o paced.log -- "$loop" 10000000
	"$hwpmc" report -i paced.log $no_kernel >got
	check grep -q '^# event instructions:u, 4000 samples a second: ' got
	check grep -Eq '^# event page-faults(:u)?, a sample every 1: ' got
	"$hwpmc" top --batch -n 1 -d 0.2 $no_kernel -e instructions -a >got 2>&1
	check grep -q '4000 samples a second' got
}

record_samples_events_at_rates_of_their_own() {
	"$hwpmc" record -c 100000 -o own.log -e instructions/period=10000/u,branches/freq=50/u \
		-e branches:u -- "$loop" 1000000 2>said || fail "status $?: $(cat said)"
	"$hwpmc" report -i own.log $no_kernel >got
	check grep -q '^# event instructions:u, a sample every 10000: 300 samples' got
	check grep -q '^# event branches:u, 50 samples a second: ' got
	check grep -q '^# event branches:u, a sample every 100000: 10 samples' got
	check "$hwpmc" record -c 9 -c 10000 -o last.log -e instructions:u -- "$loop" 1000000
	"$hwpmc" report -i last.log $no_kernel >got
	check grep -q '^# event instructions:u, a sample every 10000: 300 samples' got
	refused 2 "an event has a period or a frequency" \
		"$hwpmc" record -e cycles/period=1,freq=1/ -- true
	refused 2 "period= and freq= are for hwpmc record and top" \
		"$hwpmc" stat -e cycles/period=1/ -- true
}

record_says_that_few_samples_are_few() {
	few='are too few for shares of functions'
	"$hwpmc" record -e instructions:u -c 100000 -o few.log -- "$loop" 1000000 2>said
	check grep -q "^hwpmc record: 30 samples $few; use a shorter period (-c), or a rate: -F 4000" said
	"$hwpmc" record -e instructions:u -c 10000 -o few.log -- "$loop" 1000000 2>said
	grep -q "$few" said && fail "300 samples: $(cat said)"
	"$hwpmc" record -F 1 -e instructions:u -o few.log -- "$loop" 1000000 2>said
	check grep -q "^hwpmc record: [0-9]* samples $few; sample more often: -F 10" said
	"$hwpmc" record -e instructions/period=100000/u,branches/period=10000/u -o few.log -- \
		"$loop" 1000000 2>said
	check_equal "$(grep -c "$few" said)" 1 "hints: $(cat said)"
	check grep -q "^hwpmc record: 30 samples of instructions:u $few; use a shorter period= for the event, or a rate: freq=4000" said
	"$hwpmc" record -q -e instructions:u -c 100000 -o few.log -- "$loop" 1000000 2>said
	check_equal "$(cat said)" "" "messages with -q"
}

record_switches_its_output_and_merge_joins_the_pieces() {
	# Of a program that has ended before the log is written there is one piece.
	"$hwpmc" record -e instructions:u -c 100003 --switch-output=16K -o sw.log -- \
		"$loop" 100000000 2>said || fail "status $?: $(cat said)"
	grep -q ' samples, 0 dropped, .* in several logs, the last sw.log.0' said ||
		fail "record said: $(cat said)"
	[ -e sw.log.0002 ] && [ ! -e sw.log ] || fail "there are: $(ls)"
	for piece in sw.log.*; do
		"$hwpmc" report -i $piece --csv -s process,image,symbol | sed 1d
	done >pieces.csv
	check_equal "$(awk -F, '{ n += $2 } END { print n }' pieces.csv)" 2999 "samples"
	# An overflow at the last instruction before an interrupt is a sample of the kernel's entry.
	check_equal "$(cut -d, -f4 pieces.csv | sort -u)" loop "whose"
	check_equal "$(awk -F, '{ n[$5] += $2; if (n[$5] > n[most]) most = $5 } END { print most }' \
		pieces.csv)" loop "where most are"
	check "$hwpmc" merge -o whole.log sw.log.*
	check "$hwpmc" report -i whole.log --csv -s process -o out.csv
	check_equal "$(samples)" 2999 "samples of all"
}

record_keeps_the_last_seconds_and_writes_them_at_a_signal() {
	"$hwpmc" record --overwrite=2s -e instructions:u -c 100003 -o ow.log -- \
		"$VM_TOP/tests/harness/slowly" "$loop" 400000000000 2>said &
	pid=$!
	sleep 6
	kill -USR2 $pid
	await [ -s ow.log.0001 ]
	kill -TERM $pid
	wait $pid
	check_equal $? 143 "status"
	for log in ow.log.0001 ow.log; do
		check "$hwpmc" report -i $log -s process -o out.txt
		check grep -q '  loop$' out.txt
		check grep -Eq '^# [0-9]+ samples were overwritten' out.txt
		# The blocks that are kept may be an eighth older.
		sed -n 's/.* samples in \([0-9.]*\) s$/\1/p' out.txt | awk '
			{ exit !($1 > 0.2 && $1 < 3) }' || fail "$log: $(cat out.txt)"
	done
	check grep -q 'samples were overwritten by later ones' said
}

record_ends_when_the_log_has_its_size() {
	"$hwpmc" record -e instructions:u -c 1009 --max-size=64K -o max.log -- \
		"$loop" 40000000000 2>said
	check_equal $? 143 "status"
	check grep -q 'stopped at --max-size' said
	check "$hwpmc" report -i max.log --csv -s process -o out.csv
	check_equal "$(samples)" "$(sed -n 's/^\([0-9]*\) samples.*/\1/p' said)" "samples"
	"$hwpmc" record --switch-output=1M -o - -- true >got 2>&1
	check_equal $? 2 "pieces of standard output"
	"$hwpmc" record --switch-output=1x -- true >got 2>&1
	check_equal $? 2 "a bad limit"
}

report_shows_callers_above_callees() {
	check "$hwpmc" record -g -e instructions:u -c 10007 -o tree.log -- "$hot3"
	check "$hwpmc" report -i tree.log --tree -o out.txt
	check grep -Eq '^ +99\.[0-9]+%.*  _start  hot3$|^ +100\.00%.*  _start  hot3$' out.txt
	check grep -Eq '^ +(59|60|61)\.[0-9]+%.*    hot_sixty  hot3$' out.txt
	check "$hwpmc" report -i tree.log --format folded -o out.folded
	check grep -Eq '^hot3;_start;hot_sixty [0-9]+$' out.folded
}

report_of_a_whole_system_names_programs_and_the_kernel() {
	check "$hwpmc" record -a -e instructions -c 20011 -o all.log -- \
		sh -c "$hot3; ls -lR /proc/self >/dev/null"
	check "$hwpmc" report $no_kernel -i all.log --format csv -s process,image -o out.csv
	check grep -q ',hot3,hot3$' out.csv
	check grep -q ',ls,\[kernel\]$' out.csv
	"$hwpmc" report $no_kernel -i all.log -s process >out.txt
	check_equal "$(samples)" "$(sed -n 's/.*: \([0-9]*\) samples in.*/\1/p' out.txt)" \
		"samples"
}

report_reads_a_log_that_zstd_has_compressed() {
	check zstd -q -f hot.log -o hot.log.zst
	check "$hwpmc" report -i hot.log -o plain.txt
	check "$hwpmc" report -i hot.log.zst -o zstd.txt
	check cmp plain.txt zstd.txt
	check sh -c "cat hot.log.zst | $hwpmc report -i - -o pipe.txt"
	check cmp plain.txt pipe.txt
}

# refused STATUS TEXT COMMAND...: it fails with that status and one line.
refused() {
	want=$1 text=$2
	shift 2
	status=0
	"$@" >refused.out 2>&1 || status=$?
	check_equal "$status" "$want" "status of $*"
	check grep -q -- "$text" refused.out
}

record_and_report_tell_what_they_cannot_do() {
	refused 125 "cannot write '/nowhere/log'" "$hwpmc" record -o /nowhere/log -- true
	refused 125 "No space left on device; the log is incomplete" \
		"$hwpmc" record -q -o /dev/full -- true
	refused 127 "nonesuch" "$hwpmc" record -o x.log -- nonesuch
	refused 2 "no target" "$hwpmc" record
	refused 2 "power of two" "$hwpmc" record --ring-size 5 -- true
	refused 1 "cannot open 'nonesuch'" "$hwpmc" report -i nonesuch
	echo "this is no log at all, and long enough" >bad.log
	refused 1 "bad.log: offset 0:" "$hwpmc" report -i bad.log
	check_equal "$("$hwpmc" record -q -o x.log -- sh -c 'exit 3'; echo $?)" 3 "status"
}

record_that_cannot_start_leaves_the_old_log_alone() {
	echo "the log before" >kept.log
	refused 127 "nonesuch" "$hwpmc" record -o kept.log -- nonesuch
	refused 125 "nonesuch" "$hwpmc" record -e nonesuch -o kept.log -- true
	check_equal "$(cat kept.log)" "the log before" "the log"
	check_equal "$(echo kept.log*)" kept.log "files"
	check "$hwpmc" record -q -e instructions:u -c 1009 -o kept.log -- "$loop" 100000
	check_equal "$(cat kept.log.old)" "the log before" "the old log"
	check "$hwpmc" report -i kept.log -o out.txt
	check_equal "$(echo kept.log*)" "kept.log kept.log.old" "files"
}

pauses_are_told_by_record_and_report() {
	echo 5 >/proc/sys/kern/hwpmc/selfcost
	"$hwpmc" record -e instructions:u -c 1009 -o paused.log -- "$loop" 30000000 2>err
	status=$?
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	check_equal $status 0 "status: $(cat err)"
	told='(warning: )?sampling was paused [0-9]+ times?, [0-9.]+ s in all: [0-9]+ of [0-9]+ samples \([0-9.]+ %\) are missing; sampling used up to [0-9]+ % of a CPU; sample less often'
	grep -Eq "^hwpmc record: $told" err || fail "record said: $(cat err)"
	check "$hwpmc" report -i paused.log -o out.txt
	grep -Eq "^# $told" out.txt || fail "report said: $(grep '^#' out.txt)"
	# The same numbers in both, and all periods of what the program executes.
	check_equal "$(sed -n 's/^# .*in all: \(.*\) are missing.*/\1/p' out.txt)" \
		"$(sed -n 's/.*in all: \(.*\) are missing.*/\1/p' err)" "the share in report"
	all=$(sed -n 's/.*in all: [0-9]* of \([0-9]*\) samples.*/\1/p' err)
	[ "$all" -ge $((90000000 / 1009)) ] && [ "$all" -le $((90400000 / 1009)) ] ||
		fail "periods: $all"
	check "$hwpmc" record -e instructions:u -c 1009 -o hot.log -- "$loop" 1000
	"$hwpmc" record -e instructions:u -c 10 -o hot.log -- "$loop" 1000 2>err
	check grep -q 'the period was raised to 1000, the least that kern.hwpmc.mincount' err
}

sampling_a_cpu_as_another_user_is_refused_in_one_line() {
	chmod 666 /dev/hwpmc
	for permitted in 0 1; do
		echo $permitted >/proc/sys/kern/hwpmc/unprivileged_syspmcs
		refused 125 "needs CAP_PERFMON; run it as root" \
			chroot --userspec=65534:65534 / "$hwpmc" record -q -a -o /dev/null -- true
		check_equal "$(wc -l <refused.out)" 1 "lines: $(cat refused.out)"
	done
	echo 0 >/proc/sys/kern/hwpmc/unprivileged_syspmcs
}

record_ends_with_a_signal_and_keeps_all_samples() {
	"$hwpmc" record -a -e instructions -c 100003 -o int.log 2>int.err &
	pid=$!
	# It samples; how long the beginning of the log is depends on all processes.
	until "$hwpmc" dump $no_kernel -i int.log.part 2>&1 | grep -q ' 100003 instructions: '; do
		sleep 0.1
	done
	"$loop" 3000000
	# Not INT: a shell has its background commands ignore that.
	kill -TERM "$pid"
	wait "$pid"
	check "$hwpmc" report $no_kernel -i int.log --format csv -s process -o out.csv
	check grep -q ',loop$' out.csv
	check_equal "$(samples)" "$(sed -n 's/^\([0-9]*\) samples, 0 dropped.*/\1/p' int.err)" \
		"samples"
}

record_of_a_command_that_cannot_run_leaves_one_line_and_the_old_log() {
	"$hwpmc" record -q -o old -e instructions:u -- true || fail "hwpmc record: $?"
	before=$(cksum <old)
	"$hwpmc" record -o old -e instructions:u -- /nonexistent 2>said
	check_equal $? 127 status
	check_equal "$(wc -l <said)" 1 "lines: $(cat said)"
	check_equal "$(cksum <old)" "$before" "the log"
	[ ! -e old.part ] || fail "a part is left"
}

record_takes_call_graphs_in_the_form_of_perf() {
	check "$hwpmc" record -o fp -c 10000 -e instructions:u --call-graph fp -- \
		"$VM_TOP/build/vm/progs/hot" -n 300
	check "$hwpmc" dump -i fp --type sample -o out
	grep -q ' <- ' out || fail "$(head -n 2 out)"
	"$hwpmc" record -o lbr --call-graph lbr -- true 2>said
	check_equal $? 2 "status of lbr"
	check grep -q "invalid kind of call chains 'lbr'" said
}

report_says_that_a_log_has_no_end() {
	check "$hwpmc" record -q -o whole -e instructions:u -c 1000 -- "$loop" 1000000
	head -c $(($(stat -c %s whole) / 2)) whole >part
	check "$hwpmc" report --stdio -i part -o out
	grep -q '^# the log has no end: ' out || fail "$(head -n 6 out)"
	# Neither has what is made of it.
	check "$hwpmc" filter -e instructions:u -i part -o filtered
	check "$hwpmc" merge -o merged part part
	for log in filtered merged; do
		check "$hwpmc" report --stdio -i $log -o out
		grep -q '^# the log has no end: ' out || fail "$log: $(head -n 6 out)"
	done
	check "$hwpmc" report --stdio -i whole -o out
	grep -q 'has no end' out && fail "$(cat out)"
	:
}

# A file by a link that anybody could have made, where a tool opens the device first. The
# options that a log alone shows: tests/export/outputs.
outputs_that_need_the_device_follow_no_link_where_others_can_write() {
	pmcstat=$VM_TOP/build/tools/pmcstat
	mkdir own
	chmod 755 .
	mkdir shared
	chmod 1777 shared
	for to in "$hwpmc stat -e instructions -o" "$hwpmc record -q -e instructions:u -o" \
		"$pmcstat -p instructions -o" "$pmcstat -P instructions -O"; do
		echo precious >own/file
		ln -sf ../own/file shared/out
		# shellcheck disable=SC2086
		$to shared/out true 2>err && fail "$to follows a link"
		check grep -q "cannot write 'shared/out'" err
		check_equal "$(cat own/file)" precious "the file after $to"
		rm shared/out
		# shellcheck disable=SC2086
		check $to shared/out true
		check [ -s shared/out ]
		ln -s file own/link
		# shellcheck disable=SC2086
		check $to own/link true
		[ "$(head -c 8 own/file)" != precious ] || fail "$to: a link of one's own"
		rm own/link shared/out
	done
	rm -r own shared
}

a_log_is_written_through_a_link_of_ones_own() {
	mkdir own && : >own/target && ln -s target own/link
	"$hwpmc" record -q -o own/link -- true || fail "hwpmc record: $?"
	[ -L own/link ] || fail "the link is not there any more"
	"$hwpmc" report --stdio -i own/target >out 2>&1 || fail "$(cat out)"
}

harness_run
