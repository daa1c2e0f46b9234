#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_first_minute - what insmod, hwpmc doctor and hwpmc stat -- true do on each kind of machine
# that a user can meet, as far as its manners can be played here. The groups first-minute-* choose
# the tests by the beginning of their names. The kinds, and the tests that play them:
#
# KVM, AMD, the host's watchdog is on           guest_stat_counts_right_or_says_why_not
#                                                 (tools_guest, group guest-kvm-amd)
# KVM, the host's counters are all held         guest_whose_host_holds_all_counters_is_told
# KVM, Intel 8+3; Google C4 standard;           guest_that_has_all_counters_counts_right
#   Hyper-V with Perfmon; Xen with vpmu=on
# KVM, Intel 4+3, the host's watchdog is on     guest_stat_counts_right_or_says_why_not
#                                                 (group guest-kvm-intel)
# EC2 without counters; Azure; Hyper-V;         each_cloud_without_counters_is_told_how_to_get_them,
#   VMware without vPMC                           stat_counts_the_kernels_events_beside_energy
#                                                 (tools_clouds, group guest-azure)
# EC2 with counters, fixed cycles stand still   intel_fixed_cycles_that_stand_still_count_elsewhere
# Hyper-V or WSL 2, before the module is there  guest_flags_of_counters_are_no_promise
# Google without counters; Xen PV               bare_machine_is_told_and_counts_the_kernels_events
# Google C4 architectural                       guest_with_architectural_events_alone_is_told
# VMware with vPMC; Xen with vpmu=on:           guest_whose_own_watchdog_runs_is_told
#   the guest's watchdog runs
# VMware whose host uses the counters           guest_whose_host_holds_all_counters_is_told
# Zen, no hypervisor                            metal_counts_right_when_the_watchdog_is_off
#
# No test: SEV-SNP (each access is an exception that the guest's kernel handles), the check for
# Xen PV in the kernel, and whether a cloud behaves as its kind.
. "$VM_TOP/tests/harness/harness.sh"
. "$VM_TOP/tests/vm/lib/firmware.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
watchdog=/proc/sys/kernel/nmi_watchdog
self=$(realpath "$0")
class=IAP
other=r02c2
counters=' IAP/8/48/'
grep -q GenuineIntel /proc/cpuinfo || class=K8 other=rc1 counters=' K8/6/48/'

unload() { [ ! -d /sys/module/hwpmc ] || check rmmod hwpmc; }

# load CLASS...: the line of the module has these
load() {
	unload
	check insmod "$ko"
	dmesg | grep 'hwpmc: TSC' | tail -n 1 >classes
	for pattern; do
		grep -q "$pattern" classes || fail "not $pattern: $(cat classes)"
	done
}

