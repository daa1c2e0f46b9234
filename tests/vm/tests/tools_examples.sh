#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_examples - the EXAMPLES of hwpmc(4), taken from the page itself, run and do
# what the page says of them.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
export PATH="$VM_TOP/build/tools:$PATH"
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
hwpmc=$VM_TOP/build/tools/hwpmc
tracing=/sys/kernel/tracing
[ -e /dev/hwpmc ] || insmod "$ko"
# Some of the examples are an unprivileged user's.
chmod 666 /dev/hwpmc
[ -e $tracing/trace ] || mount -t tracefs tracefs $tracing

# Each example in a file of its own: example.1, example.2...
examples() {
	rm -f example.*
	awk '/^\.Sh/ { here = $2 == "EXAMPLES" }
		/^\.Ed/ { inside = 0 }
		here && inside { gsub(/\\e/, "\\"); print > ("example." n) }
		/^\.Bd/ { inside = 1; n += here }' "$VM_TOP/man/hwpmc.4"
}

# The example with this text in it, of which there must be one.
example_with() {
	examples
	set -- "$1" "$(grep -lF -e "$1" example.*)"
	[ "$(echo "$2" | wc -w)" -eq 1 ] || fail "examples with '$1': '$2'"
	mv "$2" example
}

all_examples_of_the_page_are_tested_here() {
	examples
	set -- example.*
	check_equal $# 4 "examples of hwpmc(4)"
}

example_of_control_lists_classes_and_rows() {
	example_with 'hwpmc control -l'
	sh -e example >out || fail "status $?: $(cat out)"
	grep -q '^machine' out || fail "no machine: $(cat out)"
	grep -q 'SOFT-0' out || fail "no rows: $(cat out)"
}

example_of_debugflags_shows_the_allocation_of_the_command() {
	example_with debugflags
	: >$tracing/trace
	sh -e example >out 2>err || fail "status $?: $(cat out err)"
	grep -q 'hwpmc_pmc_allocate: ' out || fail "no allocation: $(cat out)"
	check_equal "$(sysctl -n kern.hwpmc.debugflags)" "" "flags at the end"
}

# The program of the page, which counts its own page faults.
compiled() {
	example_with 'int main'
	mv example example.c
	check gcc -Wall -Wextra -Werror -I"$VM_TOP/include/uapi" -o example_program example.c
}

# What an unprivileged user sees of the machine and of another of its own processes.
unprivileged="chroot --userspec=65534:65534 /"
sees_the_machine() { $unprivileged "$hwpmc" stat -a -e page_fault.all true >out 2>&1; }
sees_a_process() { $unprivileged "$hwpmc" stat -p "$1" -e page_fault.all true >out 2>&1; }

open_again() {
	sysctl -q kern.hwpmc.unprivileged_syspmcs=0 kern.hwpmc.unprivileged_proc_debug=1
}

example_of_privileges_leaves_each_process_itself() {
	chmod 755 .
	example_with unprivileged_proc_debug
	$unprivileged sleep 1000 >/dev/null 2>&1 &
	other=$!
	trap 'kill $other; open_again' EXIT
	until grep -q sleep /proc/$other/comm; do
		has_ended $other && fail "no process of another user"
		sleep 0.1
	done
	sysctl -q kern.hwpmc.unprivileged_syspmcs=1
	sees_the_machine || fail "refused the machine before: $(cat out)"
	sees_a_process $other || fail "refused a process before: $(cat out)"
	sh -e example >out || fail "status $?: $(cat out)"
	sees_the_machine && fail "showed the machine: $(cat out)"
	sees_a_process $other && fail "showed a process: $(cat out)"
	compiled
	$unprivileged "$PWD/example_program" >out 2>&1 ||
		fail "refused the process itself: $(cat out)"
}

example_program_counts_its_hundred_page_faults() {
	compiled
	./example_program >out || fail "status $?: $(cat out)"
	faults=$(sed -n 's/^\([0-9]*\) page faults$/\1/p' out)
	# The pages of the example; few others are touched in between.
	[ "${faults:-0}" -ge 100 ] || fail "too few: $(cat out)"
	[ "$faults" -le 110 ] || fail "too many: $(cat out)"
}

harness_run
