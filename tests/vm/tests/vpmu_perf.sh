#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vpmu_perf - Debian's perf on the emulated PMU counts what is true: programs of
# known length, and real ones against the emulated PMU's own totals.
. "$VM_TOP/tests/harness/harness.sh"

progs=$VM_TOP/build/vm/progs
vtruth=$VM_TOP/build/vm/truth/vtruth

# perf_counts EVENTS command...: the counts, one a line
perf_counts() {
	perf_events=$1
	shift
	perf stat -x, -o perf.out -e "$perf_events" "$@" >cmd.out 2>&1
	sed -n 's/^\([0-9][0-9]*\),.*/\1/p' perf.out
}

# The counts of perf for a command that runs under vtruth are vtruth's.
compare() {
	perf_counts instructions:u,branches:u "$vtruth" -o truth "$@" >counts
	check "$vtruth" -r truth
	check_equal "$(tr '\n' ' ' <counts)" \
		"$("$vtruth" -r truth | sed -n 's/^instructions:u //p; s/^branches:u //p' |
		tr '\n' ' ')" "perf's counts of $1"
}

perf_counts_a_program_of_known_length_exactly() {
	check_equal "$(perf_counts instructions:u,branches:u,cycles:u \
		"$progs/loop" 1000000 | tr '\n' ' ')" \
		"3000057 1000016 3000057 " "loop 1000000"
}

perf_counts_loads_and_stores_exactly() {
	[ "$VM_MODEL" = amd ] && e=r0129:u,r0229:u || e=r81d0:u,r82d0:u
	check_equal "$(perf_counts $e "$progs/pushpop" | tr '\n' ' ')" \
		"100000 100000 " "pushpop"
}

perf_counts_gzip_as_the_emulated_pmu_does() {
	head -c 300000 /bin/bash >file
	compare gzip -c file
}

perf_counts_xz_as_the_emulated_pmu_does() {
	head -c 100000 /bin/bash >file
	compare xz -c file
}

perf_counts_a_pipeline_as_the_emulated_pmu_does() {
	compare sh -c 'for i in 1 2 3 4 5; do
		head -c 100000 /bin/bash | od | sort -r | uniq -c | tail -n 1
	done; true & true & wait'
}

perf_samples_each_period_once() {
	echo 20000000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	check perf record -q -m 256 -e cycles:u -c 1000 -o data "$progs/loop" 1000000
	perf script -i data -F period 2>/dev/null | wc -l >n
	# The first period ends a period after exec: 3000057 / 1000.
	check_equal "$(cat n)" 3000 "samples"
}

harness_run
