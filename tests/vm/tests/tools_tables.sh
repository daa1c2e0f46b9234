#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_tables - call chains by unwind tables: of a program whose depth is known, of
# programs as Debian ships them, and what is said where a chain ends early.
. "$VM_TOP/tests/harness/harness.sh"
hwpmc=$VM_TOP/build/tools/hwpmc
pmcstat=$VM_TOP/build/tools/pmcstat
deep=$VM_TOP/build/vm/progs/deep
chains=$VM_TOP/build/vm/progs/chains
[ -e /dev/hwpmc ] || insmod "$VM_TOP/build/kmod/$(uname -r)/hwpmc.ko"
# The emulator's NMIs take long.
echo 0 >/proc/sys/kern/hwpmc/selfcost

# The tables that are made of files are kept: the emulator takes a second for the C library's,
# the loader's and a program's.
# shellcheck disable=SC2154 # harness.sh sets it
cache=--unwind-cache=$harness_dir/cache

# A recording that waits until `release` (or the end of all) has the module's probes of
# mappings stay: the kernel takes 70 million instructions to make them and to remove them.
mkfifo "$harness_dir/held" "$harness_dir/free"
(cd "$harness_dir" && exec "$hwpmc" record -q -g $cache -e clock.prof -o /dev/null -- \
	sh -c 'echo >held; read -r _ <free') &
holder=$!
read -r _ <"$harness_dir/held"
trap 'kill $holder 2>/dev/null; wait $holder' EXIT
release() {
	[ ! -p free ] || kill $holder
	rm -f free
}

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
	check_equal "$(sed 1d out.csv | cut -d , -f 2)" \
		"$("$pmcstat" -R p.log | grep -c '^callchain')" "samples"
}

# A copy without call-frame information: its chains end with the reason.
a_chain_that_ends_early_says_why() {
	check objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr "$deep" bare
	"$hwpmc" record --call-graph=tables -e instructions:u -c 20000 -o b.log -- \
		./bare 40 1000000 >out 2>said || fail "$(cat said)"
	check sh -c "tail -n 1 said | grep -Eq 'call chains complete; [0-9]+ end early: no unwind table'"
	"$hwpmc" report -i b.log >report 2>&1
	check grep -Eq '^# .* call chains complete; [0-9]+ end early: no unwind table \(([0-9.]+ % in [^,]*, )*[0-9.]+ % in bare[,)]' report
	check sh -c "'$hwpmc' report -i b.log --tree --stdio | grep -q '\[no unwind table\]'"
	"$pmcstat" -R b.log | grep '^callchain' >chains
	# The sampled address and the reason.
	check awk 'NF == 8 && $8 == "no-table" { n++ } END { exit !(n >= 90) }' chains
}

# A program without call-frame information that has frame pointers, as those of Go, by default.
chains_of_a_program_without_tables_go_on_by_frame_pointers() {
	check objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr \
		"$VM_TOP/build/vm/progs/hot3" bare3
	"$hwpmc" record -g $cache -e instructions:u -c 20011 -o b.log -- ./bare3 >out 2>said ||
		fail "$(cat said)"
	# In _start the frame pointer is 0 already.
	check grep -Eq '^(100.0|9[89].[0-9]) % of [0-9]+ call chains complete' said
	"$pmcstat" -R b.log | grep '^callchain' >chains
	all=$(wc -l <chains)
	[ "$(grep -c frame-pointers chains)" -ge $((all * 98 / 100)) ] || fail "$(head -n 3 chains)"
	check_equal "$(grep -c not-ready chains)" 0 "chains whose table is to come"
	"$hwpmc" record --call-graph=tables $cache -e instructions:u -c 20011 -o b.log -- ./bare3 \
		>out 2>said || fail "$(cat said)"
	check grep -q ' end early: no unwind table$' said
}

