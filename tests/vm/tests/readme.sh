#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# readme - the commands of README.md, doc/commands.md and doc/install.md as they are printed
# there, on a machine that has nothing but the built tree: each is run, in order, and does
# what its comment says.
. "$VM_TOP/tests/harness/harness.sh"
screen=$VM_TOP/tests/harness/screen.py

# block FILE TEXT: the commands of the document after the line that begins so
block() {
	awk -v text="$2" 'index($0, text) == 1 { here = 1; next }
		here && /^    / { sub(/^    /, ""); sub(/ +#.*/, ""); print; seen = 1; next }
		here && seen { exit }' "$VM_TOP/$1"
}

# A project as anybody has one: make builds a program of four files, and runs it.
project() {
	for f in one two three four; do
		cat >$f.c <<-E
			#include <stdlib.h>
			#include <string.h>
			int $f(int n)
			{
			        char *p = malloc(100 + n % 100);
			        int sum;
			        memset(p, n, 100);
			        sum = p[n % 100];
			        free(p);
			        return sum;
			}
		E
	done
	cat >main.c <<-'E'
		#include <stdlib.h>
		int one(int), two(int), three(int), four(int);
		int main(int argc, char *argv[])
		{
		        long n = argc > 1 ? atol(argv[1]) : 200000;
		        volatile int sum = 0;
		        for (long i = 0; i < n; i++)
		                sum += one(i) + two(i) + three(i) + four(i);
		        return sum == 1;
		}
	E
	printf '%s\n' 'all: program' '	./program' \
		'program: main.o one.o two.o three.o four.o' '	$(CC) -o $@ $^' \
		'CFLAGS = -O1 -g' >Makefile
	make -s program >/dev/null
}

# The process 4711 of doc/commands.md.
start_4711() {
	until [ "${pid:-0}" -eq 4711 ]; do
		echo 4710 >/proc/sys/kernel/ns_last_pid
		./program 1000000000 &
		pid=$!
		[ $pid -eq 4711 ] || kill $pid
	done
}

# As the user: who ends what does not end by itself.
run_command() {
	case $1 in
	"hwpmc stat -p"*) printf '%s\n' 'see instructions .*per cycle' 'keys \x03' end ;;
	"hwpmc top"*) printf '%s\n' 'see (one|two|three|four|malloc|free) +(program|libc)' \
		'keys q' end ;;
	"pmcstat -T"*) printf '%s\n' 'see (one|two|three|four|malloc|free|program)' \
		'keys q' end ;;
	*) sh -ec "$1" >out 2>&1; return ;;
	esac >steps
	# shellcheck disable=SC2086
	"$screen" $1 <steps >out 2>&1
}

# What the comment of a command promises.
check_promise() {
	case $1 in
	"hwpmc stat -e instructions"*) grep -q 'branches:u' out ;;
	"hwpmc report --tree") grep -Eq '  +(one|two|three|four|main)  program' out ;;
	"hwpmc report --callers=malloc") grep -Eq '  (one|two|three|four)  program' out ;;
	"hwpmc report --format flamegraph"*) grep -q '<html' graph.html ;;
	"hwpmc report --format pprof"*) [ -s prog.pb.gz ] ;;
	"hwpmc annotate") grep -q 'program' out ;;
	"hwpmc diff"*) grep -q '^# event cycles' out ;;
	"hwpmc dump"*) grep -q 'program' out ;;
	"hwpmc list branch") grep -q 'branch-misses' out ;;
	"pmcstat -R"*) grep -q 'program' out && ls ./*/*.gmon >/dev/null ;;
	"pmcannotate"*) grep -Eq 'one|main' out ;;
	*) true ;;
	esac
}

commands_of_the_readme_run_as_they_are_printed() {
	project
	cd "$VM_TOP" || fail "no tree"
	block doc/install.md 'Build the module, library and tools' | grep -v '^make$' >"$OLDPWD/setup"
	cd "$OLDPWD" || fail "no way back"
	check_equal "$(wc -l <setup)" 3 "commands to set it up"
	# From the tree, as doc/install.md has it.
	here=$PWD
	cd "$VM_TOP" || fail "no tree"
	. "$here/setup" >"$here/out" 2>&1 || fail "setting it up: $(cat "$here/out")"
	cd "$here" || fail "no way back"
	echo 0 >/proc/sys/kern/hwpmc/selfcost
	block README.md 'cause that prevents counting' >commands
	[ "$(wc -l <commands)" -eq 8 ] || fail "not 8 commands in README.md: $(cat commands)"
	block doc/commands.md 'of them in each full check' >others
	[ "$(wc -l <others)" -ge 20 ] || fail "only $(wc -l <others) commands in doc/commands.md"
	cat others >>commands
	start_4711
	while read -r command; do
		run_command "$command" </dev/null ||
			fail "'$command': status $?: $(head -c 600 out)"
		check_promise "$command" || fail "'$command' said: $(head -c 600 out)"
	done <commands
	kill 4711
}

harness_run
