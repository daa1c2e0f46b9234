#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_unprivileged - the tools of a user who may open the device, or may not, and may
# not measure kernel mode.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
pmcstat=$VM_TOP/build/tools/pmcstat
loop=$VM_TOP/build/vm/progs/loop
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
tunables=/proc/sys/kern/hwpmc
note="user mode only: kernel mode needs CAP_PERFMON; run it as root, or: sysctl kern.hwpmc.unprivileged_kernel=1"

# `loop 1000000` executes so many in user mode, by its source.
insn=3000057 branches=1000016

load() {
	[ ! -e /dev/hwpmc ] || rmmod hwpmc
	check insmod "$ko" "$@"
	# The emulator's NMIs take long.
	echo 0 >$tunables/selfcost
	chmod 777 .
}

unprivileged() { chroot --userspec=65534:65534 / env -C "$PWD" "$@"; }

# refused STATUS TEXT COMMAND...: one line, that has TEXT
refused() {
	want=$1 text=$2 status=0
	shift 2
	"$@" >refused.out 2>&1 || status=$?
	check_equal "$status" "$want" "status of $*"
	check_equal "$(wc -l <refused.out)" 1 "lines: $(cat refused.out)"
	grep -qF -- "$text" refused.out || fail "said: $(cat refused.out)"
}

# runs COMMAND...: it succeeds, and what it says is in out
runs() { "$@" >out 2>&1 || fail "status $? of $*: $(cat out)"; }

# says GREPARGS...
says() { grep "$@" out >/dev/null || fail "said: $(cat out)"; }
says_not() { ! grep "$@" out >/dev/null || fail "said: $(cat out)"; }

# csv FIELD EVENT: a column of out
csv() { awk -F, -v e="$2" -v f="$1" '$1 == "total" && $4 == e { print $f }' out; }

a_user_who_may_not_open_the_device_is_told_what_to_do() {
	load
	refused 125 "cannot open /dev/hwpmc: permission denied; run it as root, or load the module for a group: sudo modprobe -r hwpmc && sudo modprobe hwpmc gid=GROUP" \
		unprivileged "$hwpmc" stat true
	load gid=4711
	refused 125 "run it as root, or join the group of the device and log in again: sudo usermod -aG 4711 USER" \
		unprivileged "$hwpmc" stat true
	check chroot --userspec=65534:4711 / "$hwpmc" stat true
	load gid=4711 mode=0640
	refused 125 "load the module for a group" unprivileged "$hwpmc" stat true
}

stat_counts_user_mode_where_kernel_mode_is_refused_and_says_so() {
	load mode=0666
	runs unprivileged "$hwpmc" stat --csv -e instructions,branches,page-faults \
		-- "$loop" 1000000
	check_equal "$(csv 6 instructions:u) $(csv 6 branches:u)" "$insn $branches" "counts"
	[ "$(csv 6 page-faults)" -gt 0 ] || fail "no page faults: $(cat out)"
	runs unprivileged "$hwpmc" stat -r 2 -e instructions,cycles -- "$loop" 1000000
	says -q "3,000,057  instructions:u .* instructions per cycle"
	check_equal "$(grep -cxF " $note" out)" 1 "notes: $(cat out)"
	runs unprivileged "$hwpmc" stat -- "$loop" 1000000
	says -q "cycles:u"
	says -q "3,000,057  instructions:u"
	runs unprivileged "$hwpmc" stat -e page-faults true
	says_not -F "user mode"
	runs "$hwpmc" stat -e instructions -- "$loop" 1000000
	says_not -F ":u"
	says_not -F "user mode"
}

list_without_permission_has_the_events_of_the_tables() {
	load mode=0600
	runs unprivileged "$hwpmc" list
	says -q "permission denied"
	says -q "listing the events of this processor (GenuineIntel-.*) by its tables"
	says -qE "^  instructions  "
	says -qE "^  page-faults  "
	load mode=0666
	runs unprivileged "$hwpmc" list
	says_not -F "by its tables"
	says -qE "^  instructions  "
}

user_mode_is_named_in_the_way_of_each_form_of_an_event() {
	load mode=0666
	runs unprivileged "$hwpmc" stat -e cpu/event=0xc0/ -e r00c0 \
		-e branches,cmask=0 -- "$loop" 1000000
	says -qE "3,000,057  cpu/event=0xc0/u( |$)"
	says -qE "3,000,057  r00c0:u( |$)"
	says -qE "1,000,016  branches:u,cmask=0( |$)"
}

kernel_mode_that_was_asked_for_is_refused_and_not_replaced() {
	load mode=0666
	why="measuring kernel mode needs CAP_PERFMON; measure user mode only (EVENT:u), run it as root, or: sysctl kern.hwpmc.unprivileged_kernel=1"
	for event in instructions:k instructions:uk cpu/event=0xc0/k instructions,os \
		     tracepoint:sys_enter lock.failed; do
		refused 125 "$why" unprivileged "$hwpmc" stat -e $event true
	done
	refused 125 "$why" unprivileged "$hwpmc" record -e context-switches -o x.log true
	refused 1 "$why" unprivileged "$pmcstat" -p instructions,os true
}

a_default_event_without_a_counter_keeps_its_own_reason() {
	load mode=0666
	three=branches,branches,branches
	refused 125 "all counters that can count the event are in use" \
		unprivileged "$hwpmc" stat -e $three,$three,$three true
}

the_tunable_gives_kernel_mode_to_everybody_at_once() {
	load mode=0666
	echo 1 >$tunables/unprivileged_kernel
	runs unprivileged "$hwpmc" stat --csv -e instructions -- "$loop" 1000000
	[ "$(csv 6 instructions)" -gt $insn ] || fail "no kernel mode: $(cat out)"
}

cpus_are_counted_in_user_mode_where_anybody_may_count_them() {
	load mode=0666 unprivileged_syspmcs=1
	runs unprivileged "$hwpmc" stat -a --per-cpu --csv -e instructions -- "$loop" 1000000
	counts=$(csv 6 instructions:u | wc -l)
	[ "$counts" -ge 2 ] || fail "counts of CPUs: $(cat out)"
}

record_samples_user_mode_where_kernel_mode_is_refused_and_says_so() {
	load mode=0666
	runs unprivileged "$hwpmc" record -e instructions -c 10007 -o n.log \
		-- "$loop" 1000000
	check_equal "$(grep -cF "sampling 'instructions:u', $note" out)" 1 "notes: $(cat out)"
	check_equal "$("$hwpmc" dump --type sample -i n.log | grep -c instructions:u)" \
		"$((insn / 10007))" "samples"
	runs unprivileged "$hwpmc" record -q -e instructions -c 10007 -o q.log \
		-- "$loop" 1000
	check_equal "$(cat out)" "" "what -q says"
	runs unprivileged "$hwpmc" record -o d.log -- "$loop" 1000000
	says -qF "sampling 'cycles:u', $note"
}

pmcstat_counts_user_mode_where_kernel_mode_is_refused_and_says_so() {
	load mode=0666
	runs unprivileged "$pmcstat" -C -p instructions "$loop" 1000000
	says -qF "# p/instructions:u"
	says -qx " *$insn"
	check_equal "$(grep -cF "$note" out)" 1 "notes: $(cat out)"
	runs unprivileged "$pmcstat" -q -C -p instructions "$loop" 1000000
	says_not -F "user mode"
	says -qx " *$insn"
}

harness_run
