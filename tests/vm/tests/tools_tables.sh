#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_tables - call chains by unwind tables: of a program whose depth is known, of
# programs as Debian ships them, and what is said where a chain ends early.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
pmcstat=$VM_TOP/build/tools/pmcstat
deep=$VM_TOP/build/vm/progs/deep
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# Frames of each sample, and how many samples had so many.
frames() {
	"$pmcstat" -R "$1" | awk '$1 == "callchain" { n[NF - 6]++ }
		END { for (i in n) print i, n[i] }' | sort -n
}

# The loader resolves symbols behind code whose frame is in rbx, for which there is no rule.
chains() {
	check grep -Eq '^(100.0|9[0-9].[0-9]) % of [0-9]+ call chains complete(; [0-9]+ end early: no unwind rule)?$' "$1"
}

# leaf, 41 times down, main, two functions of the C library, _start.
chains_have_the_depth_of_a_program_without_frame_pointers() {
	"$hwpmc" record --call-graph=tables -e instructions:u -c 20000 -o d.log -- \
		"$deep" 40 1000000 >out 2>said || fail "$(cat said)"
	frames d.log >depths
	most=$(sort -k 2 -n depths | tail -1 | cut -d ' ' -f 1)
	check_equal "$most" 46 "frames of most samples"
	# All but those of the loader and of the way down and up.
	check awk '{ n += $2; if ($1 == 46) full = $2 }
		END { exit !(full >= 90 && full >= n * 0.8) }' depths
	chains said
	"$hwpmc" record --call-graph=fp -q -e instructions:u -c 20000 -o f.log -- \
		"$deep" 40 1000000 >out 2>&1
	check_equal "$(frames f.log | awk '$1 == 46' | wc -l)" 0 \
		"samples of that depth by frame pointers"
}

chains_of_installed_programs_are_complete() {
	"$hwpmc" record --call-graph=tables -e instructions:u -c 50000 -o p.log -- \
		perl -e 'sub f { my $n = shift; return $n ? f($n - 1) + 1 : 0 }
			f(20) for 1 .. 100;' 2>said || fail "$(cat said)"
	chains said
	# What a report adds up to is all samples.
	check "$hwpmc" report -i p.log --format csv -s process -o out.csv
	check_equal "$(cut -d , -f 2 out.csv)" \
		"$("$pmcstat" -R p.log | grep -c '^callchain')" "samples"
}

# A copy without call-frame information: its chains end with the reason.
a_chain_that_ends_early_says_why() {
	check objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr "$deep" bare
	"$hwpmc" record --call-graph=tables -e instructions:u -c 20000 -o b.log -- \
		./bare 40 1000000 >out 2>said || fail "$(cat said)"
	check grep -Eq 'call chains complete; [0-9]+ end early: no unwind table' said
	"$hwpmc" report -i b.log >report 2>&1
	check grep -Eq '^# .* call chains complete; [0-9]+ end early: no unwind table' report
	check sh -c "'$hwpmc' report -i b.log --tree --stdio | grep -q '\[no unwind table\]'"
	"$pmcstat" -R b.log | grep '^callchain' >chains
	# The sampled address and the reason.
	check awk 'NF == 8 && $8 == "no-table" { n++ } END { exit !(n >= 90) }' chains
}

a_kind_of_chain_that_does_not_exist_is_refused() {
	"$hwpmc" record --call-graph=dwarf -o n.log -- true 2>said
	check_equal $? 2 "status"
	check grep -q "invalid kind of call chains 'dwarf' (tables; tables,fp; fp; none)" said
}

harness_run
