#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# tools_perfdata - recordings of Debian's perf, read by perf and by hwpmc: each sample is the same,
# and so are the sums. The module is not loaded.
. "$VM_TOP/tests/harness/harness.sh"
export LD_LIBRARY_PATH="$VM_TOP/build/lib" DEBUGINFOD_URLS=
hwpmc=$VM_TOP/build/tools/hwpmc
program=$VM_TOP/build/vm/progs/perfdata
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
echo 0 >/proc/sys/kernel/kptr_restrict

# record OPTION...: a recording of the program in the file data
record() {
	perf record -q -o data "$@" -- "$program" 1000000 >out 2>err || fail "perf: $(cat err)"
}

# A line a sample: name, thread, time, period, event, and of each address of the chain the part
# within its page: perf prints addresses of programs as they are in their files.
perf_samples() {
	perf script --ns -i data -F comm,pid,tid,time,event,period,ip >script 2>err ||
		fail "perf script: $(cat err)"
	awk '
	function put() { if (head != "") print head (chain == "" ? " none" : chain) }
	function page(ip) { return " " substr("000" ip, length(ip) + 1) }
	NF >= 5 {
		put()
		sub(/:$/, "", $3)
		sub(/:$/, "", $5)
		if ($1 == "swapper")
			$1 = "[idle]"
		head = $1 " " $2 " " $3 " " $4 " " $5
		chain = NF > 5 ? page($6) : ""
		next
	}
	NF { chain = chain page($1) }
	END { put() }' script
}

