#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# e2e_kernel - from counter overflow to the report where code is the kernel's: the
# vdso, system calls, and three functions of 60, 30 and 10 percent in a module.
. "$VM_TOP/tests/vm/lib/e2e.sh"
[ -e /sys/kernel/debug/hotmod ] || insmod "$VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko"

kernel="-e instructions:k --user-callchain"
progs=$VM_TOP/build/vm/progs
# For profile(), which sets all.
export report= all=

# An interrupt comes at the end of the block that overflows the counter: so the
# last one of a short function is its caller's: here one tenth of it, and where it was
# compiled otherwise more (Linux 6.12: one eighth).
the_share_of_the_vdso_is_what_the_emulated_pmu_counts() {
	profile -e instructions:u -- sh -c "exec $progs/hot -c 100000 >truth"
	truth=$(($(cat truth) / 1009)) got=$(flat ',hot,\[vdso\],')
	[ "$got" -gt $((truth * 17 / 20)) ] && [ "$got" -lt $((truth * 11 / 10)) ] ||
		fail "$got samples are in the vdso, not $truth"
	[ "$(flat ',\[vdso\],__vdso_clock_gettime$')" -gt $((got * 8 / 10)) ] ||
		fail "__vdso_clock_gettime is not most of it"
	# Its first instructions have no frame yet.
	[ "$(stacks ';ask_clock;__vdso_clock_gettime$')" -gt $((got * 7 / 10)) ] ||
		fail "ask_clock is not its caller"
}

system_calls_are_named_from_the_program_down_to_the_function() {
	profile $kernel -- "$progs/hot" -p 60000
	call=';main;ask_parent;entry_SYSCALL_64_after_hwframe_\[k\]'
	[ "$(stacks "$call")" -ge $((all * 8 / 10)) ] ||
		fail "only $(stacks "$call") of $all samples are in the system call"
	[ "$(stacks "$call;do_syscall_64_\[k\];__do_sys_getppid_\[k\]")" -gt 1000 ] ||
		fail "getppid is not seen"
	# Code without a name: what the kernel made for a probe, a linkage table.
	[ "$(flat ',\[unknown\]$')" -le 5 ] ||
		fail "unknown: $(grep ',\[unknown\]$' flat.csv)"
}

shares_are_right_in_a_kernel_module() {
	profile $kernel -- "$progs/hot" -m 3000
	call_tree
	near "$(tree mod_sixty)" "$(flat ',\[hotmod\],mod_')" 60 "mod_sixty in the tree"
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
	[ "$(flat ',\[hotmod\],mod_')" -ge $((all * 85 / 100)) ] ||
		fail "only $(flat ',\[hotmod\],mod_') of $all samples are in the module"
}

shares_are_right_in_a_module_loaded_while_sampling() {
	rmmod hotmod
	profile $kernel -- sh -c "insmod $VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko
		$progs/hot -m 3000"
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
}

shares_are_right_in_a_module_seen_by_the_whole_system() {
	profile -a -e instructions -- "$progs/hot" -m 3000
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
}

harness_run
