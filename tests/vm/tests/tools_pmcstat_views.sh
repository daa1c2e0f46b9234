#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_pmcstat_views - the graphs and lists that pmcstat makes of recordings, read back
# by programs that are for such files.
. "$VM_TOP/tests/harness/harness.sh"
pmcstat=$VM_TOP/build/tools/pmcstat
fold=$VM_TOP/tests/harness/fold-graph
hot3=$VM_TOP/build/vm/progs/hot3
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# hot3 executes 30,200,005 instructions, by its source: 60, 30 and 10 percent of them
# in three functions, but for a handful a round.
record() {
	check "$pmcstat" -O hot.log -n 10007 -P instructions,usr -- "$hot3"
}
# samples TEXT: what the statistics say of the log.
samples() { awk '/#samples total/ { print $3 }' "$1"; }
# count_entered LOG: how many samples are reported from the kernel's entry, as an overflow
# at the last instruction before an interrupt is: $entered.
count_entered() {
	check "$pmcstat" -R "$1" -m pcs -o pcs.text
	entered=$(grep -c '^0xffff' pcs) || true
}
# shares FILE: "function samples" lines to percentages near 60, 30 and 10.
shares() {
	awk 'BEGIN { want["hot_sixty"] = 60; want["hot_thirty"] = 30; want["hot_ten"] = 10 }
		{ n[$1] += $2; all += $2 }
		END { for (f in n) {
			p = 100 * n[f] / all
			if (p < want[f] - 2 || p > want[f] + 2)
				print f, p
		} }' "$1" >shares.bad
	check_equal "$(cat shares.bad)" "" "shares of $1"
	check_equal "$(awk '$1 ~ /^hot_/ { n++ } END { print n }' "$1")" 3 \
		"functions in $1"
}

pmcstat_call_graph_folds_to_all_samples_with_the_known_shares() {
	record
	check "$pmcstat" -R hot.log -G graph -o text
	"$fold" graph >folded || fail "$(head -n 3 graph)"
	check_equal "$(awk '{ n += $NF } END { print n }' folded)" \
		"$(samples text)" "samples"
	check grep -qE '^_start;hot_sixty [0-9]+$' folded
	"$pmcstat" -q -R hot.log -z 1 -G - >flat 2>err || fail "$(cat err)"
	check_equal "$(cat err)" "" "said with -q"
	"$fold" flat >folded || fail "$(head -n 3 flat)"
	shares folded
}

pmcstat_lists_each_sample_with_its_function() {
	record
	check "$pmcstat" -R hot.log -m pcs -o text
	check_equal "$(wc -l <pcs)" "$(samples text)" "lines"
	awk '{ print $2 }' pcs | sort | uniq -c | awk '{ print $2, $1 }' >list
	shares list
	# Each address is in the range that is beside it.
	while read -r pc name from to; do
		[ $((pc)) -ge $((from)) ] && [ $((pc)) -lt $((to)) ] ||
			fail "$pc $name $from $to"
	done <pcs
}

pmcstat_lists_the_frames_of_each_sample() {
	record
	check "$pmcstat" -R hot.log -a frames -o text
	check_equal "$(grep -c '^--$' frames)" "$(samples text)" "records"
	awk 'BEGIN { hit = 1 } /^--$/ { hit = 1; next }
		hit { n[$2]++; hit = 0 } END { for (f in n) print f, n[f] }' \
		frames >list
	shares list
	check grep -Eqx '0x[0-9a-f]+ _start (\?\?:0|/.*hot3.S:[0-9]+)' frames
}

callgrind_annotate_reads_what_pmcstat_writes() {
	record
	check "$pmcstat" -R hot.log -F calls -o text
	callgrind_annotate --threshold=100 --auto=no calls >annotated ||
		fail "callgrind_annotate: $?"
	awk '/PROGRAM TOTALS/ { gsub(",", ""); print $1 }' annotated >total
	check_equal "$(cat total)" "$(samples text)" "PROGRAM TOTALS"
	check grep -q "^creator: pmcstat " calls
	sed -n 's/^ *\([0-9,]*\) .*:\([a-z_]*\) \[.*/\2 \1/p' annotated | tr -d , >list
	shares list
}

# flat FILE: what gprof finds in it, to the file list.
flat() {
	gprof -p -b "$hot3" "$1" >profile || fail "gprof: $?"
	awk '$NF ~ /^(hot_|_start)/ { print $NF, $3 }' profile >list
}

gprof_reads_what_pmcstat_writes() {
	mkdir -p two
	check "$pmcstat" -O two.log -n 10007 -P instructions,usr -n 3001 \
		-P branches,usr -- "$hot3"
	check "$pmcstat" -R two.log -g -e -D two -M map -o text
	n=0
	for event in instructions,usr branches,usr; do
		flat "two/$event/hot3.gmon"
		shares list
		n=$(awk -v n=$n '{ n += $2 } END { print n }' list)
	done
	# Those are in the file of the kernel.
	count_entered two.log
	check_equal "$((n + entered))" "$(samples text)" "samples in all files"
	check_equal "$(tr ' ' '\n' <map | awk -F/ '/^[ib].*\/[0-9]+$/ { n += $2 }
		END { print n }')" "$(samples text)" "samples in the map"
}

gprof_files_are_written_of_what_is_sampled_meanwhile() {
	check "$pmcstat" -g -n 10007 -P instructions,usr -- "$hot3"
	flat instructions,usr/hot3.gmon
	shares list
}

