#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_debug - debugflags and the tracepoints of the module: what the sysctl switches
# on is what the kernel's trace buffer gets, and tracefs switches the same.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
flags=/proc/sys/kern/hwpmc/debugflags
tracing=/sys/kernel/tracing
events=$tracing/events/hwpmc
[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing
[ -e /dev/hwpmc ] || insmod "$ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

set_flags() { echo "$1" >$flags || fail "cannot set '$1'"; }
clear_trace() { : >$tracing/trace; }

# on: the events that are on, without the prefix
on() {
	grep -lx 1 "$events"/hwpmc_*/enable |
		sed 's|.*/hwpmc_\(.*\)/enable|\1|' | tr '\n' ' '
}

# traced EVENT: how often it is in the trace
traced() { grep -c " hwpmc_$1: " $tracing/trace; }

has() { [ "$(traced "$1")" -gt 0 ] || fail "no $1 traced"; }

count_instructions() {
	check "$hwpmc" stat --csv -e instructions:u -o stat.csv -- "$loop" 1000000
	check_equal "$(awk -F, '$1 == "total" && $4 == "instructions:u" { print $6 }' \
		stat.csv)" 3000057 "instructions"
}

debugflags_switch_the_events_that_they_name_and_no_others() {
	check_equal "$(cat $flags)" "" "at first"
	check_equal "$(on)" "" "on at first"
	set_flags "pmc=allocate,release md=*"
	check_equal "$(on)" "md_allocate md_config md_exit md_init md_release pmc_allocate pmc_release " "on"
	check_equal "$(cat $flags)" "pmc=allocate,release md=*" "what was set"
	set_flags "pmc=release"
	check_equal "$(on)" "pmc_release " "on"
	set_flags ""
	check_equal "$(on)" "" "on when it is empty"
}

each_major_of_debugflags_switches_all_of_its_events() {
	all=
	for major in cpu csw logging md module owner pmc process sampling; do
		set_flags "$major=*"
		want=$(cd $events && echo hwpmc_${major}_*)
		check_equal "$(on)" \
			"$(echo "$want" | sed 's/hwpmc_//g') " "$major=*"
		all="$all $want"
	done
	set_flags ""
	check_equal "$(echo $all | wc -w)" \
		"$(find $events -mindepth 1 -maxdepth 1 -type d | wc -l)" \
		"events of the majors"
}

a_wrong_word_in_debugflags_is_einval_and_changes_nothing() {
	set_flags "pmc=start,stop"
	before=$(on)
	long=$(printf 'pmc=read %.0s' $(seq 100))
	for text in "pmc=start csw=nonsense" "nonsense=*" "pmc" "pmc=" "$long"; do
		echo "$text" >text
		cat text 2>said >$flags && fail "'$text' was taken"
		grep -q 'Invalid argument' said || fail "said: $(cat said)"
		check_equal "$(cat $flags)" "pmc=start,stop" "after '$text'"
		check_equal "$(on)" "$before" "on after '$text'"
	done
	set_flags ""
}

a_counting_program_is_traced_from_its_allocation_to_its_release() {
	set_flags "cpu=* logging=* md=* module=* owner=* pmc=* process=*"
	clear_trace
	count_instructions
	set_flags ""
	for e in owner_allocate module_hook md_init pmc_allocate md_allocate \
		 pmc_attach process_linktarget pmc_start process_exec \
		 process_exit process_unlinktarget pmc_read pmc_release \
		 md_release md_exit owner_release module_syscall; do
		has $e
	done
	check_equal "$(traced pmc_allocate)" "$(traced pmc_release)" \
		"allocations and releases"
	check_equal "$(traced process_linktarget)" \
		"$(traced process_unlinktarget)" "links, made and ended"
	grep -q ' hwpmc_pmc_read: pmc=0x[0-9a-f]* row=[0-9]* count=3000057$' \
		$tracing/trace || fail "$(grep pmc_read $tracing/trace)"
	# The order of one PMC's life.
	check_equal "$(sed -n 's/.* hwpmc_pmc_\(allocate\|start\|release\): .*/\1/p' \
		$tracing/trace | tr '\n' ' ')" "allocate start release " "its life"
}

operations_are_traced_with_their_error_and_reason() {
	set_flags "module=syscall"
	clear_trace
	# PMCSTART of a PMC that was never allocated.
	python3 -c 'import errno, fcntl, os
try:
    fcntl.ioctl(os.open("/dev/hwpmc", os.O_RDWR), 0xc010ef0e, bytes(16))
except OSError as e:
    assert e.errno == errno.ESRCH, e' || fail "start of nothing is not ESRCH"
	set_flags ""
	grep -q ' hwpmc_module_syscall: op=14 ret=-3 reason=[1-9]' $tracing/trace ||
		fail "$(grep module_syscall $tracing/trace)"
}

switches_of_a_measured_program_are_traced_and_its_count_is_exact() {
	set_flags "csw=*"
	clear_trace
	count_instructions
	set_flags ""
	has csw_swi
	has csw_swo
	clear_trace
	count_instructions
	check_equal "$(traced csw_swi) $(traced csw_swo)" "0 0" "traced when off"
}

samples_and_their_log_are_traced_where_they_are_taken() {
	set_flags "sampling=* logging=*"
	clear_trace
	check "$hwpmc" record -q -e instructions:u -c 100000 -o traced.log -- \
		"$loop" 1000000
	set_flags ""
	has logging_config
	has logging_getbuf
	has logging_release
	check "$hwpmc" dump -i traced.log --type sample -o samples
	check_equal "$(traced sampling_sample)" "$(wc -l <samples)" "samples traced"
	check_equal "$(sed -n 's/.*hwpmc_sampling_intr: overflows=\([0-9]*\) .*/\1/p' \
		$tracing/trace | awk '{ n += $1 } END { print n }')" \
		"$(wc -l <samples)" "overflows traced"
}

a_log_that_the_kernel_writes_is_traced() {
	set_flags "logging=*"
	clear_trace
	check "$VM_TOP/build/tools/pmcstat" -O written.log -n 100000 \
		-P instructions,usr -- "$loop" 1000000
	set_flags ""
	has logging_write
	has logging_flush
	total=$(sed -n 's/.*hwpmc_logging_write: .* ret=\([0-9]*\)$/\1/p' \
		$tracing/trace | awk '{ n += $1 } END { print n }')
	# The program adds what it knows itself.
	check_equal "$(sed -n 's/.*hwpmc_logging_release: bytes=\([0-9]*\) .*/\1/p' \
		$tracing/trace)" "$total" "bytes at the end, and of all writes"
	size=$(stat -c %s written.log)
	[ "$total" -gt 1000 ] && [ "$total" -le "$size" ] ||
		fail "$total traced, $size in the file"
}

a_fork_of_a_measured_program_is_traced() {
	set_flags "process=fork"
	clear_trace
	check "$hwpmc" stat -e instructions:u -o /dev/null -- sh -c 'ls >/dev/null; true'
	set_flags ""
	check_equal "$(traced process_fork)" 1 "forks"
}

the_signal_of_an_owner_that_lost_its_last_target_is_traced() {
	set_flags "owner=signal"
	clear_trace
	check "$VM_TOP/build/tools/pmcstat" -O signal.log -n 100000 \
		-P instructions,usr -- "$loop" 100000
	set_flags ""
	check_equal "$(traced owner_signal)" 1 "signals"
}

an_offline_cpu_is_traced_as_it_goes_and_comes() {
	set_flags "cpu=*"
	clear_trace
	echo 0 >/sys/devices/system/cpu/cpu1/online || fail "cannot take CPU 1 off"
	echo 1 >/sys/devices/system/cpu/cpu1/online || fail "cannot bring it back"
	set_flags ""
	check_equal "$(traced cpu_exit) $(traced cpu_init)" "1 1" "gone and come"
}

tracefs_switches_the_same_events_without_debugflags() {
	clear_trace
	echo 1 >$events/hwpmc_pmc_start/enable
	count_instructions
	echo 0 >$events/hwpmc_pmc_start/enable
	check_equal "$(traced pmc_start)" 1 "starts traced"
	check_equal "$(cat $flags)" "" "debugflags"
}

an_event_that_tracefs_switched_on_outlives_debugflags() {
	echo 1 >$events/hwpmc_pmc_stop/enable
	set_flags "pmc=start"
	set_flags ""
	check_equal "$(on)" "pmc_stop " "on"
	echo 0 >$events/hwpmc_pmc_stop/enable
}

debugflags_of_the_module_parameter_are_on_from_the_first_moment() {
	check rmmod hwpmc
	check insmod "$ko" debugflags="module=init,syscall"
	check_equal "$(cat $flags)" "module=init,syscall" "debugflags"
	check_equal "$(traced module_init)" 1 "init traced"
	check rmmod hwpmc
	dmesg --clear
	check insmod "$ko" debugflags="module=nonsense"
	dmesg | grep -qF 'hwpmc: tunable debugflags="module=nonsense" is not understood.' ||
		fail "said: $(dmesg | grep hwpmc)"
	check_equal "$(cat $flags)" "" "debugflags"
	check_equal "$(on)" "" "on"
}

debugflags_are_only_the_administrators() {
	check_equal "$(stat -c %a $flags)" 644 "mode"
	chroot --userspec=65534:65534 / sh -c "echo 'pmc=*' >$flags" 2>/dev/null &&
		fail "nobody could set it"
	check_equal "$(on)" "" "on"
}

# Everything at once, while everything happens: it ends, and counts are right.
everything_can_be_traced_while_everything_happens() {
	set_flags "cpu=* csw=* logging=* md=* module=* owner=* pmc=* process=* sampling=*"
	"$hwpmc" record -q -a -g -e instructions -c 500000 -o all.log -- \
		sh -c 'for i in 1 2 3 4 5 6; do ls -R /proc/self >/dev/null & done; wait' ||
		fail "record failed"
	count_instructions
	check rmmod hwpmc
	check insmod "$ko"
	check_equal "$(on)" "" "on after a reload"
}

harness_run
