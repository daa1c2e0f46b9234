#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_ibs - class IBS by the tools, and beside perf: either has the hardware while it samples,
# and the other is told so.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
ibs=$VM_TOP/build/vm/progs/ibs
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko" selfcost=0
sysctl -q kernel.perf_cpu_time_max_percent=0

perf_samples() {
	perf record -q -o perf.data -c 10000 -e ibs_op/cnt_ctl=1/ -a -- "$loop" 1000000 >perf.out 2>&1
}

ibs_perf_is_refused_while_hwpmc_samples_and_let_in_again() {
	perf_samples || fail "perf alone: $(cat perf.out)"
	"$hwpmc" record -q -o held -e ibs-op -c 10000 -- sleep 1000 >record.out 2>&1 &
	recorder=$!
	for n in $(seq 200); do
		perf_samples || break
		[ "$n" -lt 200 ] || fail "perf samples beside hwpmc: $(cat record.out)"
	done
	grep -qiE 'busy|EBUSY|code 16|\(16\)' perf.out || fail "not EBUSY: $(cat perf.out)"
	# All else of perf goes on.
	perf stat -e task-clock true >perf.out 2>&1 || fail "perf stat: $(cat perf.out)"
	pkill -P "$recorder" sleep
	wait "$recorder"
	perf_samples || fail "perf after hwpmc: $(cat perf.out)"
	perf script -i perf.data -F ip | grep -q . || fail "perf has no samples after hwpmc"
}

ibs_claim_is_refused_while_perf_samples_all_cpus() {
	perf record -q -o perf.data -c 10000 -e ibs_op/cnt_ctl=1/ -a -- sleep 1000 >perf.out 2>&1 &
	perf=$!
	before=$("$ibs" op)
	for n in $(seq 500); do
		[ "$("$ibs" op)" = "$before" ] || break
		[ "$n" -lt 500 ] || fail "perf does not sample: $(cat perf.out)"
		sleep 0.02
	done
	! "$hwpmc" record -q -o refused -e ibs-op -- true >out 2>&1 || fail "not refused"
	grep -q 'perf' out || fail "no reason: $(cat out)"
	kill -INT $perf
	wait $perf
	"$hwpmc" record -q -o log -e ibs-op -- true 2>out || fail "after perf: $(cat out)"
}

# In the loop each op has its address: no sample is of another instruction than the loop's.
ibs_annotate_has_exact_addresses_of_a_loop() {
	"$hwpmc" record -q -o log -e ibs-op:u -c 997 -- "$loop" 300000 2>out || fail "$(cat out)"
	"$hwpmc" report --stdio -i log >report || fail "report"
	grep -q '^# addresses are exact$' report || fail "no mark: $(cat report)"
	grep -q 'samples of the other mode are omitted' report || fail "no note: $(cat report)"
	! grep -q 'missing in the log' out || fail "reported as lost: $(cat out)"
	"$hwpmc" dump -i log | grep -c '\[exact\]' >n
	[ "$(cat n)" -gt 500 ] || fail "$(cat n) exact samples"
}

ibs_words_of_ops_are_printed_by_name() {
	"$hwpmc" record -q -o log -e ibs-op,data,target,usr -c 997 -- "$loop" 100000 2>out ||
		fail "$(cat out)"
	"$hwpmc" dump -i log >dump
	grep -q 'ibs-op exact data=0x[0-9a-f]* .*brtarget=0x4' dump || fail "no target: $(head -20 dump)"
	"$hwpmc" dump --json -i log >json
	grep -q '"kind":"ibs-op"' json && grep -q '"brtarget":"0x4' json || fail "$(head -c 2000 json)"
}

ibs_counting_and_wrong_qualifiers_are_refused_in_one_line() {
	! "$hwpmc" stat -e ibs-op true >out 2>&1 || fail "it counts"
	[ "$(wc -l <out)" = 1 ] || fail "$(cat out)"
	! "$hwpmc" record -e instructions:p true >out 2>&1 || fail "instructions:p"
	grep -q 'only cycles can be precise on AMD' out || fail "$(cat out)"
	"$hwpmc" record -q -o log -e cycles:pp -c 5000 -- "$loop" 100000 2>out || fail "$(cat out)"
	"$hwpmc" list ibs | grep -q ibs_fetch || fail "not listed"
}

harness_run
