#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_clouds_kvm - the first minute in a virtual machine that has counters: doctor, then
# stat, then doctor again, where the host gives all of them and where it keeps some.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
dmi=/sys/devices/virtual/dmi/id
self=$(realpath "$0")

# The module is loaded again: what was in order once is not tried again.
load_again() {
	[ ! -d /sys/module/hwpmc ] || check rmmod hwpmc
	check insmod "$ko"
}

# No tables of firmware: the signature alone.
without_firmware() { mountpoint -q $dmi || check mount -t tmpfs tmpfs $dmi; }

doctor_says_listed_before_the_module_is_loaded() {
	without_firmware
	"$hwpmc" doctor >got 2>&1
	check_equal $? 1 "status: $(cat got)"
	grep -q '^note   pmu  .*the processor lists counters' got || fail "$(cat got)"
	grep -q '^ok     hypervisor   this is a virtual machine, KVM: ' got || fail "$(cat got)"
}

doctor_and_stat_are_content_where_the_host_gives_all() {
	load_again
	without_firmware
	check "$hwpmc" doctor
	"$hwpmc" stat -- true >out 2>&1 || fail "$(cat out)"
	grep -q '^hwpmc stat: ' out && fail "said: $(cat out)"
	grep -Eq ' [1-9][0-9,]* +instructions' out || fail "$(cat out)"
	"$hwpmc" doctor >got || fail "$(cat got)"
	grep -q '^note   counters' got && fail "$(cat got)"
	true
}

# Under a knob: stat says it before any number, and doctor after it. finding TEXT
finding() {
	"$hwpmc" stat -e instructions:u -- true >out 2>&1 || fail "stat: $(cat out)"
	head -n 1 out | grep -q "^hwpmc stat: K8: .*$1" || fail "first line: $(cat out)"
	grep -Eq ' [1-9][0-9,]* +instructions:u' out || fail "no number: $(cat out)"
	"$hwpmc" doctor >got || fail "doctor: $(cat got)"
	grep -q "^note   counters     class K8: .*$1" got || fail "doctor: $(cat got)"
	check grep -qx 'hwpmc can count here' got
	"$hwpmc" doctor --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["hypervisor"] == "KVM" and r["can_count"], r
assert [f["verdict"] for f in r["findings"] if f["name"] == "counters"] == ["note"], r
' || fail "doctor --json"
}

under() { "$knob" "$1" "$2" "$self" finding "$3" || fail "$(cat why 2>/dev/null)"; }

a_counter_that_the_host_keeps_is_said_first_and_by_doctor() {
	load_again
	without_firmware
	check under frozen 32 'do not count'
}

an_event_that_a_filter_hides_is_said_first_and_by_doctor() {
	load_again
	without_firmware
	check under filter $((0x1000000c2)) 'counts 0'
}

counters_without_an_interrupt_are_said_by_doctor() {
	load_again
	without_firmware
	check "$knob" lost 1 "$self" silent
}

silent() {
	"$hwpmc" record -e instructions:u -o log -- true 2>out && fail "sampled"
	"$hwpmc" doctor >got || fail "doctor: $(cat got)"
	grep -q '^note   counters     class K8: counters do not interrupt' got || fail "doctor: $(cat got)"
}

the_module_unloads_in_a_guest() {
	! mountpoint -q $dmi || check umount $dmi
	check rmmod hwpmc
}

case ${1:-} in
finding|silent) "$@"; exit ;;
esac
harness_run
