#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_tunables - each tunable: its default, its access, its range, what a wrong
# value is told at load, and what the right ones change.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
loop=$VM_TOP/build/vm/progs/loop
# It is loaded thirty times: what only debuggers read, most of it, is left out.
# shellcheck disable=SC2154 # harness.sh sets it
ko=$harness_dir/hwpmc.ko
objcopy --strip-debug "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko" "$ko"
dir=/proc/sys/kern/hwpmc

# What the module said since it was loaded with these parameters, which may be by the
# test before: `changed` says that its tunables are others since then.
load() {
	if [ -e loaded ] && read -r was <loaded && [ "$was" = "$*" ]; then
		return
	fi
	changed
	[ ! -e /dev/hwpmc ] || rmmod hwpmc
	dmesg --clear
	check insmod "$ko" "$@"
	# The kernel says with the first one that it is tainted.
	dmesg | sed -n '/taint/d; s/.*\(hwpmc: .*\)/\1/p' >said
	echo "$*" >loaded
}
changed() { rm -f loaded; }

# is NAME VALUE: in the sysctl and in the parameter
is() {
	check_equal "$(cat "$dir/$1" "/sys/module/hwpmc/parameters/$1")" "$2
$2" "$1, and the parameter"
}

# told SENTENCE: a line of its own, "tunable" and the full stop left out
told() {
	grep -qxF "hwpmc: tunable $1." said || fail "said: $(cat said)"
}

tunables_have_their_documented_defaults() {
	load
	grep -q tunable said && fail "said: $(cat said)"
	while read -r name want; do
		check_equal "$(sysctl -n "kern.hwpmc.$name")" "$want" "$name"
	done <<-E
		callchaindepth 128
		hashsize 1024
		logbuffersize 8
		maxowners 1024
		mincount 1000
		mtxpoolsize 32
		nbuffers_pcpu 64
		nsamples 512
		selfcost 50
		takerunning 0
		unprivileged_kernel 0
		unprivileged_proc_debug 1
		unprivileged_syspmcs 0
	E
}

tunables_have_the_access_that_freebsd_gives_them() {
	load
	changed
	for name in callchaindepth hashsize logbuffersize mtxpoolsize \
		    nbuffers_pcpu nsamples; do
		check_equal "$(stat -c %a $dir/$name)" 444 "mode of $name"
		(echo 16 >$dir/$name) 2>/dev/null &&
			fail "$name could be written"
	done
	for name in mincount takerunning unprivileged_syspmcs unprivileged_kernel unprivileged_proc_debug; do
		check_equal "$(stat -c %a $dir/$name)" 644 "mode of $name"
		check sysctl -q "kern.hwpmc.$name=1"
		(echo -1 >$dir/$name) 2>/dev/null && fail "$name took -1"
		check_equal "$(cat $dir/$name)" 1 "$name after a wrong value"
	done
}

a_size_that_is_not_positive_is_told_and_replaced_at_load() {
	load hashsize=0 logbuffersize=-1 nbuffers_pcpu=0 mtxpoolsize=-2 mincount=0
	told "hashsize=0 must be greater than zero"
	told "logbuffersize=-1 must be greater than zero"
	told "nlogbuffers=0 must be greater than zero"
	told "mtxpoolsize=-2 must be greater than zero"
	told "mincount=0 must be greater than zero"
	check_equal "$(grep -c tunable said)" 5 "lines"
	is hashsize 1024
	is logbuffersize 8
	is nbuffers_pcpu 64
	is mtxpoolsize 32
	is mincount 1000
	load hashsize=-5 nsamples=-1
	told "hashsize=-5 must be greater than zero"
	told "nsamples=-1 out of range"
}

a_value_out_of_its_range_is_told_and_replaced_at_load() {
	load nsamples=0 hashsize=65537 callchaindepth=513 logbuffersize=1000000
	told "nsamples=0 out of range"
	told "hashsize=65537 out of range"
	told "callchaindepth=513 out of range"
	grep -qxF "hwpmc: tunables logbuffersize=1000000 nbuffers_pcpu=64 make more than 32768 KiB per CPU." said ||
		fail "said: $(cat said)"
	is nsamples 512
	is hashsize 65536
	is callchaindepth 512
	is logbuffersize 8
	load nsamples=65536 callchaindepth=0
	told "nsamples=65536 out of range"
	told "callchaindepth=0 out of range"
	is nsamples 512
	is callchaindepth 1
}

the_ends_of_each_range_are_taken_at_load() {
	load nsamples=1 hashsize=1 callchaindepth=1 logbuffersize=512 \
		mtxpoolsize=1 mincount=1
	grep tunable said && fail "said: $(cat said)"
	is nsamples 1
	is hashsize 2		# a power of two, and there are two at least
	is callchaindepth 1
	is logbuffersize 512
	is mtxpoolsize 1
	is mincount 1
	load nsamples=65535 hashsize=1000 callchaindepth=512
	grep tunable said && fail "said: $(cat said)"
	is nsamples 65535
	is hashsize 1024
	is callchaindepth 512
}

# What the command executed, in user mode.
instructions() {
	check "$hwpmc" stat --csv -e instructions:u -o got.csv -- "$@"
	awk -F, '$1 == "total" && $4 == "instructions:u" { print $6 }' got.csv
}

