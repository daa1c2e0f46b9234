#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_watchdog - beside the kernel's NMI watchdog, which holds a counter of each
# CPU as Debian boots: it is named, it can be asked to go, it comes back.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
watchdog=/proc/sys/kernel/nmi_watchdog
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

count() { awk -F, '$1 == "total" && $4 == "instructions:u" { print $6 }' out.csv; }

counts_exactly() {
	check "$hwpmc" stat --csv -e instructions:u -o out.csv -- "$loop" 1000000
	check_equal "$(count)" 3000057 count
}

is_held() { "$hwpmc" control | grep -q '^pmu .*held'; }

while_the_watchdog_is_on_it_is_named_with_the_remedy() {
	check_equal "$(cat $watchdog)" 1 "the watchdog at boot"
	"$hwpmc" stat -e instructions:u "$loop" 10 >out 2>&1 &&
		fail "counted: $(cat out)"
	grep -q 'watchdog' out || fail "said: $(cat out)"
	grep -q 'sysctl kernel.nmi_watchdog=0' out || fail "said: $(cat out)"
	"$hwpmc" control >out
	grep -q '^pmu .*held by.*watchdog' out || fail "control: $(cat out)"
}

events_of_the_kernel_count_beside_the_watchdog() {
	check "$hwpmc" stat -e page_fault.all -o out -- "$loop" 10
	grep -Eq '^ *[1-9][0-9]* .*page_fault.all' out || fail "$(cat out)"
}

what_the_watchdog_held_counts_exactly_when_it_is_off() {
	echo 0 >$watchdog
	counts_exactly
	echo 1 >$watchdog
	is_held || fail "the watchdog did not come back: $("$hwpmc" control)"
}

a_watchdog_that_is_switched_on_meanwhile_disturbs_no_count() {
	echo 0 >$watchdog
	"$hwpmc" stat --csv -e instructions:u -o out.csv -- sh -c "
		echo 1 >$watchdog; exec $loop 1000000" || fail "stat: status $?"
	n=$(count)
	[ "$n" -gt 3000057 ] && [ "$n" -lt 6000000 ] || fail "counted $n"
	counts_exactly
	echo 0 >$watchdog
	echo 1 >$watchdog
	is_held || fail "the watchdog did not come back: $("$hwpmc" control)"
}

the_command_of_the_message_and_the_example_of_sysctl_d_free_the_counters() {
	"$hwpmc" stat -e instructions:u "$loop" 10 2>&1 |
		sed -n 's/.* as root: \(sysctl [^ ]*\) (then =1)$/\1/p' >remedy
	check_equal "$(cat remedy)" "sysctl kernel.nmi_watchdog=0" "the command"
	check grep -q "^    $(cat remedy)" "$VM_TOP/README.md"
	check sh remedy
	counts_exactly
	check sysctl kernel.nmi_watchdog=1
	is_held || fail "the watchdog did not come back: $("$hwpmc" control)"
	check sysctl -p "$VM_TOP/doc/examples/sysctl.d/hwpmc.conf"
	counts_exactly
	echo 1 >$watchdog
}

harness_run
