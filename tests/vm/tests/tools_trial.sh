#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_trial - what a hypervisor hides is said by the tools, in words and before any number.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
self=$(realpath "$0")

# The module is loaded anew: what was in order once is not tried again.
load_anew() {
	[ ! -d /sys/module/hwpmc ] || check rmmod hwpmc
	check insmod "$ko"
}

# said COMMAND...: its message is one line, in `out`
said() {
	"$@" 2>out && fail "$*: succeeded"
	check_equal "$(wc -l <out)" 1 "lines of $*: $(cat out)"
}

filtered() {
	said "$hwpmc" stat -e branches:u -- true
	grep -q 'the event counts 0 in this virtual machine: the hypervisor filters it (event 0xc[24])' out ||
		fail "stat of it: $(cat out)"
	"$hwpmc" stat -e instructions:u -- true 2>out || fail "stat: $(cat out)"
	head -n 1 out | grep -q '^hwpmc stat: [A-Z0-9]*: the event counts 0 in this virtual machine' ||
		fail "first line of stat: $(cat out)"
	"$hwpmc" record -e instructions:u -o log -- true 2>out || fail "record: $(cat out)"
	head -n 1 out | grep -q '^hwpmc record: [A-Z0-9]*: the event counts 0' ||
		fail "first line of record: $(cat out)"
	"$hwpmc" control >out || fail "control"
	grep -q '^found  *[A-Z0-9]* *the event counts 0' out || fail "control: $(cat out)"
	"$hwpmc" control --json | python3 -c '
import json, sys
n = [n for n in json.load(sys.stdin)["notes"] if not n["missing"]]
assert len(n) == 1 and n[0]["reason"] == "EVENT_FILTERED", n
' || fail "control --json"
}

silent() {
	said "$hwpmc" record -e instructions:u -o log -- true
	grep -q 'counters do not interrupt in this virtual machine; count instead' out ||
		fail "record: $(cat out)"
	"$hwpmc" stat -e instructions:u -- true 2>out || fail "stat: $(cat out)"
	head -n 1 out | grep -q '^hwpmc stat: [A-Z0-9]*: counters do not interrupt' ||
		fail "first line of stat: $(cat out)"
}

what_a_hypervisor_hides_is_told_by_every_tool() {
	load_anew
	code=$((0x1000000c4))
	grep -q GenuineIntel /proc/cpuinfo || code=$((0x1000000c2))
	check "$knob" filter "$code" "$self" filtered
	"$hwpmc" stat -e branches:u -- true 2>out || fail "afterwards: $(cat out)"
	grep -q 'virtual machine' out && fail "told afterwards: $(cat out)"
	load_anew
	check "$knob" lost 1 "$self" silent
	check "$hwpmc" record -q -e instructions:u -o log -- true
	"$hwpmc" control | grep -q '^found' && fail "control: $("$hwpmc" control)"
	:
}

# As knob runs it, with the fault on.
case ${1:-} in
filtered | silent)
	# shellcheck disable=SC2154
	rmdir "$harness_dir"
	fail() { echo "$*" >&2; exit 1; }
	"$1"
	exit 0 ;;
esac

harness_run
