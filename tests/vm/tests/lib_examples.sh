#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# lib_examples - the programs of doc/examples/library, compiled and run as their readers would
# do, against the headers and the library of this tree.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" HWPMC_EVENTS="$VM_TOP/data/events"
dir=$VM_TOP/doc/examples/library
hwpmc=$VM_TOP/build/tools/hwpmc
flags="-I$VM_TOP/include/uapi -I$VM_TOP/lib/pmc -L$VM_TOP/build/lib"
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
sysctl -q kernel.nmi_watchdog=0

# compiled COMPILER FILE...: its program is ./program
compiled() {
	# shellcheck disable=SC2086
	"$@" -O2 -Wall -Wextra -Werror $flags -o program -lhwpmc >out 2>&1 || fail "$*: $(cat out)"
}

# same_each_time: ./program measures a hundred runs, each of as many instructions
same_each_time() {
	./program >out 2>&1 || fail "$(cat out)"
	sed -n 's/^work: \([0-9]*\) times, median \([0-9]*\) instructions, from \([0-9]*\) to \([0-9]*\)$/\1 \2 \3 \4/p' \
		out >numbers
	read -r count median least most <numbers || fail "it said: $(cat out)"
	[ "$count" -ge 90 ] && [ "$least" = "$most" ] && [ "$median" = "$least" ] ||
		fail "not the same each time: $(cat out)"
	# Some instructions a round.
	[ "$median" -ge 3000 ] && [ "$median" -le 6000 ] || fail "$(cat out)"
}

example_in_c_measures_the_same_each_time() {
	compiled cc "$dir/region.c"
	same_each_time
}

example_in_cxx_measures_the_same_each_time() {
	compiled c++ -std=c++11 "$dir/region.cc"
	same_each_time
}

# counts_between LEAST MOST COMMAND...
counts_between() {
	least=$1 most=$2
	shift 2
	"$@" >out 2>&1 || fail "$*: $(cat out)"
	n=$(sed -n 's/^sum [0-9]*: \([0-9]*\) instructions$/\1/p' out)
	[ "${n:-0}" -ge "$least" ] && [ "$n" -le "$most" ] || fail "$*: $(cat out)"
}

example_in_python_counts_itself() {
	# The interpreter of the system, which needs no other files.
	counts_between 500000 20000000 /usr/bin/python3 "$dir/counter.py"
}

example_profiler_prints_the_hot_functions() {
	# shellcheck disable=SC2086
	cc -O2 -Wall -Wextra -Werror $flags -I"$VM_TOP/lib/log" -I"$VM_TOP/lib/stat" -o profiler \
		"$dir/profiler.c" -lhwpmcstat -lhwpmc >out 2>&1 || fail "$(cat out)"
	./profiler "$VM_TOP/build/vm/progs/hot" -n 30000 >out 2>&1 || fail "$(cat out)"
	# Functions of 60, 30 and 10 percent: five standard deviations of 900 samples.
	sed -n 's/^ *\([0-9]*\)\.[0-9]*%  \(hot_[a-z]*\) (hot)$/\2 \1/p' out >shares
	[ "$(cut -d' ' -f1 shares | tr '\n' ' ')" = "hot_sixty hot_thirty hot_ten " ] ||
		fail "not in this order: $(cat out)"
	while read -r name share; do
		case $name in
		hot_sixty) least=51 most=68 ;;
		hot_thirty) least=22 most=37 ;;
		*) least=5 most=14 ;;
		esac
		[ "$share" -ge $least ] && [ "$share" -le $most ] || fail "$name: $(cat out)"
	done <shares
	grep -q '^[0-9][0-9]* samples, 0 dropped$' out || fail "$(cat out)"
}

# in_read TASK FILE: the thread waits in read(2), which is call 0, of such a descriptor
in_read() {
	has_ended "$pid" && fail "the pool has ended: $(cat err)"
	grep -q "^0 $2 " "$1/syscall"
}

