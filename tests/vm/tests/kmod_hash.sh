#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kmod_hash - the hash of threads grows with them: by itself with 50,000 entries, and in
# the module with threads that are measured meanwhile.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
kmods=$VM_TOP/build/vm/kmods/$(uname -r)

fifty_thousand_threads_are_found_in_two_steps_while_the_hash_grows() {
	insmod "$kmods/hashmod.ko" || fail "an entry was not found, or a removed one was"
	steps=$(cat /sys/module/hashmod/parameters/steps_100)
	buckets=$(cat /sys/module/hashmod/parameters/buckets)
	rmmod hashmod
	echo "thread_lookup_50000	$steps" >>"${VM_OUT:-.}/hash.tsv"
	check_equal "$buckets" 65536 "buckets"
	if [ "$steps" -lt 100 ] || [ "$steps" -gt 200 ]; then
		fail "$steps hundredths of a step"
	fi
}

# counted HASHSIZE: of sixty programs at the same time and the shell that starts them
counted() {
	[ ! -e /dev/hwpmc ] || rmmod hwpmc
	insmod "$ko" hashsize="$1"
	"$hwpmc" stat --csv -e instructions:u -o out.csv -- sh -c '
		i=0
		while [ $i -lt 60 ]; do "$0" 1000000 & i=$((i + 1)); done
		wait' "$VM_TOP/build/vm/progs/loop"
	awk -F, '$4 == "instructions:u" { print $6 }' out.csv
}

# The shell's own part differs a little; one program has 3,000,057.
no_program_is_lost_while_the_hash_grows_from_two_buckets() {
	many=$(counted 1024)
	[ "$many" -gt $((60 * 3000057)) ] || fail "$many with 1024 buckets"
	for _ in 1 2 3; do
		two=$(counted 2)
		if [ $((two - many)) -gt 1500000 ] || [ $((many - two)) -gt 1500000 ]; then
			fail "$two with two buckets, $many with 1024"
		fi
	done
	rmmod hwpmc
	insmod "$ko"
}

harness_run
