// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* stats.c - the driver's statistics and their sums. */
#include <linux/cpumask.h>
#include <linux/string.h>

#include "stats.h"

DEFINE_PER_CPU(struct hwpmc_stats, hwpmc_stats);

void hwpmc_stats_sum(struct hwpmc_stats *sum)
{
	unsigned int i;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct hwpmc_stats *s = per_cpu_ptr(&hwpmc_stats, cpu);

		sum->intr_ignored += s->intr_ignored;
		sum->intr_processed += s->intr_processed;
		sum->intr_bufferfull += s->intr_bufferfull;
		sum->restored += s->restored;
		sum->buffer_requests += s->buffer_requests;
		sum->buffer_requests_failed += s->buffer_requests_failed;
		sum->log_sweeps += s->log_sweeps;
		sum->syscalls += s->syscalls;
		sum->syscall_errors += s->syscall_errors;
		sum->threads_missed += s->threads_missed;
		sum->switch_programmed += s->switch_programmed;
		for (i = 0; i < HWPMC_CHAIN__COUNT; i++)
			sum->chains[i] += s->chains[i];
	}
}
