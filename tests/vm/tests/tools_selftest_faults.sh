#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_selftest_faults - each misbehaviour that the emulated PMU can play while a machine runs:
# hwpmc selftest fails, and names it. Its last test shows that all is well without.
#
# Not here, as no program can notice them: an LVTPC of AMD's that masks itself, a bit of the
# acknowledgement that faults, DEBUGCTL's freeze and PEBS_ENABLE that others left on, force abort
# of TSX, and counters that are shared or that lose an overflow where the model is known to do so:
# the module acts on them, and selftest holds (groups model-NAME); an APIC that unmasks late, for
# which the module waits; a guest's entry that is a branch, for selftest takes the least of many
# counts; a select without bits of guests; and instructions that a hypervisor emulates, where no
# counter stands still. An interrupt of the counters'
# without an overflow is found by luck alone: it masks itself on Intel, and is taken for a late one.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib"
hwpmc=$VM_TOP/build/tools/hwpmc
knob=$VM_TOP/build/vm/progs/knob
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost
# An interrupt that has come once is not tried again by the module: selftest is to find it alone.
"$hwpmc" selftest >/dev/null || :

# Nor are counters, as long as somebody has them.
hold_counters() {
	"$hwpmc" stat -e branches:u -- sleep 100000 2>/dev/null &
	holder=$!
	while "$hwpmc" control | grep -q free; do
		sleep 0.1
	done
}

let_go() {
	kill "$holder"
	wait "$holder"
	:
}

if grep -q GenuineIntel /proc/cpuinfo; then
	class=IAP select=0x18d counter=0x4c8 ack=0x390 last=0x80
	cycles=0x30000003c branches=0x1000000c4
else
	class=K8 select=0xc001020a counter=0xc001020b ack=0xc0000302 last=0x20
	cycles=0x100000076 branches=0x1000000c2
fi
instructions=0x1000000c0
everything=0x700000000
others=0x900000000
all=0xffffffffffffffff

# names WORDS KNOB VALUE: with it selftest says these words of a failure
names() {
	words=$1
	shift
	"$knob" "$@" "$hwpmc" selftest >got 2>&1
	check_equal $? 1 "status with $*: $(cat got)"
	grep -q "FAILED.*$words" got || fail "no '$words' with $*: $(cat got)"
}

# The kernel complains of NMIs without a cause, which is what is looked for.
strays() {
	printf '%s\n' 'NMI received for unknown reason' 'Dazed and confused' >>"$VM_OUT/expected"
	names "$@"
}

selftest_names_each_misbehaviour_of_counting() {
	hold_counters
	names "$class-[0-9] does not count: 0 of" filter "$instructions"
	names "cycles:u counts 0 of at least 1: a hypervisor filters it" filter "$cycles"
	names "branches:u counts 0 of at least [0-9]*: a hypervisor filters it" filter "$branches"
	# The module may find that it stands still, by a look or as it is stopped.
	names "instructions:u counts 0 of at least\|host took the counter" filter "$everything"
	names "$class-[57] does not count: 0 of" frozen "$last"
	names "CPU 1 counts 0 of at least" -c 1 frozen "$all"
	# A seventh of 40,000 is no whole number: the events before decide which end it has.
	names "$class-0 counts too much: 4571[45] of 40000" more 7
	names "$class-0 counts too little: 3428[56] of 40000" less 7
	names "of 160000 instructions of a loop that moves between" -c 1 more 7
	names "-[01] counts the kernel as well: 'instructions:u'" modes 3
	names "the counter went backwards" forget 7
	names "goes backwards: RDPMC reads\|the counter went backwards" forget 50
	names "$class-0 has 32 bits, expected 48" narrow 32
	names "$class-0 has bits that stay 0: 0x100000" stuck 0x100000
	let_go
}

# A counter that is taken comes back with the next select: so it is taken again and again.
selftest_names_what_a_hypervisor_takes_loses_or_mixes_up() {
	# A claim would find by itself what the host gives.
	hold_counters
	names "$class-1 \(does not count\|counts too little\|counts 0 instructions\)" steal 0x2
	names "of 160000 instructions of a loop that moves between" -c 1 steal "$all"
	names "another program wrote a register of the counter during the measurement" migrate 1
	names "$class-[2-7] does not count: 0 of" at-once 3
	names "$class-1: 0 samples of 20 periods" alias 0x2
	# Every event of selftest on Intel's is architectural.
	[ "$class" = IAP ] ||
		names "ref-cycles:u counts 0 of at least 1: a hypervisor filters it" filter "$others"
	let_go
}

selftest_names_each_misbehaviour_of_interrupts() {
	names "interrupts are lost: [0-9]* of 12 never came" lost 3
	names "overflows do not interrupt: 0 of 12" lost 1
	names "interrupts are late: up to [0-9]* instructions" late 250000
	names "a counter that is set shortly before its overflow does not interrupt" short 3000
}

selftest_names_each_register_that_faults() {
	names "access to a counter register faulted: .*MSR $select" refuse "$select"
	names "access to a counter register faulted: .*MSR $counter" refuse "$counter"
	names "access to a counter register faulted: .*MSR $ack" refuse "$ack"
	names "access to a counter register faulted: .*RDPMC 0x1" no-rdpmc 0x2
	names "RDPMC of [AFIKP8]*-0 faults in user mode" no-user-rdpmc 1
}

selftest_names_nmis_that_nobody_has_caused() {
	strays "unknown NMIs" double 2
	strays "unknown NMIs" storm 200000
}

selftest_holds_after_all_misbehaviours() {
	"$hwpmc" selftest >got 2>&1 || fail "$(cat got)"
	check grep -q ' 0 failed, 0 not tried' got
}

harness_run