a_kind_of_chain_that_does_not_exist_is_refused() {
	"$hwpmc" record --call-graph=dwarf -o n.log -- true 2>said
	check_equal $? 2 "status"
	check grep -q "invalid kind of call chains 'dwarf' (tables; tables,fp; fp; none)" said
}

# folded REGEX: the samples of stacks that match, outermost function first
folded() {
	sed 's/ \([0-9]*\)$/\t\1/' k.folded >k.stacks
	cut -f 1 k.stacks | grep -En "$1" | cut -d : -f 1 >k.lines
	awk -F '\t' 'FILENAME == "k.lines" { is[$1] = 1; next }
		FNR in is { sum += $2 } END { print sum + 0 }' k.lines k.stacks
}

# known MODE REGEX: each sample of the innermost function has that chain, and no other.
known() {
	check "$hwpmc" record -g -q $cache -e instructions:u -c 20011 -o k.log -- \
		"$chains" "$1" "${3:-500000}"
	check "$hwpmc" report -i k.log --format folded -o k.folded
	[ "$(folded ';known_leaf$')" -ge 50 ] || fail "$1: $(folded ';known_leaf$') samples"
	check_equal "$(folded "^chains;_start;[^;]*libc_start[^;]*;[^;]*;main;(by_[a-z]+;)?$2known_leaf$")" \
		"$(folded ';known_leaf$')" "$1: samples with the chain ($(head -n 1 k.folded))"
}

chains_through_recursion_callbacks_signals_and_realigned_stacks_are_the_truth() {
	known recursion '(known_down;){30}'
	known qsort '([^;]+;)+known_compare;'
	known signal 'known_raiser;([^;]+;)+known_handler;'
	known altstack 'known_raiser;([^;]+;)+known_handler;'
	known realigned 'known_aligned;'
	known opened '(lib_down;){11}'
}

# A library that is opened late: its table comes late, which is counted, and is used then. The
# program is started again until the table is kept.
a_table_that_comes_late_is_counted_and_then_used() {
	id=$(readelf -n "$VM_TOP/build/vm/progs/libhot-late.so" | sed -n 's/.*Build ID: //p')
	"$hwpmc" record -g --unwind-cache="$PWD/late" --ring-size 64 -e instructions:u -c 20011 \
		-o l.log -- sh -c 'until [ -e "late/$2" ]; do "$1" -d 1000; done; "$1" -d 1000
			"$1" -d 8000' - "$VM_TOP/build/vm/progs/hot" "$id" >out 2>said ||
		fail "$(cat said)"
	"$pmcstat" -R l.log | grep '^callchain' >list
	late=$(grep -c 'not-ready$' list)
	[ "$late" -gt 0 ] || fail "no chain came before its table: $(cat said)"
	# The sum of the complete and of those with a reason is all, but for a few samples that
	# hit the first instruction of the kernel.
	ends=$(grep 'call chains complete' said | sed 's/.*of \([0-9]*\) call.*/\1/')
	all=$(wc -l <list)
	[ "$ends" -le "$all" ] && [ "$ends" -ge "$((all - 20))" ] ||
		fail "$ends of $all chains have an end"
	# The last ones are complete, but for the way out of the program.
	tail -n 1000 list | grep -vc 'no-\|not-' >complete
	[ "$(cat complete)" -ge 990 ] || fail "$(cat complete) of the last 1000 are complete"
}

# Kernel samples: the user part by the same tables, from the registers at the entry.
chains_of_kernel_samples_have_all_callers_of_the_user_part() {
	check "$hwpmc" record -q -g $cache -e instructions:k -c 20011 -o k.log -- \
		"$chains" kernel 30000
	check "$hwpmc" report --kallsyms /dev/null -i k.log --format folded -o k.folded
	all=$(folded ';known_calls;')
	[ "$all" -ge 50 ] || fail "$all samples below known_calls"
	known='^chains;_start;[^;]*;[^;]*;main;(known_down;){30}known_calls;'
	check_equal "$(folded "$known")" "$all" \
		"samples with the chain ($(grep ';known_calls;' k.folded | grep -Ev "$known"))"
}

