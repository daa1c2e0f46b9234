#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_pmcstat_log - pmcstat that samples: the kernel writes the log to a file, to a
# connection, or back through a pipe; and what comes of it when nobody takes it.
. "$VM_TOP/tests/harness/harness.sh"
pmcstat=$VM_TOP/build/tools/pmcstat
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost
ip link set lo up

# `loop 1000000` executes 3,000,057 instructions in user mode, by its source.
samples() { grep -c '^callchain ' "$1"; }
counts() { awk '$1 == "exitval" { n += $4 } END { print n }' "$1"; }
increments() { awk '$1 == "cswval" { n += $5 } END { print n }' "$1"; }

pmcstat_prints_samples_where_no_log_is_asked_for() {
	check "$pmcstat" -o text -n 10000 -P instructions,usr -- "$loop" 1000000
	check_equal "$(samples text)" 300 "samples of 3,000,057 instructions"
	check_equal "$(head -n 1 text | cut -d' ' -f1,2)" "initlog 0x00010000" "first line"
	check_equal "$(tail -n 1 text)" closelog "last line"
	check grep -Eq '^allocate 0x[0-9a-f]+ ".*" 0x[0-9a-f]+ TS 10000$' text
	check grep -Eq '^note 0x[0-9a-f]+ "event=instructions,usr"$' text
	check grep -Eq '^exec [0-9]+ ".*/loop"$' text
	check grep -Eq '^map-in [0-9]+ 0x[0-9a-f]+ ".*/loop" ' text
}

pmcstat_writes_a_log_that_pmcstat_and_report_read() {
	check "$pmcstat" -O file.log -n 10000 -P instructions,usr -- "$loop" 1000000
	check "$pmcstat" -R file.log -o text
	check_equal "$(samples text)" 300 "samples"
	tid=$(awk '$1 == "callchain" { print $3; exit }' text)
	check "$pmcstat" -R file.log -i "$tid" -o text
	check_equal "$(samples text)" 300 "samples of the only thread"
	check "$pmcstat" -R file.log -i 1 -o text
	check_equal "$(grep -c ^callchain text)" 0 "samples of init"
	check "$hwpmc" report -i file.log --format csv -s process -o out.csv
	check_equal "$(cat out.csv)" 'event,samples,percent,process
"instructions,usr",300,100.0000,loop' "report"
}

pmcstat_notes_what_ran_and_under_which_kernel() {
	check "$pmcstat" -O notes.log -P instructions,usr -- "$loop" 1000
	check "$pmcstat" -R notes.log -o text
	check grep -q "^note 0x0 \"command=$loop 1000\"\$" text
	check grep -q "^note 0x0 \"hostname=$(uname -n)\"\$" text
	check grep -q "^note 0x0 \"release=$(uname -r)\"\$" text
	# Names of the kernel that runs here are not those of another.
	check "$pmcstat" -O kernel.log -n 10007 -S instructions -- sleep 0.2
	check "$pmcstat" -R kernel.log -m pcs -o text
	check grep -Eq '^0x[0-9a-f]+ [a-z_0-9.]+ 0xffffffff' pcs
	sed "s/release=$(uname -r)/release=$(uname -r | tr 0-9 1-90)/" kernel.log >other.log
	check "$pmcstat" -R other.log -m pcs -o text
	grep -E '^0x[0-9a-f]+ [a-z_0-9.]+ 0xffffffff8' pcs && fail "named"
	check_equal "$(wc -l <pcs)" "$(awk '/#samples total/ { print $3 }' text)" \
		"samples"
}

pmcstat_sends_a_log_to_another_that_waits_for_it() {
	# A kernel without IPv6 (the debug kernels) has nothing at ::1.
	ipv6=
	[ ! -e /proc/net/if_inet6 ] || ipv6='[::1]:9998'
	for address in 127.0.0.1:9999 $ipv6 localhost:9997; do
		"$pmcstat" -R "$address" -o text &
		pid=$!
		until "$pmcstat" -O "$address" -n 10000 -P instructions,usr -- \
			"$loop" 1000000 2>err; do
			grep -q 'Connection refused' err || fail "$(cat err)"
			sleep 0.1
		done
		wait "$pid" || fail "the reader ended with $?"
		check_equal "$(samples text) $(tail -n 1 text)" "300 closelog" \
			"from $address"
	done
}

pmcstat_reads_what_hwpmc_record_sends() {
	"$pmcstat" -R :9999 -o text &
	pid=$!
	until "$hwpmc" record -q -o 127.0.0.1:9999 -e instructions:u -c 10000 -- \
		"$loop" 1000000 2>err; do
		grep -q 'Connection refused' err || fail "$(cat err)"
		sleep 0.1
	done
	wait "$pid" || fail "the reader ended with $?"
	check_equal "$(samples text)" 300 "samples"
}

pmcstat_logs_values_that_add_up_at_switches_and_exits() {
	check "$pmcstat" -O csw.log -o counts -C -d -W -E -p instructions,usr -- \
		sh -c "$loop 1000000 & $loop 2000000; wait"
	check "$pmcstat" -R csw.log -o text
	total=$(tail -n 1 counts | tr -d ' ')
	[ "$total" -gt 9000000 ] || fail "counted $total"
	check_equal "$(increments text)" "$total" "sum of increments"
	check_equal "$(counts text)" "$total" "sum at exits"
	check_equal "$(grep -c '^exitval' text)" 3 "processes"
}