# give_jobs TEXT: to the pool, until the main thread and then all others wait in read(2)
give_jobs() {
	trap '' PIPE
	printf '%b' "$1" >&3
	await in_read "/proc/$pid/task/$pid" 0x0
	for task in "/proc/$pid/task"/*; do
		await in_read "$task" '0x[0-9a-f]*'
	done
}

# Twelve workers, more than there are counters. Three jobs each, the third of which has 500 rounds,
# 1,000 and so on: the second takes what the third does, but for these rounds.
example_pool_counts_each_worker_exactly() {
	compiled cc -pthread "$dir/pool.c"
	mkfifo pipe
	./program 12 <pipe >out 2>err &
	pid=$!
	exec 3>pipe
	ones='1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n'
	give_jobs "$ones"
	give_jobs '\n'
	give_jobs "$ones"
	give_jobs '\n'
	give_jobs "$(seq -f '%.0f\n' -s '' 500 500 6000)"
	give_jobs '\n'
	exec 3>&-
	wait "$pid" || fail "status $?: $(cat err)"
	[ "$(grep -cE '^worker [0-9]+: [0-9]+ instructions, [0-9]+ branches$' out)" = 48 ] ||
		fail "$(cat out err)"
	awk '{ w = $2 + 0; k = ++reports[w]; insn[w, k] = $3; branch[w, k] = $5 }
		END {
			for (w = 0; w < 12; w++) {
				more = 500 * (w + 1) - 1
				i = insn[w, 3] - 2 * insn[w, 2] + insn[w, 1] - 2 * more
				b = branch[w, 3] - 2 * branch[w, 2] + branch[w, 1] - more
				if (i || b) print "worker", w, "differs by", i, b
				if (insn[w, 2] - insn[w, 1] < 2) print "worker", w, "did nothing"
				if (insn[w, 4] <= insn[w, 3]) print "worker", w, "has lost its end"
			}
		}' out >wrong
	[ ! -s wrong ] || fail "$(cat wrong out)"
}

# marked LEAST MOST COMMAND...: each of a hundred marks has so many instructions
marked() {
	least=$1 most=$2
	shift 2
	"$hwpmc" stat --markers --csv -e instructions:u -o csv -- "$@" >out 2>&1 ||
		fail "$*: $(cat out csv)"
	sed -n 's/^mark,.*,counted,\([0-9]*\),values,.*,work,[0-9]*,\([0-9]*\),[0-9]*,\([0-9]*\),\([0-9]*\),.*/\1 \2 \3 \4/p' \
		csv >numbers
	read -r values min max begun <numbers || fail "$*: $(cat csv out)"
	[ "$begun" = 100 ] && [ "$values" -ge 95 ] && [ "$min" -ge "$least" ] && [ "$max" -le "$most" ] ||
		fail "$*: $(cat numbers)"
}

examples_of_marks_in_c_and_cxx_are_counted() {
	compiled cc "$dir/marks.c"
	marked 3000 7000 ./program
	compiled c++ -std=c++11 "$dir/marks.cc"
	marked 2000 60000 ./program
}

example_of_marks_in_python_is_counted() {
	marked 10000 2000000 /usr/bin/python3 "$dir/marks.py"
}

example_of_marks_in_rust_is_counted() {
	rustc -O --edition 2021 -L "$VM_TOP/build/lib" -o program "$dir/marks.rs" \
		>out 2>&1 || fail "rustc: $(cat out)"
	marked 1000 100000 ./program
}

example_of_marks_in_fortran_is_counted() {
	gfortran -O2 -L "$VM_TOP/build/lib" -o program "$dir/marks.f90" -lhwpmc >out 2>&1 ||
		fail "gfortran: $(cat out)"
	marked 1000 100000 ./program
}

examples_count_beside_hwpmc_stat() {
	compiled cc "$dir/region.c"
	check "$hwpmc" stat -e instructions:u -o got -- ./program
	grep -q 'instructions:u' got || fail "$(cat got)"
	check "$hwpmc" stat -e instructions:u -o got -- /usr/bin/python3 "$dir/counter.py"
}

harness_run
