#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_export - what hwpmc record really recorded, exported in each format: the samples
# are those of the log, and the programs that read it show the known shares.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
hot3=$VM_TOP/build/vm/progs/hot3
export PYTHONDONTWRITEBYTECODE=1
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# near GOT WANT WHAT: within 4.5; of 3,000 samples that is five sigma
near() {
	awk -v got="$1" -v want="$2" \
		'BEGIN { exit !(got > want - 4.5 && got < want + 4.5) }' ||
		fail "$3: $1 percent, not $2"
}

recorded() {
	[ -s hot.log ] ||
		check "$hwpmc" record -g -e instructions:u -c 10007 \
			-o hot.log -- "$hot3"
}

exports_of_a_whole_system_have_the_samples_of_its_log() {
	check "$hwpmc" record -a -g -e instructions -c 100003 -e branches -c 20011 \
		-o all.log -- sh -c "$hot3; ls -lR /proc/self >/dev/null"
	# The kernel takes a second to say them, each time.
	cat /proc/kallsyms >symbols
	check "$hwpmc" report -i all.log --kallsyms symbols --format csv -s process -o all.csv
	want=$(awk -F, '{ n += $2 } END { print n }' all.csv)
	[ "$want" -gt 1000 ] || fail "$want samples"
	for format in folded flamegraph pprof callgrind firefox speedscope; do
		check "$hwpmc" report -i all.log --kallsyms symbols --format "$format" -o "$format"
		check_equal "$(python3 "$VM_TOP/tests/export/sums.py" $format $format)" \
			"$want" "samples of $format"
	done
}

gprof_shows_the_known_shares_of_a_recorded_program() {
	recorded
	check "$hwpmc" report -i hot.log --format gmon -o gmon.out
	check gprof -b "$hot3" gmon.out
	for f in hot_sixty=60 hot_thirty=30 hot_ten=10; do
		near "$(awk -v f="${f%=*}" '$NF == f { print $1; exit }' \
			out)" "${f#*=}" "$f"
	done
}

callgrind_annotate_shows_the_known_shares_of_a_recorded_program() {
	recorded
	check "$hwpmc" report -i hot.log --format callgrind -o callgrind
	check callgrind_annotate --threshold=100 callgrind
	for f in hot_sixty=60 hot_thirty=30 hot_ten=10; do
		near "$(sed -n "s/.*( *\([0-9.]*\)%).*:${f%=*} .*/\1/p" \
			out)" "${f#*=}" "$f"
	done
	check callgrind_annotate --inclusive=yes --tree=calling callgrind
	grep -Eq '\((9[89]\.[0-9]+|100\.0)%\)  \*  .*:_start' out ||
		fail "_start does not include what it calls"
}

harness_run