pmcstat_prints_values_beside_the_counts() {
	check "$pmcstat" -o text -C -E -p instructions,usr -- "$loop" 1000000
	check grep -Eq '^exitval 0x[0-9a-f]+ [0-9]+ 3000057$' text
	check grep -Eq '^ *3000057$' text
}

pmcstat_samples_all_cpus_and_counts_beside_it() {
	check "$pmcstat" -O all.log -o counts -C -p instructions,usr -n 20011 \
		-S instructions -- "$loop" 1000000
	check_equal "$(tail -n 1 counts | tr -d ' ')" 3000057 "count"
	check "$pmcstat" -R all.log -o text
	check_equal "$(grep -c ' SS 20011$' text)" 2 "sampling PMCs"
	check grep -Eq '^callchain [0-9]+ [0-9]+ 0x[0-9a-f]+ [01] s 0xffff' text
}

pmcstat_toggles_call_chains_for_the_events_that_follow() {
	check "$pmcstat" -O n.log -n 10000 -P instructions,usr -N \
		-P branches,usr -- "$loop" 1000000
	check "$pmcstat" -R n.log -o text
	# By event, branches first: between CPUs, only time orders records.
	check_equal "$(awk '$1 == "allocate" { print $3, $4 }' text | sort |
		cut -d' ' -f2 | tr '\n' ' ')" "0x100200 0x100280 " "flags"
}

# refused STATUS TEXT COMMAND...: it fails with that status and says that.
refused() {
	want=$1 text=$2
	shift 2
	status=0
	"$@" >refused.out 2>&1 || status=$?
	check_equal "$status" "$want" "status of $*"
	grep -q -- "$text" refused.out || fail "$*: $(cat refused.out)"
}

pmcstat_says_that_the_log_could_not_be_written() {
	refused 1 "cannot write '/dev/full': No space left on device; the log is incomplete" \
		"$pmcstat" -O /dev/full -P instructions -- "$loop" 1000
	check_equal "$(wc -l <refused.out)" 1 "lines about /dev/full"
	# A file of /proc takes no writes from the kernel.
	refused 1 "cannot write '/proc/self/clear_refs': the kernel cannot write to it" \
		"$pmcstat" -O /proc/self/clear_refs -P instructions -- "$loop" 1000
	refused 1 "cannot write '/nowhere/log'" \
		"$pmcstat" -O /nowhere/log -P instructions -- "$loop" 1000
	refused 1 "cannot connect to '127.0.0.1:9'" \
		"$pmcstat" -O 127.0.0.1:9 -P instructions -- "$loop" 1000
	refused 1 "cannot open 'nonesuch'" "$pmcstat" -R nonesuch
	refused 1 "offset 0" "$pmcstat" -R /bin/sh
}

pmcstat_ends_the_command_when_the_log_fails_meanwhile() {
	mkdir -p small
	check mount -t tmpfs -o size=64k none small
	# Of user mode: where nothing limits what sampling takes, the end of an NMI of a
	# debug kernel alone is a thousand instructions, and the CPU does nothing else.
	refused 1 "No space left on device; the log is incomplete" \
		limit 60 "$pmcstat" -O small/log -n 1000 -P instructions,usr -- \
		"$loop" 4000000000
	# What is there can be read.
	check "$pmcstat" -q -R small/log -o text
	umount small
	[ "$(samples text)" -gt 100 ] || fail "$(samples text) samples"
}

pmcstat_does_not_hang_on_a_reader_that_reads_nothing() {
	mkfifo fifo
	sh -c 'exec sleep 1000' <fifo &
	sleeper=$!
	"$pmcstat" -O fifo -n 1000 -P instructions,usr -- "$loop" 100000000 2>err &
	pid=$!
	sleep 1
	kill -TERM $pid
	sleep 1
	kill -TERM $pid
	wait $pid
	kill $sleeper
	check "$pmcstat" -o got -C -p instructions,usr -- "$loop" 1000000
	check_equal "$(tail -n 1 got | tr -d ' ')" 3000057 "count afterwards"
}

pmcstat_refuses_options_that_exclude_each_other() {
	refused 2 "cannot be combined" "$pmcstat" -O a -R b
	refused 2 "cannot be combined with a command" "$pmcstat" -R a -P instructions true
	refused 2 "need -O" "$pmcstat" -p instructions -P branches true
	refused 2 "events to log" "$pmcstat" -O a -p instructions true
	refused 2 "needs a log" "$pmcstat" -i 1 -p instructions true
	refused 2 "invalid sampling rate" "$pmcstat" -n 0 -P instructions true
	refused 2 "command or -t" "$pmcstat" -P instructions
}

pmcstat_lists_events_and_describes_one() {
	check "$pmcstat" -L -o list
	check grep -qx instructions list
	check "$pmcstat" -u instructions -o one
	check grep -q '^instructions: .' one
	refused 1 "no event 'nonesuch'" "$pmcstat" -u nonesuch
}

harness_run
