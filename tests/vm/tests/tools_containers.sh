#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_containers - names of samples where a program does not lie where its reader looks:
# stacked file systems, chroots, namespaces, files of one path, files that are gone; and of
# code that is generated or mapped in ways of its own. Each has its right name, or none and
# the reason; never that of another function.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
progs=$VM_TOP/build/vm/progs
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
modprobe -d "$VM_KERNEL" -q overlay || grep -q overlay /proc/filesystems || exit 1
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# stack DIR PROGRAM...: a lower folder with the programs, an upper one; both are at DIR/at
stack() {
	mkdir -p "$1/lower" "$1/upper" "$1/work" "$1/at"
	dir=$1
	shift
	cp "$@" "$dir/lower"
	check mount -t overlay overlay \
		-o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work" "$dir/at"
}

# The tables that the command is prepared with are the module's of its mappings: fstat() has
# other numbers there than the kernel. perf copies stacks and needs none.
chains_of_a_short_program_on_overlayfs_are_complete() {
	stack "$PWD/short" "$progs/deep"
	"$hwpmc" record --call-graph=tables -e instructions:u -c 20000 -o log -- \
		"$PWD/short/at/deep" 40 10000000 >out 2>said || fail "status $?: $(cat said)"
	check grep -Eq '^(100.0|9[89].[0-9]) % of [0-9]+ call chains complete' said
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s image,symbol -o out.csv
	check grep -q 'deep,leaf$' out.csv
	umount "$PWD/short/at"
}

# ---- the table --------------------------------------------------------------

# root DIR PROGRAM: a root with nothing but the program, as /prog, and a /tmp
root() {
	mkdir -p "$1/tmp"
	cp "$progs/$2" "$1/prog"
}

begin() { "$@" & echo $! >>pids; }

# In a mount namespace of its own something else is at a path of the host's.
hidden_by() { # FILE PROGRAM NAME [UNSHARE-OPTION...]
	at=$1 program=$2 name=$3
	shift 3
	begin unshare "$@" -m --propagation private sh -c \
		"mount --bind '$program' '$at' && exec '$at' $name"
}

# Each layout runs a program whose process has the layout's name.
layouts() {
	all=$PWD/all
	mkdir -p "$all/host" "$all/bound"
	for kind in a b a-noid b-noid; do
		cp "$progs/named-$kind" "$all/host/$kind"
		cp "$progs/named-$kind" "$all/bound/$kind"
	done
	begin "$all/host/a" plain
	stack "$all/low" "$progs/named-a"
	begin "$all/low/at/named-a" lower
	stack "$all/up" "$progs/named-b"
	cp "$progs/named-a" "$all/up/at/named-b"
	begin "$all/up/at/named-b" upper
	stack "$all/noid" "$progs/named-a-noid"
	begin "$all/noid/at/named-a-noid" lower-noid
	mkdir -p "$all/own"
	begin unshare -m --propagation private sh -c \
		"mount -t tmpfs tmpfs '$all/own' && cp '$progs/named-a' '$all/own/prog' &&
		 exec '$all/own/prog' own-tmpfs"
	root "$all/jail" named-a
	begin chroot "$all/jail" /prog chroot
	root "$all/jail-b" named-b
	begin chroot "$all/jail-b" /prog chroot-b
	root "$all/bare" named-a-noid
	begin chroot "$all/bare" /prog chroot-noid
	root "$all/bare-b" named-b-noid
	begin chroot "$all/bare-b" /prog chroot-b-noid
	root "$all/musl" named-musl
	mkdir -p "$all/musl/lib"
	cp -L /lib/ld-musl-x86_64.so.1 "$all/musl/lib"
	begin chroot "$all/musl" /prog musl
	begin unshare -U -r -m -p -f chroot "$all/musl" /prog musl-ns
	root "$all/static" named-musl-static
	begin chroot "$all/static" /prog musl-static
	root "$all/pids" named-a
	begin unshare -p -f chroot "$all/pids" /prog pid-ns
	root "$all/users" named-a
	begin unshare -U -r -m -p -f chroot "$all/users" /prog user-ns
	hidden_by "$all/bound/b" "$progs/named-a" over-b
	hidden_by "$all/bound/b-noid" "$progs/named-a-noid" over-b-noid
	hidden_by "$all/bound/a-noid" "$progs/named-b-noid" over-a-user -U -r
	cp "$progs/named-a" "$all/host/upgraded"
	begin "$all/host/upgraded" upgraded
	cp "$progs/named-a-noid" "$all/host/upgraded-noid"
	begin "$all/host/upgraded-noid" upgraded-noid
	cp "$progs/named-a" "$all/host/removed"
	begin "$all/host/removed" removed
	for kind in map fork again dump clone leader; do
		begin "$all/host/a" "$kind" "$kind"
		root "$all/root-$kind" named-a
		begin unshare -p -f chroot "$all/root-$kind" /prog "ns-$kind" "$kind"
	done
}

