#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_clouds - the first minute in a virtual machine that has no counters, though it has
# energy and frequency: each tool says so and what can be done, and what the kernel counts
# itself is counted. Files in the place of firmware's make it the machine of each cloud.
. "$VM_TOP/tests/harness/harness.sh"
. "$VM_TOP/tests/vm/lib/firmware.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
ko=$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko
why="the hypervisor gives this machine no performance counters"

[ -e /dev/hwpmc ] || insmod "$ko"

the_machine_has_energy_and_frequency_and_no_counters() {
	dmesg | grep -q 'hwpmc: TSC/1/64.* SOFT/.* RAPL/.* PERF/2/64/0x20<REA>$' ||
		fail "classes: $(dmesg | grep hwpmc: | tail -n 1)"
	"$hwpmc" stat -a -e aperf,mperf -- sleep 0.1 >out 2>&1 || fail "stat: $(cat out)"
}

# The columns: vendor, product, asset tag, version of the BIOS; what doctor calls it, what
# gets counters. "Microsoft Hv" is the signature: what firmware says comes first.
each_cloud_without_counters_is_told_how_to_get_them() {
	while IFS='|' read -r vendor product asset bios name command; do
		firmware "$vendor" "$product" "$asset" "$bios"
		"$hwpmc" doctor >got 2>&1
		check_equal $? 1 "status of $name: $(cat got)"
		grep -A1 "^WRONG  pmu  .*has no hardware counters: $why; " got >found ||
			fail "$name: $(cat got)"
		grep -qF "to do: $command" found || fail "$name: not '$command': $(cat found)"
		check_equal "$(grep -c '^WRONG' got)" 1 "problems, $name: $(cat got)"
		grep -q "^ok     hypervisor   this is a virtual machine, $name" got ||
			fail "not $name: $(cat got)"
		"$hwpmc" doctor --json >report
		check_equal "$(python3 -c '
import json
r = json.load(open("report"))
print(r["hypervisor"], r["can_count"], [f["verdict"] for f in r["findings"] if f["name"] == "pmu"])')" \
			"$name False ['wrong']" "JSON"
	done <<-END
	Amazon EC2|m5.2xlarge||1.0|Amazon EC2|stop it, then: aws ec2 modify-instance-attribute
	Amazon EC2|t3.micro||1.0|Amazon EC2|stop it, then: aws ec2 modify-instance-attribute
	Xen|HVM domU||4.11.amazon|Amazon EC2 (Xen)|stop it, then: aws ec2 modify-instance-attribute
	Google|Google Compute Engine||Google|Google Compute Engine|gcloud compute instances create
	Microsoft Corporation|Virtual Machine|7783-7084-3265-9085-8269-3286-77|Hyper-V UEFI|Microsoft Azure|hwpmc list
	Microsoft Corporation|Virtual Machine||Hyper-V UEFI|Microsoft Hyper-V|on the host, with the machine off: Set-VMProcessor NAME -Perfmon @("pmu")
	VMware, Inc.|VMware20,1||VMW201|VMware|power it off; processors: Virtualize CPU performance counters
	innotek GmbH|VirtualBox||VirtualBox|VirtualBox|use another hypervisor
	Xen|HVM domU||4.17|Xen|boot Xen on the host with: vpmu=on
	QEMU|Standard PC (Q35 + ICH9, 2009)|OracleCloud.com|1.6|Oracle Cloud|use a bare-metal machine
	OpenStack Foundation|OpenStack Nova||1.16|OpenStack|openstack image set --property hw_pmu=true
	||||Microsoft Hyper-V|on the host, with the machine off: Set-VMProcessor NAME -Perfmon @("pmu")
	END
	own_firmware
}

doctor_knows_wsl_by_its_kernel() {
	firmware "" "" "" ""
	echo 5.15.167.4-microsoft-standard-WSL2 >release
	check mount --bind release /proc/sys/kernel/osrelease
	"$hwpmc" doctor >got 2>&1
	status=$?
	umount /proc/sys/kernel/osrelease
	own_firmware
	check_equal $status 1 "status: $(cat got)"
	grep -q 'to do: in %USERPROFILE%.*hardwarePerformanceCounters=true' got || fail "$(cat got)"
}

stat_counts_the_kernels_events_beside_energy() {
	"$hwpmc" stat -- sh -c 'ls / | cat' >out 2>&1 || fail "status $?: $(cat out)"
	check_equal "$(head -n 1 out)" "hwpmc stat: this machine has no usable hardware counters: counting kernel events; $why (see hwpmc doctor)" \
		"first line"
	for event in page-faults context-switches cpu-migrations clock.prof; do
		grep -Eq "^ *[0-9,]+ +$event" out || fail "no $event: $(cat out)"
	done
	"$hwpmc" stat --json -- true >json 2>/dev/null || fail "status $?"
	check python3 -c 'import json; [json.loads(line) for line in open("json")]'
}

record_samples_a_timer_beside_energy() {
	"$hwpmc" record -o log -- true 2>out || fail "status $?: $(cat out)"
	head -n 1 out | grep -q "^hwpmc record: this machine has no usable hardware counters: sampling clock.prof, a timer; $why (see hwpmc doctor)" ||
		fail "$(cat out)"
	"$hwpmc" top -n 1 >out 2>&1 </dev/null || fail "top: $(cat out)"
	grep -q "no usable hardware counters" out || fail "top: $(cat out)"
}

kgmon_samples_a_timer_beside_energy() {
	check "$hwpmc" kgmon -b
	check "$hwpmc" kgmon -h
}

a_hardware_event_is_refused_with_its_class_named() {
	"$hwpmc" stat -e cycles -- true 2>out && fail "counted: $(cat out)"
	check_equal "$(wc -l <out)" 1 "lines: $(cat out)"
	grep -q "no hardware counters except 'tsc' and those of energy and frequency" out || fail "$(cat out)"
}

list_and_control_say_why_there_are_no_counters() {
	"$hwpmc" list >out 2>&1 || fail "$(cat out)"
	head -n 1 out | grep -q "^hwpmc list: this machine has no usable hardware counters: $why" || fail "list: $(cat out)"
	grep -q '^  perf_aperf ' out || fail "list has no aperf"
	"$hwpmc" control >out || fail "$(cat out)"
	grep -q "$why" out || fail "control: $(cat out)"
}

selftest_fails_in_one_line_without_counters() {
	"$hwpmc" selftest >out 2>&1 && fail "held: $(cat out)"
	check_equal "$(grep -c FAILED out)" 1 "failures: $(cat out)"
	grep -q "FAILED .*no counters that the module can use: $why" out || fail "$(cat out)"
}

the_module_unloads_beside_energy() {
	check rmmod hwpmc
}

harness_run
