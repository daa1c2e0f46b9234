#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_examples - the EXAMPLES of hwpmc(4), libhwpmc(3) and libhwpmclog(3), taken from
# the pages themselves, run and do what the pages say of them.
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

# Each example of a page in a file of its own: example.1, example.2...
examples() {
	rm -f example.*
	awk '/^\.Sh/ { here = $2 == "EXAMPLES" }
		/^\.Ed/ { inside = 0 }
		here && inside { gsub(/\\e/, "\\"); print > ("example." n) }
		/^\.Bd/ { inside = 1; n += here }' "$VM_TOP/man/${1:-hwpmc.4}"
}

# The example with this text in it, of which there must be one; of which page.
example_with() {
	examples "$2"
	set -- "$1" "$(grep -lF -e "$1" example.*)"
	[ "$(echo "$2" | wc -w)" -eq 1 ] || fail "examples with '$1': '$2'"
	mv "$2" example
}

all_examples_of_the_page_are_tested_here() {
	examples
	set -- example.*
	check_equal $# 4 "examples of hwpmc(4)"
	for page in libhwpmc.3:2 libhwpmclog.3:1; do
		examples ${page%:*}
		set -- example.*
		check_equal $# ${page#*:} "examples of $page"
	done
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

# library PAGE TEXT: the program of it that has the text, as the page says to compile it
library() {
	example_with "$2" "$1"
	mv example library.c
	check gcc -Wall -Wextra -Werror -I"$VM_TOP/include/uapi" -I"$VM_TOP/lib/pmc" \
		-I"$VM_TOP/lib/log" -o library_program library.c -L"$VM_TOP/build/lib" -lhwpmc
}

example_of_libhwpmc_counts_a_process_for_a_second() {
	library libhwpmc.3 sleep
	"$VM_TOP/build/vm/progs/loop" 4000000000 &
	loop=$!
	./library_program $loop >out 2>&1 || fail "status $?: $(cat out)"
	kill $loop
	n=$(sed -n 's/^\([0-9]*\) instructions$/\1/p' out)
	[ "${n:-0}" -gt 10000 ] || fail "$(cat out)"
	./library_program 999999 >out 2>&1 && fail "counted what is not there"
	grep -q 999999 out || fail "said: $(cat out)"
}

# A loop of ten million turns is some fifty million instructions.
example_of_libhwpmc_samples_itself_from_its_rings() {
	library libhwpmc.3 hwpmc_rings_open
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	./library_program >out 2>&1 || fail "status $?: $(cat out)"
	n=$(grep -cE '^process [0-9]+, CPU [0-9], address 0x[0-9a-f]+$' out)
	[ "$n" -ge 20 ] && [ "$n" -le 200 ] && [ "$n" -eq "$(wc -l <out)" ] ||
		fail "$n samples: $(head -n 5 out)"
}

example_of_libhwpmclog_counts_what_is_in_a_log() {
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	check "$hwpmc" record -q -e instructions:u -c 10000 -o run.log -- \
		"$VM_TOP/build/vm/progs/loop" 1000000
	library libhwpmclog.3 'int main'
	./library_program <run.log >out 2>&1 || fail "status $?: $(cat out)"
	check_equal "$(awk '/^CPU/ { n += $3 } END { print n }' out)" 300 "samples: $(cat out)"
	check_equal "$(sed -n 's/ records$//p' out)" \
		"$("$hwpmc" dump -i run.log --type all | wc -l)" "records"
	# Records are multiples of 8 bytes.
	head -c 1001 run.log >cut.log
	./library_program <cut.log >out 2>&1 && fail "took a log that was cut: $(cat out)"
	grep -q offset out || fail "said: $(cat out)"
}

harness_run