# Programs that are measured at the same time meet in the tables of any size.
counts_are_exact_with_hash_tables_of_any_size() {
	for size in 1 65536; do
		load hashsize=$size
		# shellcheck disable=SC2016
		many=$(instructions sh -c 'for i in 1 2 3 4 5 6; do
			"$1" 1000000 & done; wait' sh "$loop")
		[ "$many" -gt $((6 * 3000057)) ] || fail "six are $many"
		check_equal "$(instructions "$loop" 1000000)" 3000057 \
			"instructions, hashsize=$size"
	done
}

# Bytes of a ring that a recording program has mapped: its pages twice, and one.
ring_bytes() {
	"$hwpmc" record -q -e clock.prof -o ring.log -- sleep 1000 &
	pid=$!
	await grep -q /dev/hwpmc /proc/$pid/maps
	map=$(grep /dev/hwpmc /proc/$pid/maps | head -n 1 | cut -d' ' -f1)
	kill -TERM $pid
	wait $pid
	echo $(((0x${map#*-} - 0x${map%-*} - 4096) / 2))
}

logbuffersize_and_nbuffers_pcpu_make_the_ring_of_a_cpu() {
	load logbuffersize=100 nbuffers_pcpu=10
	check_equal "$(ring_bytes)" $((1024 * 1024)) "10 of 100 KiB"
	load logbuffersize=1 nbuffers_pcpu=1
	check_equal "$(ring_bytes)" $((16 * 1024)) "one of 1 KiB"
	load
	check_equal "$(ring_bytes)" $((512 * 1024)) "by default"
}

# The longest chain that a recording has; a mark may be among its frames.
deepest_chain() {
	check "$hwpmc" record -q -g -e clock.prof -c 1 -o deep.log -- \
		ls -lR /proc/self/task /sys/module
	check "$hwpmc" dump --kallsyms /dev/null -i deep.log --type sample --json -o deep.json
	awk '{ n = gsub(/"pc":/, ""); if (n > most) most = n } END { print most }' deep.json
}

callchaindepth_is_the_most_frames_of_a_chain() {
	load
	deepest=$(deepest_chain)
	[ "$deepest" -gt 3 ] || fail "chains of $deepest only"
	load callchaindepth=3
	check_equal "$(deepest_chain)" 3 "the deepest of callchaindepth=3"
}

# opens UID:GID: whether this user may open the device
opens() {
	chroot --userspec="$1" / sh -c 'exec 3<>/dev/hwpmc' 2>/dev/null
}

node() { stat -c '%a %u %g' /dev/hwpmc; }

the_device_is_roots_unless_a_parameter_gives_it_to_others() {
	load
	check_equal "$(node)" "660 0 0" "the node"
	check_equal "$(cat /sys/module/hwpmc/parameters/mode)" 0660 "the parameter mode"
	opens 65534:65534 && fail "everybody may open it"
	load gid=4711
	check_equal "$(node)" "660 0 4711" "with a group"
	opens 65534:65534 && fail "another group may open it"
	opens 65534:4711 || fail "the group may not open it"
	# udev sets both where the node was there before the module.
	check grep -qx DEVGID=4711 /sys/class/misc/hwpmc/uevent
	load mode=666
	check_equal "$(node)" "666 0 0" "mode=666"
	check grep -qx DEVMODE=0666 /sys/class/misc/hwpmc/uevent
	opens 65534:65534 || fail "not everybody may open it"
	load mode=0640 gid=4711
	check_equal "$(node)" "640 0 4711" "with mode and group"
}

# refuses PARAMETER SENTENCE: the load fails, and SENTENCE is all that it says
refuses() {
	changed
	[ ! -e /dev/hwpmc ] || rmmod hwpmc
	dmesg --clear
	insmod "$ko" "$1" 2>/dev/null && fail "$1 was taken"
	[ ! -e /dev/hwpmc ] || fail "$1 left the device"
	dmesg | sed -n 's/.*\(hwpmc: .*\)/\1/p' >said
	check_equal "$(cat said)" "hwpmc: not loaded: $1 is not $2" "what it said"
}

a_wrong_mode_or_group_of_the_device_fails_the_load_in_one_line() {
	for wrong in 668 0777 4666 066 rw ""; do
		refuses "mode=$wrong" "an octal mode of a device from 0600 to 0666"
	done
	refuses gid=4294967295 "the number of a group"
	load
}

the_module_says_its_classes_and_nothing_else_when_it_is_loaded() {
	load
	check_equal "$(wc -l <said)" 1 "lines: $(cat said)"
	grep -Eq '^hwpmc: ([A-Z0-9]+/[0-9]+/[0-9]+/0x[0-9a-f]+<[A-Z,]+> ?)+$' said ||
		fail "said: $(cat said)"
	# Two that each machine has.
	check grep -q ' TSC/1/64/0x20<REA> ' said
	check grep -Eq ' SOFT/[0-9]+/64/0x67<INT,USR,SYS,REA,WRI>' said
}

unprivileged_kernel_is_zero_or_one() {
	load unprivileged_kernel=1
	grep tunable said && fail "said: $(cat said)"
	is unprivileged_kernel 1
	for value in -1 2; do
		(echo $value >$dir/unprivileged_kernel) 2>/dev/null && fail "it took $value"
		is unprivileged_kernel 1
	done
	for value in -1 2; do
		load unprivileged_kernel=$value
		told "unprivileged_kernel=$value out of range"
		is unprivileged_kernel 0
	done
}

harness_run