hwpmc_samples() {
	"$hwpmc" dump --json --no-symbols --type sample -i "$1" >dumped 2>err ||
		fail "hwpmc dump: $(cat err)"
	awk '
	function value(key, quoted) {
		if (!match($0, "\"" key "\":" (quoted ? "\"[^\"]*" : "[-0-9]*")))
			return ""
		skip = length(key) + 3 + quoted
		return substr($0, RSTART + skip, RLENGTH - skip)
	}
	/"type":"CALLCHAIN"/ {
		head = value("comm", 1) " " value("pid", 0) "/" value("tid", 0) " "
		time = value("time", 0)
		head = head substr(time, 1, length(time) - 9) "." substr(time, length(time) - 8)
		head = head " " value("period", 0) " " value("event", 1)
		chain = ""
		rest = $0
		while (match(rest, /"pc":"0x[0-9a-f]*/)) {
			ip = substr(rest, RSTART + 8, RLENGTH - 8)
			chain = chain " " substr("000" ip, length(ip) + 1)
			rest = substr(rest, RSTART + RLENGTH)
		}
		print head chain
	}' dumped
}

# perf prints no chain where words on a stack look like marks; such a sample
# is compared without it.
same_samples() {
	# Threads that have ended have no number, and perf no name of them.
	perf_samples | grep -v '/-1 ' | sort >of-perf
	hwpmc_samples data | grep -v '/-1 ' | sort >of-hwpmc
	[ "$(wc -l <of-perf)" -gt 20 ] || fail "few samples: $(wc -l <of-perf)"
	sed -n 's/ none$//p' of-perf >broken
	if [ -s broken ]; then
		grep -vFf broken of-perf >kept && mv kept of-perf
		grep -vFf broken of-hwpmc >kept && mv kept of-hwpmc
	fi
	cmp -s of-perf of-hwpmc || fail "$(diff of-perf of-hwpmc | head -n 6)"
}

# Sums of the functions of the program, which have names that no other function has.
same_sums() {
	perf report -i data --no-children --stdio -g none -s dso,sym -F period,dso,sym -t '|' 2>/dev/null |
		sed -n 's/^ *\([0-9]*\) *|perfdata *|\[\.\] *\([a-z_]*\) *$/\2 \1/p' | sort >sums-perf
	"$hwpmc" report --csv -i data 2>err |
		sed -n 's/^[^,]*,\([0-9]*\),[^,]*,perfdata,\([a-z_]*\)$/\2 \1/p' | sort >sums-hwpmc
	[ -s sums-perf ] || fail "no sums of perf"
	cmp -s sums-perf sums-hwpmc || fail "$(diff sums-perf sums-hwpmc | head -n 6)"
}

# Shares with callers, to a hundredth of a percent.
same_callers() {
	perf report -i data --children --stdio -g none -s dso,sym -F overhead_children,dso,sym \
		-t '|' 2>/dev/null |
		sed -n 's/^ *\([0-9.]*\)% *|perfdata *|\[\.\] *\([a-z_]*\) *$/\2 \1/p' | sort >callers-perf
	"$hwpmc" report --children --csv -i data 2>err |
		sed -n 's/^[^,]*,[0-9]*,\([0-9.]*\),[0-9]*,perfdata,\([a-z_]*\)$/\2 \1/p' |
		sort >callers-hwpmc
	grep -q '^main ' callers-perf || fail "perf has no callers: $(cat callers-perf)"
	join callers-perf callers-hwpmc |
		awk '{ d = $2 - $3; if (d > 0.011 || d < -0.011) print; n++ } END { print n }' >joined
	check_equal "$(cat joined)" "$(wc -l <callers-perf)" "shares that differ, and their number"
}

perfdata_chains_by_frame_pointers_are_those_of_perf() {
	record -F 2000 -e cycles -g
	same_samples
	same_sums
	same_callers
}

perfdata_several_events_are_those_of_perf() {
	record -F 1000 -e cycles,instructions:u,page-faults,context-switches -g
	same_samples
}

perfdata_fixed_periods_are_those_of_perf() {
	record -c 100000 -e instructions:u
	same_samples
	perf report -i data --stdio --no-children -F sample,sym,dso -t '|' 2>/dev/null |
		grep spin_inner | tr -dc 0-9 >n
	"$hwpmc" report --csv -i data | sed -n 's/^[^,]*,\([0-9]*\),.*,spin_inner$/\1/p' >ours
	check_equal "$(cat ours)" "$(cat n)" "samples"
}

perfdata_of_all_cpus_is_that_of_perf() {
	record -a -F 1000 -e cycles -g
	same_samples
}

perfdata_compressed_is_that_of_perf() {
	record -z -F 2000 -e cycles -g
	perf report -i data --header-only 2>/dev/null | grep -q '^# compressed : Zstd' ||
		fail "not compressed"
	same_samples
}

perfdata_of_a_pipe_is_that_of_perf() {
	perf record -q -F 2000 -e cycles -g -o - -- "$program" 1000000 2>err >data ||
		fail "perf: $(cat err)"
	same_samples
	"$hwpmc" report --csv - <data >by-pipe 2>err || fail "from a pipe: $(cat err)"
	"$hwpmc" report --csv data >by-name 2>err
	cmp -s by-pipe by-name || fail "$(diff by-pipe by-name | head -n 4)"
}

perfdata_with_all_fields_is_that_of_perf() {
	record -F 1000 -e cycles -g -d -W --phys-data --data-page-size --code-page-size --all-cgroups \
		--sample-cpu --sample-identifier
	same_samples
}

perfdata_with_build_ids_of_the_kernel_is_that_of_perf() {
	record -F 1000 -e cycles -g --buildid-mmap
	same_samples
	same_sums
}

perfdata_with_user_stacks_names_what_is_left_out() {
	record -F 1000 -e cycles:u --call-graph dwarf,1024
	same_sums
	"$hwpmc" report data >report 2>err || fail "$(cat err)"
	grep -q '^# not taken from the file of perf record: user stacks' report ||
		fail "no note: $(head -n 6 report)"
}

perfdata_of_tracepoints_is_that_of_perf() {
	record -e sched:sched_switch -a -g
	same_samples
	"$hwpmc" report data >report 2>err || fail "$(cat err)"
	grep -q '^# not taken.*fields of tracepoints' report || fail "no note: $(head -n 6 report)"
}

perfdata_names_functions_of_the_kernel_as_perf() {
	record -F 2000 -e cycles:k -g
	perf report -i data --stdio --no-children -g none -s dso,sym -F period,dso,sym -t '|' \
		2>/dev/null | sed -n 's/^ *\([0-9]*\) *|\[kernel.*|\[k\] *\([^ ]*\) *$/\2 \1/p' |
		sort >kernel-perf
	"$hwpmc" report --csv -i data |
		sed -n 's/^[^,]*,\([0-9]*\),[^,]*,\[kernel\],\(.*\)$/\2 \1/p' | sort >kernel-hwpmc
	# Of several names of an address either takes another.
	join kernel-perf kernel-hwpmc | awk '$2 == $3' | wc -l >n
	[ "$(cat n)" -gt $(($(wc -l <kernel-perf) * 8 / 10)) ] ||
		fail "$(cat n) of $(wc -l <kernel-perf) functions: $(diff kernel-perf kernel-hwpmc | head -n 6)"
}

perfdata_becomes_a_log_by_filter() {
	record -F 1000 -e cycles -g
	check "$hwpmc" filter -i data -p "$(perf script -i data -F pid | sort | uniq -c | sort -rn |
		awk 'NR == 1 { print $2 }')" -o log
	"$hwpmc" report --csv log >of-log 2>err || fail "$(cat err)"
	grep -q spin_inner of-log || fail "no function: $(head -n 3 of-log)"
}

perfdata_damaged_by_chance_ends_no_reader() {
	record -F 1000 -e cycles,page-faults -g
	size=$(wc -c <data)
	for n in $(seq 40); do
		cp data bad
		printf '\377' | dd of=bad bs=1 seek=$((n * 7919 * 13 % size)) conv=notrunc 2>/dev/null
		"$hwpmc" report bad >report 2>err
		[ $? -le 1 ] || fail "byte $((n * 7919 * 13 % size)): $(tail -n 1 err)"
	done
}

harness_run
