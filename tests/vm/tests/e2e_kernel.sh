#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# e2e_kernel - from counter overflow to the report where code is the kernel's: the
# vdso, system calls, and three functions of 60, 30 and 10 percent in a module.
. "$VM_TOP/tests/vm/lib/e2e.sh"
[ -e /sys/kernel/debug/hotmod ] || insmod "$VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko"

# Of the module a round takes 3,027 instructions on Linux 7.3, thrice 1009, which would
# meet the same three until an interrupt comes between: 895 is the golden section of it.
periods="1009 1511" sparse='-c 895' rounds=3000 own=85
# An NMI of a kernel that is built to find faults takes longer than these periods, and
# its cond_resched() most of the time that is not the module's own.
case $(uname -r) in
*-debug|*-kcsan) periods="20011 30011" sparse="-c 20011" rounds=20000 own=50 ;;
esac
kernel="-e instructions:k --user-callchain $sparse"
progs=$VM_TOP/build/vm/progs
# For profile(), which sets all.
export report="--kallsyms symbols" all=

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

# A system call that always takes as many instructions is met by a fixed period in the
# same few places, where one divides the other: on Linux 7.3 three of these take 1009,
# and nearly all samples were in do_syscall_64 itself. So two periods. The way out has
# a symbol of its own in assembly language: on 5.10 one of four places is in it.
system_calls_are_named_from_the_program_down_to_the_function() {
	call=';main;ask_parent;entry_SYSCALL_64_after_hwframe_\[k\]' seen=0
	out=';main;ask_parent;syscall_return_via_sysret_\[k\]'
	for period in $periods; do
		profile $kernel -c $period -- "$progs/hot" -p 40000
		[ "$(stacks "$call|$out")" -ge $((all * 8 / 10)) ] ||
			fail "only $(stacks "$call|$out") of $all samples are in the system call"
		seen=$((seen + $(stacks "$call;do_syscall_64_\[k\];(x64_sys_call_\[k\];)?__do_sys_getppid_\[k\]")))
		# Code without a name: what the kernel made for a probe, a linkage table.
		[ "$(flat ',\[unknown\]$')" -le 5 ] ||
			fail "unknown: $(grep ',\[unknown\]$' flat.csv)"
	done
	[ "$seen" -gt 1000 ] || fail "getppid is not seen but $seen times"
}

shares_are_right_in_a_kernel_module() {
	profile $kernel -- "$progs/hot" -m $rounds
	call_tree
	# A timer's interrupt is below the function that it met, in all three.
	below=$(($(tree mod_sixty) + $(tree mod_thirty) + $(tree mod_ten)))
	near "$(tree mod_sixty)" "$below" 60 "mod_sixty in the tree"
	[ "$below" -ge "$(flat ',\[hotmod\],mod_')" ] || fail "the tree has less than the list"
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
	[ "$(flat ',\[hotmod\],mod_')" -ge $((all * own / 100)) ] ||
		fail "only $(flat ',\[hotmod\],mod_') of $all samples are in the module"
}

shares_are_right_in_a_module_loaded_while_sampling() {
	report=
	rmmod hotmod
	profile $kernel -- sh -c "insmod $VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko
		$progs/hot -m $rounds"
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
}

shares_are_right_in_a_module_seen_by_the_whole_system() {
	profile -a -e instructions $sparse -- "$progs/hot" -m $rounds
	three ',hot,\[hotmod\]' 'work_\[k\]' mod
}

# shellcheck disable=SC2154 # e2e.sh sets hwpmc
kernel_symbols_that_are_kept_give_the_names_of_kallsyms() {
	export XDG_CACHE_HOME=$PWD
	"$hwpmc" record -q -e instructions -c 2000 -o kept.log -- "$progs/hot" -p 400 ||
		fail "no log"
	HWPMC_CACHE=none "$hwpmc" report -i kept.log >live 2>live.said
	[ ! -e hwpmc ] || fail "a cache that is off is written"
	for i in first second; do
		"$hwpmc" report -i kept.log >$i 2>$i.said
		check cmp live $i
		check cmp live.said $i.said
		cksum hwpmc/kallsyms >sum.$i
	done
	check cmp sum.first sum.second
	grep -qE '\[kernel\] +[a-z]+_' live || fail "no name of the kernel: $(cat live)"
	# Who may not see the addresses gets no names of them.
	sysctl -q kernel.kptr_restrict=2
	"$hwpmc" report -i kept.log >hidden 2>&1
	HWPMC_CACHE=none "$hwpmc" report -i kept.log >hidden.live 2>&1
	sysctl -q kernel.kptr_restrict=0
	check cmp hidden hidden.live
	grep -qE '\[kernel\] +[a-z]+_' hidden && fail "names though addresses are hidden"
	# Another module may have an address that was another's.
	rmmod hotmod
	"$hwpmc" report -i kept.log >third 2>&1
	HWPMC_CACHE=none "$hwpmc" report -i kept.log >third.live 2>&1
	insmod "$VM_TOP/build/vm/kmods/$(uname -r)/hotmod.ko"
	check cmp third third.live
	cksum hwpmc/kallsyms >sum.third
	cmp -s sum.first sum.third && fail "the symbols are those of the removed module too"
	printf X | dd of=hwpmc/kallsyms bs=1 seek=900000 conv=notrunc 2>dd.said
	"$hwpmc" report -i kept.log >fourth 2>&1
	check cmp third.live fourth
	unset XDG_CACHE_HOME
}

harness_run