# Threads begin with no frame of main.
chains_of_a_thread_end_at_clone() {
	check "$hwpmc" record -q -g $cache -e instructions:u -c 20011 -o k.log -- \
		"$chains" thread 500000
	check "$hwpmc" report -i k.log --format folded -o k.folded
	check_equal "$(folded '^chains;[^;]*clone[^;]*;start_thread;known_thread;known_leaf$')" \
		"$(folded ';known_leaf$')" "samples with the chain ($(head -n 1 k.folded))"
}

# Programs as Debian ships them: each address of a chain is code, and each chain goes to the
# entry of the program, or of the loader, or of a thread, or says why not.
addresses_of_chains_of_installed_programs_are_code() {
	awk 'BEGIN { for (x = 1; n++ < 15000; x = x * 16807 % 2147483647) print x }' >lines
	cat >chains.py <<-'E'
		import json, os, sys
		chains = outside = early = 0
		for line in open("s.json"):
		    sample = json.loads(line)
		    frames = [f for f in sample["frames"] if not f["kernel"]]
		    marks = [f for f in frames if f["pc"].startswith("0xffffffffffffff")]
		    code = [f for f in frames if f not in marks]
		    if not code:
		        continue
		    chains += 1
		    outside += sum(f["image"] == "[unknown]" for f in code)
		    last = os.path.basename(code[-1]["image"])
		    if not marks and not last.startswith((sys.argv[1], "ld-linux")) and \
		            "clone" not in code[-1].get("symbol", ""):
		        early += 1
		        print(code[-1])
		print(chains, "chains,", outside, "addresses outside code,", early, "early")
		sys.exit(chains < 200 or outside > 0 or early > 0)
	E
	for run in "sort lines" "python3 -c print(sum(i*i%7for(i)in(range(30000))))" \
			"xz -2 -k -c lines"; do
		# shellcheck disable=SC2086
		"$hwpmc" record -g $cache -e instructions:u -c 100003 -o s.log -- $run >out 2>said ||
			fail "$(cat said)"
		"$hwpmc" dump --kallsyms /dev/null -i s.log --type sample --json -o s.json
		python3 chains.py "${run%% *}" >said || fail "${run%% *}: $(tail -n 1 said)"
	done
}

# As a build does it: the same inode, another build-id.
a_program_that_is_written_anew_into_its_file_has_a_table_of_its_own() {
	cp "$deep" anew
	python3 -c 'import sys
data = open("anew", "rb").read()
at = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
print(data[at:at + 20].hex())
for name, build_id in ("other", b"\1" * 20), ("third", b"\2" * 20):
    open(name, "wb").write(data[:at] + build_id + data[at + 20:])' >id || fail "no build-id"
	chmod +x third
	# A table comes late, when the ring of a CPU is half full: programs run until theirs is
	# kept. It is given to the module before the next one's turn.
	# shellcheck disable=SC2016
	"$hwpmc" record -g -q $cache --ring-size 64 -e instructions:u -c 100003 -o w.log -- sh -c '
		until_kept() { until [ -e "cache/$2" ]; do "$1" 40 300000; done; }
		id() { printf "$1%.0s" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; }
		until_kept ./anew "$1"
		./anew 40 300000
		cat other >anew
		until_kept ./anew "$(id 01)"
		until_kept ./third "$(id 02)"
		./anew 40 5000000' - "$(cat id)" >out 2>said || fail "$(cat said)"
	"$pmcstat" -R w.log | grep '^callchain' | tail -n 100 |
		awk '{ n[NF - 6]++ } END { for (i in n) print i, n[i] }' >depths
	check awk '$1 == 46 { full = $2 } END { exit !(full >= 80) }' depths
}

