/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clocks.c - APERF / MPERF are the cycles and reference cycles of a busy CPU, and the TSC
 * has the frequency of the kernel's clock.
 */
#include <string.h>

#include "long.h"
#include "selftest/judge.h"

enum { APERF, MPERF, CYCLES, REF_CYCLES, EVENTS };

static bool allocate(struct selftest *t, struct st_pmcs *p, int cpu)
{
	static const char *const spec[EVENTS] = { "perf_aperf", "perf_mperf", "cycles:uk",
						  "ref-cycles:uk" };

	for (int i = 0; i < EVENTS; i++)
		if (!long_add(t, p, spec[i], cpu, 0)) {
			st_not_tried(t, "clocks", "%s: %s", spec[i], hwpmc_error(t->h));
			return false;
		}
	return st_batch(t, p, "clocks", HWPMC_BATCH_START);
}

static void judge(struct selftest *t, const uint64_t *count)
{
	double perf, cycles;

	if (!count[MPERF] || !count[REF_CYCLES]) {
		st_failed(t, "clocks", "MPERF counts %llu, reference cycles are %llu",
			  (unsigned long long)count[MPERF],
			  (unsigned long long)count[REF_CYCLES]);
		return;
	}
	perf = (double)count[APERF] / count[MPERF];
	cycles = (double)count[CYCLES] / count[REF_CYCLES];
	long_number(t, perf, "aperf_by_mperf");
	long_number(t, cycles, "cycles_by_ref_cycles");
	if (t->hypervisor)
		st_measured(t, "clocks", "APERF / MPERF is %.4f, cycles / reference cycles %.4f, under a hypervisor",
			    perf, cycles);
	else if (judge_clocks(perf, cycles))
		st_held(t, "clocks", "APERF / MPERF is %.4f, cycles / reference cycles %.4f",
			perf, cycles);
	else
		st_failed(t, "clocks", "APERF / MPERF is %.4f, but cycles / reference cycles %.4f",
			  perf, cycles);
}

void long_clocks(struct selftest *t)
{
	struct st_pmcs p = { .n = 0 };
	uint64_t count[EVENTS], ticks, ns;
	int cpu = 0;

	if (st_cpus(&cpu, 1) == 1)
		st_pin(cpu);
	ticks = st_ticks();
	ns = st_ns();
	if (allocate(t, &p, cpu) && st_batch(t, &p, "clocks", HWPMC_BATCH_READ)) {
		for (int i = 0; i < EVENTS; i++)
			count[i] = p.entry[i].value;
		do {
			st_loop(1000000);
		} while (long_more(t));
		if (st_batch(t, &p, "clocks", HWPMC_BATCH_READ)) {
			for (int i = 0; i < EVENTS; i++)
				count[i] = p.entry[i].value - count[i];
			judge(t, count);
		}
	}
	st_release(t, &p);
	ns = st_ns() - ns;
	if (ns > 10000000)
		long_number(t, (st_ticks() - ticks) * 1e3 / ns, "tsc_mhz");
}
