#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_selftest_kinds - hwpmc selftest where CPUs are of several kinds (0 and 1 performance
# cores, 2 and 3 efficient ones): the rows of each kind, fixed counter 3, each CPU.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost
# Under a hypervisor the module tries each row at each claim and refuses those that stand still:
# the selftest reports that.
"$hwpmc" selftest >/dev/null || :

# names WORDS [-c CPU] KNOB VALUE: with it the selftest reports these words of a failure
names() {
	words=$1
	shift
	"$knob" "$@" "$hwpmc" selftest >got 2>&1
	check_equal $? 1 "status with $*: $(cat got)"
	grep -q "FAILED.*$words" got || fail "no '$words' with $*: $(cat got)"
}

selftest_counts_on_each_row_of_each_kind() {
	"$hwpmc" selftest >got 2>&1 || fail "$(cat got)"
	check grep -q '^  held .*each of [0-9]* rows of cpu_core (IAF-0 to IAP-7) counts a loop of' got
	check grep -q '^  held .*each of [0-9]* rows of cpu_atom (IAF-0 to IAP-5) counts a loop of' got
	check grep -q '^  held .*each of 4 CPUs counts in system scope on each of its 7 to 9 rows' got
	check grep -q '^  held .*perf counts the same loop exactly before and after' got
	check_equal "$(grep -c '^  held .*count the same in the kernel' got)" 2 "kinds in the kernel"
	check_equal "$(grep -c '^  measured .*reference cycles per tick' got)" 2 "kinds' clocks"
	check grep -q '^  held .*IAF-3 counts 1.00 slots per cycle' got
	check grep -q ' 0 failed, 0 not tried' got
}

selftest_names_a_row_of_efficient_cores() {
	names 'IAP: counters do not count .*(counters: 1)' -c 2 frozen 0x20
	check grep -q 'held .*rows of cpu_core' got
	names 'IAP: counters do not count .*(counters: 1)' -c 3 frozen 0x20
}

selftest_names_a_counter_of_slots_that_stands_still() {
	names 'IAF-3 counts 0 slots in [0-9]* cycles' frozen 0x800000000
}

selftest_holds_on_all_kinds_afterwards() {
	"$hwpmc" selftest >got 2>&1 || fail "$(cat got)"
}

harness_run