# name, its function while the processes are there, and after they have ended; "-": none
answers() {
	cat <<-'END'
	plain work_of_a work_of_a
	lower work_of_a work_of_a
	upper work_of_a work_of_a
	lower-noid work_of_a work_of_a
	own-tmpfs work_of_a -
	chroot work_of_a -
	chroot-b work_of_b -
	chroot-noid work_of_a -
	chroot-b-noid work_of_b -
	musl work_of_a -
	musl-ns work_of_a -
	musl-static work_of_a -
	pid-ns work_of_a -
	user-ns work_of_a -
	over-b work_of_a -
	over-b-noid work_of_a -
	over-a-user work_of_b -
	upgraded work_of_a -
	upgraded-noid work_of_a -
	removed work_of_a -
	map of_map of_map
	fork of_fork of_fork
	again - -
	dump of_dump of_dump
	clone work_of_a work_of_a
	leader work_of_a work_of_a
	ns-map of_ns-map -
	ns-fork of_ns-fork -
	ns-again - -
	ns-dump of_ns-dump -
	ns-clone work_of_a -
	ns-leader work_of_a -
	END
}

# Samples of a function in the process; of all functions if it is "".
samples_of() {
	awk -F, -v p="$1" -v s="$2" \
		'$(NF - 1) == p && (s == "" || $NF == s) { n += $2 } END { print n + 0 }' out.csv
}

# The loop is nearly all of the process, so nearly all of its samples have that name; all
# others are in functions of the C library.
check_row() { # NAME FUNCTION
	want=$2
	[ "$want" != "-" ] || want="[unknown]"
	n=$(samples_of "$1" "$want")
	[ "$n" -ge 90 ] || wrong="$wrong $1: $n samples in $want, of $(samples_of "$1" '');"
	for other in work_of_a work_of_b never_runs of_map of_fork; do
		[ "$other" = "$want" ] || [ "$(samples_of "$1" $other)" = 0 ] ||
			wrong="$wrong $1: samples in $other;"
	done
}

check_all() { # COLUMN
	check "$hwpmc" report -i log --kallsyms /dev/null --csv -s comm,symbol -o out.csv
	wrong=
	for row in $(answers | tr ' ' /); do
		name=${row%%/*} row=${row#*/}
		[ "$1" = 2 ] || row=${row#*/}
		check_row "$name" "${row%%/*}"
	done
	[ ! "$wrong" ] || fail "$wrong"
}

all_have_worked() {
	for name in $(answers | cut -d' ' -f1); do
		pgrep -x "$name" >pgrep.out || return 1
	done
}

# While their processes are there, their roots are; afterwards only what is on the host.
samples_of_containers_have_their_own_names_or_a_reason() {
	"$hwpmc" record -a -q -e instructions:u -c 40000 -o log 2>said &
	recorder=$!
	await test -s log
	layouts
	await all_have_worked
	sleep 4
	kill -INT $recorder
	wait $recorder || fail "record: $(cat said)"
	mv all/host/b all/host/upgraded
	mv all/host/b-noid all/host/upgraded-noid
	rm all/host/removed
	check_all 2
	pgrep -x "$(answers | cut -d" " -f1 | paste -sd"|")" | xargs kill -9
	sleep 1
	check_all 3
	check "$hwpmc" report -i log --kallsyms /dev/null -o out.txt
	# An image with the reason of the one before says "the same".
	for why in "its build-id differs from the log" "the file has changed: its" "does not exist" perf-PID.map; do
		check grep -q "no symbols of .*: .*$why" out.txt
	done
	check grep -q 'no symbols of .*/host/upgraded (.*: ' out.txt
	check grep -q 'no symbols of .*/host/upgraded-noid (.*: ' out.txt
	check grep -q 'no symbols of .*/host/removed (.*: ' out.txt
	check grep -q 'no symbols of /prog (.*: ' out.txt
	check grep -q 'no symbols of //anon (.*: ' out.txt
	check umount all/low/at all/up/at all/noid/at
	check rmmod overlay
}

harness_run
