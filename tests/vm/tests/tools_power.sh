#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_power - energy and frequency in hwpmc stat and list, on registers that the
# emulated PMU plays.
. "$VM_TOP/tests/harness/harness.sh"
tools=$VM_TOP/build/tools
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"

# The list of both classes, for the tests of it: it takes a second or two.
parts() { [ -s parts ] || "$tools/hwpmc" list rapl perf >parts; }

list_names_energy_and_frequency() {
	check "$tools/hwpmc" list energy aperf
	parts
	check grep -q '^  rapl_pkg ' parts
	check grep -q '^  perf_aperf ' parts
}

# A machine has some parts alone (the emulated one no graphics, no platform): what is listed
# counts, and what is not listed does not.
list_has_the_parts_whose_energy_this_machine_counts() {
	parts
	sed -n 's/^  \(rapl_[a-z]*\) .*/\1/p' parts >listed
	check [ -s listed ]
	for part in pkg cores gpu dram platform; do
		if "$tools/hwpmc" stat -a -e rapl_$part -o got true 2>said; then
			grep -qx rapl_$part listed || fail "rapl_$part counts, and is not listed"
		else
			grep -qx rapl_$part listed && fail "listed: $(cat said)"
		fi
	done
	check_equal "$(grep -c platform listed)" 0 "platforms"
}

# The counter of a package is on each of its CPUs: it is counted once.
stat_counts_each_package_once_in_joules_and_watts() {
	"$tools/hwpmc" stat -a --per-cpu -e rapl-pkg,energy-cores -o got sleep 0.1 || fail "status $?"
	packages=$(cat /sys/devices/system/cpu/cpu*/topology/physical_package_id | sort -u | wc -l)
	check_equal "$(grep -c ' J  rapl-pkg' got)" "$((packages + 1))" "rows: $(cat got)"
	check grep -q ' 0.000000 J  rapl-pkg  *# 0.000 W' got
	"$tools/hwpmc" stat -a --json -e rapl-pkg -o json sleep 0.1 || fail "status $?"
	check python3 -c 'import json; [json.loads(line) for line in open("json")]'
}

stat_tells_the_frequency_of_cpus() {
	"$tools/hwpmc" stat -a -e tsc,mperf,aperf -o got sleep 0.2 || fail "status $?"
	check grep -q ' aperf  *# [0-9.]* GHz' got
}

energy_of_a_process_is_refused() {
	"$tools/hwpmc" stat -e rapl-pkg true >got 2>&1 && fail "counted"
	check_equal "$(wc -l <got)" 1 "lines: $(cat got)"
	"$tools/hwpmc" stat -a -e rapl-pkg,usr true >got 2>&1 && fail "counted user mode"
	check grep -q 'takes no qualifiers' got
}

harness_run