# each_counts [EVENT...]: stat -- true has a number, not 0, of each event; of all six without
each_counts() {
	[ $# -gt 0 ] || set -- cycles instructions branches branch-misses cache-references cache-misses
	"$hwpmc" stat -- true >out 2>&1 || fail "stat: $(cat out)"
	for event; do
		grep -Eq "^ *[1-9][0-9,]* +$event( |$)" out || fail "no $event: $(cat out)"
	done
}

kernels_events_count() {
	for event in page-faults context-switches; do
		grep -Eq "^ *[0-9,]+ +$event" out || fail "no $event: $(cat out)"
	done
}

is_content() {
	"$hwpmc" doctor >got 2>&1 || fail "doctor: $(cat got)"
	grep -qx 'hwpmc can count here' got || fail "doctor: $(cat got)"
	each_counts
	grep -q '^hwpmc stat: ' out && fail "said: $(cat out)"
	"$hwpmc" doctor >got 2>&1 || fail "doctor: $(cat got)"
	grep -q '^note   counters' got && fail "doctor: $(cat got)"
	true
}

# The columns are those of firmware(), and what doctor calls it.
guest_that_has_all_counters_counts_right() {
	while IFS='|' read -r vendor product asset bios name; do
		load "$counters"
		firmware "$vendor" "$product" "$asset" "$bios"
		is_content
		grep -q "^ok     hypervisor   this is a virtual machine, $name" got ||
			fail "not $name: $(cat got)"
	done <<-END
	QEMU|Standard PC (Q35 + ICH9, 2009)||1.16|KVM
	Google|Google Compute Engine||Google|Google Compute Engine
	Microsoft Corporation|Virtual Machine||Hyper-V UEFI|Microsoft Hyper-V
	Xen|HVM domU||4.17|Xen
	END
	own_firmware
}

guest_flags_of_counters_are_no_promise() {
	unload
	firmware "Microsoft Corporation" "Virtual Machine" "" "Hyper-V UEFI"
	"$hwpmc" doctor >got 2>&1
	check_equal $? 1 "status: $(cat got)"
	own_firmware
	grep -q '^note   pmu  .*the processor lists counters' got || fail "$(cat got)"
	grep -q '^ok     pmu' got && fail "$(cat got)"
	true
}

# With a hypervisor that adds the instructions that it emulates, and one that does not.
guest_whose_host_holds_all_counters_is_told() {
	for emulated in 1 0; do
		load "$counters"
		check "$knob" frozen $((0x7ffffffff)) "$knob" emulated $emulated "$self" held
		# The next claim tries again.
		each_counts
		is_content
	done
}

held() {
	"$hwpmc" stat -- true >out 2>&1 && fail "stat: $(cat out)"
	head -n 1 out | grep -q "^hwpmc stat: .*counters do not count or count wrong" ||
		fail "first line: $(cat out)"
	grep -q 'sysctl kernel.nmi_watchdog=0' out || fail "no remedy: $(cat out)"
	grep -q 'filters it' out && fail "another reason: $(cat out)"
	grep -qv '^hwpmc stat: ' out && fail "numbers: $(cat out)"
	"$hwpmc" doctor >got 2>&1 && fail "doctor: $(cat got)"
	grep -A3 "^WRONG  counters  .*class $class: counters do not count" got | tr -s '\n ' ' ' |
		grep -q 'to do: on the host: sysctl kernel.nmi_watchdog=0' || fail "doctor: $(cat got)"
	check_equal "$(tail -n 1 got | cut -d: -f1)" "hwpmc cannot count here" "doctor"
}

intel_fixed_cycles_that_stand_still_count_elsewhere() {
	load "$counters"
	check "$knob" frozen $((1 << 33)) "$self" fixed
}

fixed() {
	each_counts
	head -n 1 out | grep -q '^hwpmc stat: IAF: counters do not count' || fail "said: $(cat out)"
	"$hwpmc" doctor >got 2>&1 || fail "doctor: $(cat got)"
	grep -q '^note   counters  .*class IAF: counters do not count' got || fail "doctor: $(cat got)"
}

guest_with_architectural_events_alone_is_told() {
	load "$counters"
	check "$knob" filter $((0x9 << 32)) "$self" architectural
}

# AMD has no architectural events: those are counted that all lists have.
architectural() {
	if [ $class = IAP ]; then
		each_counts
	else
		each_counts cycles instructions branches
		grep -Eq '^ *0 +(branch-misses|cache)' out && fail "0: $(cat out)"
	fi
	head -n 1 out | grep -q "^hwpmc stat: $class: .*only architectural events" ||
		fail "said: $(cat out)"
	"$hwpmc" stat -e $other -- true >out 2>&1 && fail "counted: $(cat out)"
	grep -q 'only architectural events' out || fail "$(cat out)"
	"$hwpmc" doctor >got 2>&1 || fail "doctor: $(cat got)"
	grep -q "^note   counters  .*class $class: .*only architectural events" got || fail "doctor: $(cat got)"
}

# while_the_watchdog_runs: doctor and stat name it; without it all is right
while_the_watchdog_runs() {
	echo 1 >$watchdog
	check_equal "$(cat $watchdog)" 1 "the watchdog"
	"$hwpmc" doctor >got 2>&1
	check_equal $? 1 "status: $(cat got)"
	grep -A1 '^WRONG  watchdog' got | grep -q 'to do: sysctl kernel.nmi_watchdog=0' || fail "$(cat got)"
	"$hwpmc" stat -- true >out 2>&1
	grep -q 'sysctl kernel.nmi_watchdog=0' out || fail "stat: $(cat out)"
	grep -E '^ *0 +(cycles|instructions)' out && fail "stat: $(cat out)"
	echo 0 >$watchdog
	is_content
}

guest_whose_own_watchdog_runs_is_told() {
	while IFS='|' read -r vendor product name; do
		load "$counters"
		firmware "$vendor" "$product" "" ""
		while_the_watchdog_runs
		grep -q "^ok     hypervisor   this is a virtual machine, $name" got ||
			fail "not $name: $(cat got)"
	done <<-END
	VMware, Inc.|VMware20,1|VMware
	Xen|HVM domU|Xen
	END
	own_firmware
}

bare_machine_is_told_and_counts_the_kernels_events() {
	load ' TSC/1/64/[^ ]* SOFT/16/[^ ]*$'
	while IFS='|' read -r vendor product bios command; do
		firmware "$vendor" "$product" "" "$bios"
		"$hwpmc" doctor >got 2>&1
		check_equal $? 1 "status: $(cat got)"
		grep -A1 '^WRONG  pmu' got | grep -qF "to do: $command" || fail "doctor: $(cat got)"
		check_equal "$(grep -c '^WRONG' got)" 1 "problems: $(cat got)"
		"$hwpmc" stat -- true >out 2>&1 || fail "stat: $(cat out)"
		check_equal "$(grep -c '^hwpmc stat: this machine has no usable hardware counters' out)" \
			1 "messages: $(cat out)"
		kernels_events_count
	done <<-END
	Google|Google Compute Engine|Google|gcloud compute instances create
	Xen|PV domU|4.17|boot Xen on the host with: vpmu=on
	END
	own_firmware
}

metal_counts_right_when_the_watchdog_is_off() {
	load ' TSC/1/64/' ' K8/6/48/' ' SOFT/16/' ' RAPL/' ' PERF/2/64/'
	while_the_watchdog_runs
	grep -q '^ok     hypervisor   .*virtual' got && fail "doctor: $(cat got)"
	true
}

case ${1:-} in
held | fixed | architectural)
	# shellcheck disable=SC2154
	rmdir "$harness_dir"
	fail() { echo "$*" >&2; exit 1; }
	"$1"
	exit 0 ;;
esac
harness_run
