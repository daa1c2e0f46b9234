#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_names - which names samples have: of threads, of programs that changed, of code that
# is generated, in containers and through wrappers. Where perf has another answer, the test
# has it.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
progs=$VM_TOP/build/vm/progs
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# samples NAME: of the last column of out.csv
samples() { awk -F, -v s="$1" '$NF == s { n += $2 } END { print n + 0 }' out.csv; }

# near NAME COUNT: within three samples
near() {
	got=$(samples "$1")
	[ "$got" -ge $(($2 - 3)) ] && [ "$got" -le $(($2 + 3)) ] ||
		fail "$1 has $got samples, not $2: $(cat out.csv)"
}

# perf is right, too: --sort comm and --comms.
names_of_threads_have_the_samples_of_their_threads() {
	echo | "$hwpmc" record -e instructions:u -c 10000 -o log -- "$progs/threads" 3 0 \
		>numbers 2>said || fail "status $?: $(cat said)"
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm -o out.csv
	near t1 300
	near t2 600
	near t3 900
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s tid --comm t2 -o out.csv
	near "$(sed -n 2p numbers)" 600
	check_equal "$(wc -l <out.csv)" 2 "lines of one thread"
	check "$hwpmc" filter -i log --comm t1 -o one.log
	check "$hwpmc" report -i one.log --kallsyms /dev/null --csv -s process,comm -o out.csv
	near t1 300
	check_equal "$(grep -c '^instructions.*,threads,t1$' out.csv)" 1 "lines of the filter"
}

# perf gives both the name of the thread. Python's start has samples of another name.
names_of_children_are_those_of_the_threads_that_fork() {
	cat >forks.py <<-'END'
	import os, threading
	def work():
	    open("/proc/thread-self/comm", "w").write("worker")
	    child = os.fork()
	    if not child:
	        for i in range(200000): pass
	        os._exit(0)
	    os.waitpid(child, 0)
	    print(child)
	thread = threading.Thread(target=work)
	thread.start()
	thread.join()
	END
	"$hwpmc" record -e instructions:u -c 10000 -o log -- /usr/bin/python3 forks.py \
		>number 2>said || fail "status $?: $(cat said)"
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s tid,comm -o out.csv
	grep ",$(cat number)," out.csv >child || fail "no samples of the child: $(cat out.csv)"
	check_equal "$(sed 's/.*,//' child | sort -u)" worker "names of the child"
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s process,tid -o out.csv
	grep ",$(cat number)$" out.csv >child || fail "no samples of the child: $(cat out.csv)"
	check_equal "$(sed 's/.*,\([^,]*\),[^,]*/\1/' child | sort -u)" worker "names of its process"
}

# Tables of the program come before it runs, as if it were run directly. perf copies stacks
# and needs none.
chains_of_programs_behind_wrappers_are_complete() {
	for words in "env A=b" "nice -n 1" "/lib64/ld-linux-x86-64.so.2" "sh -c"; do
		set -- "$progs/deep" 40 10000000
		[ "$words" != "sh -c" ] || set -- "exec $*"
		# shellcheck disable=SC2086
		"$hwpmc" record --call-graph=tables --unwind-cache="$PWD/cache" \
			-e instructions:u -c 20000 -o log -- $words "$@" >out 2>said ||
			fail "$words: status $?: $(cat said)"
		check grep -Eq '^(100.0|9[89].[0-9]) % of [0-9]+ call chains complete' said
	done
}

# The dynamic loader crashes when it is asked what a static program needs.
record_of_a_static_program_leaves_no_core() {
	[ -e "$progs/fixed" ] || fail "there is no static program"
	echo "$PWD/core.%e" >/proc/sys/kernel/core_pattern
	check prlimit --core=unlimited "$hwpmc" record -g -q -e instructions:u -c 20000 -o log -- "$progs/fixed"
	check_equal "$(find . -name 'core.*')" "" "core files"
}

harness_run