# The program runs before the recording, and its table comes when its mapping is seen. The
# emulator takes seconds for the C library's and the shell's: those are kept.
chains_of_all_cpus_are_by_tables() {
	check "$hwpmc" record -g $cache -q -e instructions:u -o c.log -- \
		sh -c :
	check "$hwpmc" record -g $cache -q -e instructions:u -o c.log -- "$deep" 1 1
	"$VM_TOP/tests/harness/slowly" "$deep" 40 2000000000 >/dev/null &
	pid=$!
	release
	"$hwpmc" record -g $cache -e instructions:u -c 200003 -a -d 3 -o a.log 2>said || fail "$(cat said)"
	kill $pid
	check "$hwpmc" report --kallsyms /dev/null -i a.log --format folded -o k.folded
	all=$(folded '^deep;.*;leaf$')
	[ "$all" -ge 20 ] || fail "$all samples of the program ($(cat said))"
	[ "$(folded '^deep;_start;[^;]*;[^;]*;main;(down;){41}leaf$')" -ge $((all / 2)) ] ||
		fail "of $all: $(sort -k 2 k.folded | tail -n 2)"
}

# The file that is mapped, whatever has its name now.
a_program_that_was_replaced_while_it_runs_has_the_tables_of_its_file() {
	release
	cp "$deep" gone
	"$VM_TOP/tests/harness/slowly" ./gone 40 2000000000 >/dev/null &
	pid=$!
	until [ "$(readlink /proc/$pid/exe)" = "$PWD/gone" ]; do sleep 0.05; done
	rm gone
	cp /bin/true gone
	"$hwpmc" record -g -q -e instructions:u -c 100003 -p $pid -d 1 -o g.log >said 2>&1
	kill $pid
	frames g.log >depths
	check awk '{ n += $2; if ($1 == 46) full = $2 } END { exit !(full >= 20 && full >= n * 0.9) }' \
		depths
}

# Six times a sort whose comparison sorts: as many calls of the interpreter on its own stack.
chains_of_the_stock_perl_have_each_call_of_its_interpreter() {
	"$hwpmc" record -g -q -e instructions:u -c 100003 -o k.log -- perl -e '
		sub f { my $n = shift; if ($n) { my @l = sort { f($n - 1); 0 } 1, 2; return }
			my $x = 0; $x += $_ for 1 .. 60000; }
		f(6)' >said 2>&1 || fail "$(cat said)"
	check "$hwpmc" report -i k.log --format folded -o k.folded
	all=$(folded ';Perl_pp_sort(@[^;]*)?;')
	[ "$all" -ge 50 ] || fail "$all samples in a sort: $(tail -n 1 k.folded)"
	is=$(folded '^perl;_start;.*;main;perl_run;([^;]+;)*Perl_runops_standard;(Perl_pp_sort;([^;]+;)*Perl_runops_standard(;|$)){6}')
	[ "$is" -ge $((all * 9 / 10)) ] || fail "$is of $all: $(tail -n 1 k.folded)"
}

tables_are_kept_in_a_directory_that_is_this_users_alone() {
	for i in 1 2; do
		"$hwpmc" record -g --unwind-cache=kept -q -e instructions:u -c 20000 -o c.log -- \
			"$deep" 40 1000000 >said 2>&1 || fail "$(cat said)"
		frames c.log >depths
		check_equal "$(sort -k 2 -n depths | tail -n 1 | cut -d ' ' -f 1)" 46 "run $i: frames"
		cksum kept/* >sums.$i
	done
	# deep, the C library, the loader.
	[ "$(wc -l <sums.1)" -ge 3 ] || fail "$(cat sums.1)"
	check cmp sums.1 sums.2
	chmod 0777 kept
	"$hwpmc" record -g --unwind-cache=kept -q -o c.log -- true 2>said
	check_equal $? 125 "status"
	check_equal "$(cat said)" "hwpmc record: cannot keep unwind tables in 'kept': it belongs to another user, or other users can write to it; name another directory" \
		"what is said"
}

harness_run
