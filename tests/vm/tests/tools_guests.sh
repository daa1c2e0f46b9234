#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_guests - events of guests and of the host by the words of hwpmc stat.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

# counted EVENT: what the loop of a million rounds has of it
counted() {
	"$hwpmc" stat --csv -e "$1" -- "$VM_TOP/build/vm/progs/loop" 1000000 2>&1 |
		awk -F, -v event="$1" '$4 == event { print $6 }'
}

stat_counts_guests_or_the_host() {
	check insmod "$VM_TOP/build/vm/kmods/$(uname -r)/svmmod.ko"
	check_equal "$(counted instructions:u)" 3000057 "of the host"
	check_equal "$(counted instructions:uH)" 3000057 "of the host, by its letter"
	check_equal "$(counted instructions:uG)" 0 "of guests"
	check_equal "$(counted instructions:uGH)" 3000057 "of both"
	check rmmod svmmod
	check_equal "$(counted instructions:u)" 3000057 "without SVM"
	check_equal "$("$hwpmc" stat -e instructions,guest,usr,branches:u -- true 2>&1 |
		grep -cE '^ +[0-9,]+ +(instructions|branches)')" 2 "events of a list"
	"$hwpmc" record -e instructions:uG -o log -- true 2>got && fail "guests were sampled"
	check grep -q 'bit 40' got
}

harness_run
