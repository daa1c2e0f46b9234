#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_kgmon - the histogram of the kernel, begun, halted, written, read by gprof.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
hwpmc=$VM_TOP/build/tools/hwpmc
[ -c /dev/hwpmc ] || insmod "$ko" || exit 1

state() {
	"$hwpmc" kgmon >out || fail "status: $(cat out)"
	cat out
}

# Some system calls for it to see.
work() {
	dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null
}

# A program whose functions are where the kernel's are, as no kernel with symbols is
# here: what gprof needs of one. Some functions only: what lies behind one is its own
# to gprof.
make_vmlinux() {
	grep -E ' [Tt] (_stext|_etext|[a-z_0-9]*(entry|syscall|read|write|clear)[a-z_0-9]*)$' /proc/kallsyms | sort -u | awk -v base=18446744071578845184 '
		function hex(s,   i, n) {
			# Less than 2^53 apart: the low 40 bits are enough.
			n = 0
			for (i = length(s) - 9; i <= length(s); i++)
				n = 16 * n + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		$3 == "_stext" { start = hex($1) }
		$3 == "_etext" { end = hex($1) }
		tolower($2) == "t" && NF == 3 && $3 !~ /[^A-Za-z0-9_.]/ { at[NR] = hex($1); name[NR] = $3 }
		END {
			print ".text\n.globl _stext\n_stext:"
			for (i = 1; i <= NR; i++) {
				# Small numbers are exact as indices of any awk.
				from = at[i] - start
				if (i in name && from >= 0 && at[i] < end && name[i] != "_stext" && !(from in seen)) {
					seen[from] = 1
					printf ".org %d\n%s_%d:\n.type %s_%d, @function\n", from, name[i], i, name[i], i
				}
			}
			printf ".org %d\n", end - start
		}' >kernel.s
	as -o kernel.o kernel.s 2>err && ld -Ttext=0xffffffff81000000 -e _stext -o vmlinux kernel.o 2>>err
}

kgmon_collects_from_begin_to_halt_and_says_so() {
	"$hwpmc" kgmon -r
	state | grep -q '^halted, 0 counters; 0 samples in the kernel' || fail "first: $(cat out)"
	check "$hwpmc" kgmon -b -c 20000
	state | grep -q "^collecting, $(nproc) counters" || fail "then: $(cat out)"
	"$hwpmc" kgmon -b 2>err && fail "began twice"
	grep -q 'already' err || fail "said: $(cat err)"
	work
	check "$hwpmc" kgmon -h
	# Who holds the counters sees it, and ends.
	until halted=$(state); echo "$halted" | grep -q '^halted, 0 counters'; do :; done
	echo "$halted" | grep -Eq '^halted, 0 counters; [1-9][0-9]{2,} samples in the kernel' || fail "halted: $halted"
	work
	check_equal "$(state)" "$halted" "while it is halted"
}

gprof_reads_the_kernels_histogram() {
	"$hwpmc" kgmon -r
	check "$hwpmc" kgmon -b -c 20000
	work
	check "$hwpmc" kgmon -hp -o gmon.out
	n=$(state | sed 's/.*; \([0-9]*\) samples in the kernel.*/\1/')
	make_vmlinux || fail "cannot make a kernel with symbols: $(head -n 3 err)"
	gprof -b -p vmlinux gmon.out >flat 2>err || fail "gprof: $(cat err)"
	sum=$(awk '$1 ~ /^[0-9.]+$/ && NF >= 4 { n += $3 } END { printf "%d", n }' flat)
	[ "$sum" -gt 100 ] || fail "gprof shows $sum samples: $(head -n 8 flat)"
	[ "$sum" -le "$n" ] || fail "gprof shows $sum of $n samples"
	# Where dd spends its time.
	grep -Eq ' (entry_SYSCALL_64|syscall_enter|do_syscall_64|vfs_read|vfs_write|read_zero|ksys_read|ksys_write)' flat ||
		fail "not seen: $(head -n 20 flat)"
}

kgmon_resets_and_refuses_what_is_wrong() {
	check "$hwpmc" kgmon -r
	state | grep -q '^halted, 0 counters; 0 samples in the kernel, 0 in user mode, 0 lost$' || fail "$(cat out)"
	"$hwpmc" kgmon -b -e nonsense 2>err && fail "sampled nonsense"
	grep -q 'nonsense' err || fail "said: $(cat err)"
	state | grep -q '^halted' || fail "collects nonsense"
	echo no >file
	"$hwpmc" kgmon -p -k file 2>err && fail "took a text for a kernel"
	grep -q 'not a kernel with symbols' err || fail "said: $(cat err)"
	"$hwpmc" kgmon -c 0 2>err
	check_equal $? 2 "status of a wrong period"
}

harness_run
