#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# e2e_user - from counter overflow to the report: three functions of 60, 30 and 10
# percent, wherever a program can have its code, flat and by call chain.
. "$VM_TOP/tests/vm/lib/e2e.sh"

user="-e instructions:u"
# Programs whose tables come late: these have frame pointers.
late=--call-graph=fp
progs=$VM_TOP/build/vm/progs
# For profile(), which sets all.
export report= all=

shares_are_right_in_a_static_program() {
	profile $user -- "$progs/hot3"
	three ',hot3,hot3' _start hot
	most "$(flat ',hot3,hot3,hot_')" "the three functions"
	call_tree
	near "$(tree hot_sixty)" "$(tree _start)" 60 "hot_sixty below _start"
}

shares_are_right_in_a_position_independent_program() {
	profile $user -- "$progs/hot" -n 3000
	three ',hot,hot' run_own\;work hot
	most "$(flat ',hot,hot,hot_')" "the three functions"
	call_tree
	near "$(tree hot_thirty)" "$(tree work)" 30 "hot_thirty below work"
}

shares_are_right_in_a_shared_library() {
	profile $user -- "$progs/hot-lib" -l 3000
	three ',hot-lib,libhot\.so' run_linked\;work lib
	most "$(flat ',libhot\.so,lib_')" "the three functions"
}

# Until the tool has read the library, which it sees when it is mapped, chains by tables end.
shares_are_right_in_a_library_opened_late() {
	profile $user $late -- "$progs/hot" -d 3000
	three ',hot,libhot-late\.so' run_opened\;work lib
	most "$(flat ',libhot-late\.so,lib_')" "the three functions"
}

shares_are_right_in_a_stripped_program_by_its_debug_file() {
	profile $user -- "$progs/hot-stripped" -n 3000
	check_equal "$(flat 'hot_(sixty|thirty|ten)$')" 0 "names without the file"
	# Their bounds are in .eh_frame.
	most "$(flat ',hot-stripped,hot-stripped\+0x[0-9a-f]*$')" "made-up names"
	for by in id name; do
		report="--debug /nonesuch:$progs/debug/$by"
		profile $user -- "$progs/hot-stripped" -n 3000
		three ',hot-stripped,hot-stripped' run_own\;work hot
		most "$(flat ',hot-stripped,hot_')" "the three functions"
	done
}

shares_are_right_in_generated_code_with_a_perf_map() {
	profile $user -- "$progs/hot" -j 3000
	three ',hot,//anon' run_generated\;work jit
	most "$(flat ',//anon,jit_')" "the three functions"
	report="--perf-map /nonesuch"
	profile $user -- "$progs/hot" -j 3000
	most "$(flat ',//anon,\[unknown\]$')" "the unknown"
}

shares_are_right_in_a_parent_and_its_forked_child() {
	profile $user -- "$progs/hot" -n 1000 -f 2000
	three ',hot,hot' work hot
	near "$(stacks ';run_child;work;')" "$(stacks ';work;hot_')" 66.667 "the child"
	most "$(flat ',hot,hot,hot_')" "the three functions"
	pids=$(awk -F, '$8 == "hot_sixty" { print $4, $5 }' flat.csv | wc -l)
	check_equal "$pids" 2 "processes with hot_sixty"
}

each_program_of_a_chain_of_execs_has_its_own_samples() {
	profile $user $late -- "$progs/hot" -n 2400 "$progs/hot-lib" -l 1200 \
		"$progs/hot" -x -d 400
	three ',hot,hot' run_own\;work hot
	three ',hot-lib,libhot\.so' run_linked\;work lib
	three ',hot-renamed,libhot-late\.so' run_opened\;work lib
	sum=$(flat '(hot|lib)_(sixty|thirty|ten)$')
	near "$(flat ',hot,hot,hot_')" "$sum" 60 "the first program"
	near "$(flat ',hot-lib,libhot\.so,lib_')" "$sum" 30 "the second program"
	near "$(flat ',hot-renamed,libhot-late\.so,lib_')" "$sum" 10 "the third program"
	check_equal "$(cut -d, -f4 flat.csv | sort -u | wc -l)" 1 "processes"
}

each_of_four_threads_has_its_own_samples() {
	profile $user -- "$progs/hot" -t 1000
	three ',hot,hot' thread\;work hot
	sum=$(flat 'hot,hot,hot_')
	most "$sum" "the three functions"
	tids=$(awk -F, '$8 == "hot_sixty" { print $5 }' flat.csv)
	check_equal "$(echo "$tids" | wc -l)" 4 "threads with hot_sixty"
	for tid in $tids; do
		own=$(flat "^[0-9]*,$tid,hot,hot,hot_")
		near "$own" "$sum" 25 "thread $tid"
		near "$(flat ",$tid,hot,hot,hot_sixty$")" "$own" 60 "hot_sixty in $tid"
		near "$(flat ",$tid,hot,hot,hot_ten$")" "$own" 10 "hot_ten in $tid"
	done
}

# What it has mapped was mapped before anybody looked.
shares_are_right_in_a_process_that_runs_already() {
	"$progs/hot-lib" -l 600000 &
	profile $user -c 20011 -p $!
	three ',hot-lib,libhot\.so' run_linked\;work lib
	most "$(flat ',hot-lib,libhot\.so,lib_')" "the three functions"
	[ "$all" -gt 2000 ] || fail "only $all samples: it was over too soon"
}

harness_run
