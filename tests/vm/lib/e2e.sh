# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh
# e2e.sh - what the tests of profiles share: record a program of known shares,
# report it flat and by its call chains, and compare. Sourced by e2e_*.sh.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# Keys of each line of flat.csv, behind event, samples and percent.
keys=pid,thread,process,image,symbol

# The samples of the last log by the log itself.
samples_of_log() {
	"$VM_TOP/build/tools/pmcstat" -R e2e.log | grep -c '^callchain'
}

# profile OPTION... -- COMMAND: record it into e2e.log, report it flat (flat.csv)
# and by stacks (stacks), and see that each has all samples of the log, $all.
# $report has further options of hwpmc report.
profile() {
	# On a busy host the reader may get no CPU for long.
	check "$hwpmc" record -g -c 1009 --ring-size 8192 -o e2e.log "$@"
	grep -q ' 0 dropped' "$harness_dir/out" ||
		fail "record said: $(tail -n 2 "$harness_dir/out");" \
			"the log: $("$hwpmc" dump -i e2e.log --type dropnotify)"
	# The kernel takes a second to say them, each time.
	case $report in *--kallsyms*) cat /proc/kallsyms >symbols ;; esac
	check "$hwpmc" report -i e2e.log --format csv -s $keys -o flat.csv $report
	sed -i 1d flat.csv
	check "$hwpmc" report -i e2e.log --format folded -o stacks $report
	all=$(samples_of_log)
	check_equal "$(flat .)" "$all" "samples in the flat report"
	check_equal "$(stacks .)" "$all" "samples in the stacks"
}

# The same as a call tree (tree).
call_tree() {
	check "$hwpmc" report -i e2e.log --tree -o tree $report
	check_equal "$(tree_roots)" "$all" "samples in the call tree"
}

# flat REGEX: the samples of lines of the flat report whose keys match.
flat() {
	re=$1 awk -F, '{ n = $2; sub("^[^,]*,[^,]*,[^,]*,", "") }
		$0 ~ ENVIRON["re"] { sum += n } END { print sum + 0 }' flat.csv
}

# stacks REGEX: the samples of stacks that match, outermost function first.
stacks() {
	re=$1 awk '{ n = $NF; sub(" [0-9]+$", "") }
		$0 ~ ENVIRON["re"] { sum += n } END { print sum + 0 }' stacks
}

tree_roots() { awk '/^ +[0-9.]+% +[0-9]+ +[0-9]+  [^ ]/ { n += $2 } END { print n + 0 }' tree; }

# tree NAME: the samples in and below all nodes of that name.
tree() { awk -v name="$1" '$4 == name { n += $2 } END { print n + 0 }' tree; }

# near GOT OF PERCENT WHAT: within five standard deviations of a random choice of
# OF samples with that chance.
near() {
	awk -v got="$1" -v n="$2" -v p="$3" 'BEGIN {
		p /= 100; d = got - n * p
		exit !(n > 0 && d * d <= 25 * n * p * (1 - p)) }' ||
		fail "$4: $1 of $2 samples, not $3 percent"
}

# nearly GOT OF WHAT: all, but for one in a thousand; by frame pointers the caller is
# missing in the first instructions of a function, by tables it never is.
nearly() {
	awk -v got="$1" -v n="$2" 'BEGIN {
		lost = n - got; few = n / 1000
		exit !(n > 0 && lost >= 0 && lost <= few + 5 * sqrt(few)) }' ||
		fail "$3: $1 of $2 samples, less than 99.9 percent"
}

# most PART WHAT: at least 97 of 100 of the samples of the log.
most() {
	[ $(($1 * 100)) -ge $((all * 97)) ] || fail "$2: only $1 of $all samples"
}

# three KEYS CALLER PREFIX: of the lines whose keys begin so, PREFIX_sixty, _thirty
# and _ten have their shares; of the chains, what CALLER calls has them too.
three() {
	flat_sum=$(flat "$1,$3_(sixty|thirty|ten)$")
	stack_sum=$(stacks ";$2;$3_(sixty|thirty|ten)(_\[k\])?$")
	nearly "$stack_sum" "$flat_sum" "$3_* called by $2"
	for share in sixty:60 thirty:30 ten:10; do
		name=$3_${share%:*} percent=${share#*:}
		near "$(flat "$1,$name$")" "$flat_sum" "$percent" "$name, flat"
		near "$(stacks ";$2;$name(_\[k\])?$")" "$stack_sum" "$percent" \
			"$name, by chain"
	done
}
