#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_pmcannotate - pmcannotate: functions of a binary with their instructions, each
# sample of the log once, whatever the binary is called.
. "$VM_TOP/tests/harness/harness.sh"
pmcstat=$VM_TOP/build/tools/pmcstat
pmcannotate=$VM_TOP/build/tools/pmcannotate
hot3=$VM_TOP/build/vm/progs/hot3
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# record PROGRAM...: to the file log; $samples are in it.
record() {
	check "$pmcstat" -O log -n 10007 -P instructions,usr -- "$@"
	samples=$("$pmcstat" -R log | grep -c ^callchain)
}
# annotate OPTIONS...: what it prints, to the file text.
annotate() { "$pmcannotate" "$@" >text 2>err || fail "$*: status $?: $(cat err)"; }
# The samples of all functions and of what is not shown.
sum() { sed -n 's/.*%, \([0-9]*\) samples\]$/\1/p' text | awk '{ n += $1 } END { print n }'; }

pmcannotate_shows_functions_with_the_known_shares() {
	record "$hot3"
	annotate log "$hot3"
	check_equal "$(head -n 1 text)" "instructions,usr: $samples samples" "head"
	check_equal "$(sum)" "$samples" "samples"
	for want in hot_sixty:60 hot_thirty:30 hot_ten:10; do
		got=$(sed -n "s/^${want%:*}() \[\([0-9]*\)\..*/\1/p" text)
		[ "$got" -ge $((${want#*:} - 2)) ] &&
			[ "$got" -le $((${want#*:} + 2)) ] || fail "$want: $got"
	done
	# In each function the instructions add up, and nine of ten are in its loop.
	awk '/^hot_/ { name = $1 } $2 == "|" && $1 ~ /%$/ {
			all[name] += $1; if (/addq|decl|jne/) loop[name] += $1 }
		END { for (f in all) {
			n++
			if (all[f] < 99.9 || all[f] > 100.1 || loop[f] < 90)
				print f, all[f], loop[f]
		} if (n != 3) print n, "functions" }' text >bad
	check_equal "$(cat bad)" "" "functions"
}

pmcannotate_counts_what_it_does_not_show() {
	check "$pmcstat" -O log -d -n 10007 -P instructions,usr -- \
		sh -c "$hot3; ls -lR /proc/self >list"
	samples=$("$pmcstat" -R log | grep -c ^callchain)
	annotate log "$hot3"
	check_equal "$(sum)" "$samples" "samples of the descendants"
	check grep -q '^not in this binary \[' text
	annotate -l 100 log "$hot3"
	check_equal "$(sum)" "$samples" "samples below the level"
	check grep -q '^other functions \[' text
}

pmcannotate_shows_lines_of_the_source() {
	cat >lines.c <<-'EOF'
		int main(void)
		{
			volatile int n = 1000000;

			while (n)
				n--;	/* the hot line */
			return 0;
		}
	EOF
	check gcc -g -O0 -o lines lines.c
	record ./lines
	annotate log lines
	check grep -Eq '^ +\| lines.c:6: .*the hot line' text
	check_equal "$(sum)" "$samples" "samples"
	annotate -a log lines
	grep -q 'hot line' text && fail "$(cat text)"
	check grep -Eq '^ *[0-9.]+% \| +[0-9a-f]+:  [a-z]' text
}

pmcannotate_takes_any_name_of_a_file() {
	for name in 'a b' "it's" 'q"$(touch ran)`touch ran`' "new
line" '-a' '%s%n'; do
		cp "$hot3" "./$name"
		record "./$name"
		annotate log "./$name"
		check_equal "$(sum)" "$samples" "samples of '$name'"
		check grep -q '^hot_sixty() \[' text
	done
	[ ! -e ran ] || fail "a name was run by a shell"
}

refused() {
	want=$1 text=$2
	shift 2
	status=0
	"$pmcannotate" "$@" >refused.out 2>&1 || status=$?
	check_equal "$status" "$want" "status of $*"
	grep -qF -- "$text" refused.out || fail "$*: $(cat refused.out)"
}

pmcannotate_says_what_is_wrong() {
	record "$hot3"
	refused 2 "give a log and a binary" log
	refused 2 "unexpected argument" log a b
	refused 2 "invalid percentage" -l x log a
	refused 1 "cannot open 'nonesuch'" nonesuch a
	refused 1 "no sample of 'log' hit '/bin/ls'" log /bin/ls
	refused 1 "but '$hot3' was hit" log ./hot3
	refused 1 "offset 0" /bin/sh /bin/sh
	"$pmcannotate" log "$hot3" >/dev/full 2>err && fail "/dev/full: success"
	check grep -q 'No space left' err
	check "$pmcannotate" -h
}

harness_run
