#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_record_to - where hwpmc record writes: compressed files, pipes whose reader
# goes away or stands still, full disks; and what it logs beside samples.
. "$VM_TOP/tests/harness/harness.sh"
pmcstat=$VM_TOP/build/tools/pmcstat
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

record_writes_compressed_logs_that_report_reads() {
	for z in -z -z9 --compress --compress=1; do
		check "$hwpmc" record $z -o z.log -e instructions:u -c 1000 -- \
			"$loop" 1000000
		check_equal "$(od -An -tx4 -N4 z.log | tr -d ' ')" fd2fb528 "magic"
		check zstd -q -t z.log
		check "$hwpmc" report -i z.log --format csv -s process -o out.csv
		check_equal "$(sed 1d out.csv)" "instructions:u,3000,100.0000,loop" "$z"
	done
	"$hwpmc" record -z20 -o z.log -- true >got 2>&1
	check_equal $? 2 "status of level 20"
}

record_logs_values_beside_samples() {
	check "$hwpmc" record --csw --exit -o v.log -e instructions:u -c 10000 -- \
		sh -c "$loop 1000000; $loop 1000000"
	check "$pmcstat" -R v.log -o text
	check_equal "$(grep -c '^exitval' text)" 3 "processes"
	check_equal "$(awk '$1 == "exitval" { n -= $4 } $1 == "cswval" { n += $5 }
		END { print n + 0 }' text)" 0 "increments less exits"
	check "$hwpmc" record --exit -o v.log -e instructions:u -c 10000 -- \
		"$loop" 1000000
	check "$pmcstat" -R v.log -o text
	check grep -Eq '^exitval 0x[0-9a-f]+ [0-9]+ 3000057$' text
	"$hwpmc" record --csw -a -- true >got 2>&1
	check_equal $? 2 "status with -a"
}

# Output of the command between the records would end the reading of the log.
record_to_standard_output_keeps_the_commands_output_out_of_the_log() {
	"$hwpmc" record -q -o - -e instructions:u -c 10000 -- \
		sh -c "echo no record; $loop 1000000; echo no record" >out.log 2>err
	check_equal $? 0 "status: $(cat err)"
	check_equal "$(cat err)" "$(printf 'no record\nno record')" "the command's output"
	check "$hwpmc" report -i out.log --format csv -s process -o out.csv
	check grep -q '^instructions:u,300,.*,loop$' out.csv
}

record_ends_when_its_reader_is_gone_or_stands_still() {
	{ limit 60 "$hwpmc" record -o - -e instructions:u -c 1000 -- \
		"$loop" 4000000000 2>err; echo $? >status; } | head -c 100 >/dev/null
	check_equal "$(cat status)" 125 "status: $(cat err)"
	check grep -q 'Broken pipe; the log is incomplete' err
	mkfifo fifo
	sh -c 'exec sleep 1000' <fifo &
	sleeper=$!
	"$hwpmc" record -a -o fifo -e instructions -c 10007 2>err &
	pid=$!
	await sh -c "'$hwpmc' control | grep -q 'in use by hwpmc'"
	fill_pipe fifo
	kill -TERM $pid
	wait $pid
	check_equal $? 125 "status"
	check grep -q 'the log is incomplete' err
	# It is full before the first record of the log.
	"$hwpmc" record -a -o fifo -e instructions -c 10007 2>err &
	pid=$!
	await grep -q '^7 ' /proc/$pid/syscall	# poll()
	kill -TERM $pid
	wait $pid
	check_equal $? 125 "status of the second"
	check grep -q 'the log is incomplete' err
	kill $sleeper
	check "$hwpmc" record -q -o after.log -e instructions:u -c 10000 -- \
		"$loop" 1000000
	check "$hwpmc" report -i after.log --format csv -s process -o out.csv
	check_equal "$(sed 1d out.csv)" "instructions:u,300,100.0000,loop" "after"
}

record_keeps_what_a_full_disk_took() {
	mkdir -p small
	check mount -t tmpfs -o size=64k none small
	limit 60 "$hwpmc" record -o small/log -e instructions:u -c 1000 -- \
		"$loop" 4000000000 2>err
	check_equal $? 125 "status"
	check grep -q 'No space left on device; the log is incomplete' err
	check "$hwpmc" report -i small/log --format csv -s process -o out.csv
	umount small
	n=$(awk -F, 'NR > 1 { print $2 }' out.csv)
	[ "$n" -gt 1000 ] || fail "$n samples in 64 KiB"
}

harness_run