pmcstat_makes_a_call_graph_while_it_samples() {
	check "$pmcstat" -G graph -o text -n 10007 -P instructions,usr -- "$hot3"
	"$fold" graph >folded || fail "$(head -n 3 graph)"
	check_equal "$(awk '{ n += $NF } END { print n }' folded)" \
		"$(samples text)" "samples"
	[ "$(samples text)" -gt 3000 ] || fail "$(samples text) samples"
	check "$pmcstat" -G graph -o text -C -p instructions,usr -n 10007 \
		-P instructions,usr -- "$hot3"
	check grep -Eq '^ *30200005$' text
}

pmcstat_looks_for_programs_under_a_root_directory() {
	cp "$hot3" prog
	check "$pmcstat" -O prog.log -n 10007 -P instructions,usr -- "$PWD/prog"
	mkdir -p "root$PWD"
	mv prog "root$PWD/prog"
	check "$pmcstat" -R prog.log -G graph -o text
	n=$(awk '/unknown-function/ { print $3 }' text)
	count_entered prog.log
	check_equal "$((n + entered))" "$(samples text)" "samples without a function"
	[ "$entered" -le 2 ] || fail "$entered samples in the kernel"
	check "$pmcstat" -R prog.log -r root -G graph -z 1 -o text
	check_equal "$(awk '/unknown-function/ { print $3 }' text)" 0 \
		"samples without a function under the root"
	"$fold" graph >folded || fail "$(head -n 3 graph)"
	shares folded
	"$pmcstat" -T -R prog.log -r root >text 2>err </dev/null || fail "$(cat err)"
	check grep -q ' hot_sixty ' text
}

views_of_a_log_that_could_not_be_completed_are_written() {
	mkdir -p small
	check mount -t tmpfs -o size=64k none small
	status=0
	TMPDIR=small limit 60 "$pmcstat" -G graph -o text -n 1000 \
		-P instructions,usr -- "$VM_TOP/build/vm/progs/loop" 4000000000 \
		2>err || status=$?
	umount small
	check_equal "$status" 1 "status"
	grep -q "No space left on device; the log is incomplete" err ||
		fail "$(cat err)"
	"$fold" graph >folded || fail "$(head -n 3 graph)"
	check_equal "$(awk '{ n += $NF } END { print n }' folded)" \
		"$(samples text)" "samples"
	[ "$(samples text)" -gt 100 ] || fail "$(samples text) samples"
	TMPDIR=nowhere "$pmcstat" -G graph -P instructions -- touch started 2>err &&
		fail "success"
	grep -q "cannot create a temporary log in 'nowhere'.*set TMPDIR" err ||
		fail "$(cat err)"
	"$pmcstat" -G graph -P instructions -- nowhere/x 2>err && fail "success"
	check_equal "$(wc -l <err)" 1 "lines about a command that is not there"
}

pmcstat_views_of_one_thread_have_its_samples_only() {
	record
	tid=$("$pmcstat" -R hot.log | awk '$1 == "callchain" { print $3; exit }')
	check "$pmcstat" -R hot.log -i "$tid" -m pcs -o text
	check_equal "$(wc -l <pcs)" "$(samples text)" "lines of the thread"
	check "$pmcstat" -R hot.log -i 1 -m pcs -o text
	check_equal "$(wc -l <pcs)" 0 "lines of init"
	check_equal "$(awk '/excluded by/ { print $NF }' text)" "$(samples text)" \
		"samples excluded"
}

pmcstat_says_that_a_view_could_not_be_written() {
	record
	for option in -G -F -m -a '-g -M'; do
		"$pmcstat" -q -R hot.log $option /dev/full 2>err &&
			fail "$option /dev/full: success"
		grep -q "cannot write '/dev/full': No space left" err ||
			fail "$(cat err)"
		"$pmcstat" -q -R hot.log $option nowhere/x 2>err &&
			fail "$option nowhere/x: success"
		grep -q "cannot write 'nowhere/x'" err || fail "$(cat err)"
	done
	"$pmcstat" -q -R hot.log -g -D nowhere 2>err && fail "-D nowhere: success"
	grep -q "cannot write to 'nowhere'" err || fail "$(cat err)"
	mkdir -p ro
	check mount -t tmpfs -o nr_inodes=2 none ro
	status=0
	"$pmcstat" -q -R hot.log -g -D ro 2>err || status=$?
	umount ro
	check_equal "$status" 1 "status of -D ro"
	grep -q "cannot write 'ro/.*': No space left" err || fail "$(cat err)"
	# Before the command is started: nothing is lost.
	"$pmcstat" -G nowhere/x -P instructions -- touch started 2>err &&
		fail "success"
	[ ! -e started ] || fail "the command was started"
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

pmcstat_refuses_options_of_views_that_do_not_go_together() {
	refused "need a log to read" -m x -P instructions true
	refused "need a log to read" -a x -P instructions true
	refused "cannot be combined with -O; use them later, with -R" -O x -F y -P instructions true
	refused "need samples" -G x -p instructions true
	refused "only one of" -R x -G - -m -
	refused "need samples" -g -p instructions true
	refused "need a log to read" -g -M x -P instructions true
	refused "-D needs gprof files" -R x -G y -D z
	refused "-e needs gprof files" -R x -G y -e
	refused "-M needs gprof files" -R x -M y
	refused "-z needs a call graph" -R x -z 3 -m y
	refused "-f needs a call graph" -R x -f threshold=1 -m y
	refused "-I needs a call graph" -R x -I
	refused "-k and -r need" -R x -r /mnt
	refused "threshold=PERCENT" -R x -G y -f nonsense=1
	refused "invalid percentage" -R x -G y -f threshold=101
	refused "invalid number of levels" -R x -G y -z 0
	refused "needs a value" -R x -G
}

harness_run
