/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * stats.h - what the driver counts about itself (GETDRIVERSTATS).
 * Per CPU, so that any context may count without a lock.
 */
#ifndef HWPMC_STATS_H
#define HWPMC_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "hwpmc_log.h"	/* uapi */

struct hwpmc_stats {
	u64 intr_ignored;	/* NMIs of other sources while rows were sampling */
	u64 intr_processed;	/* overflows dealt with */
	u64 restored;		/* NMIs whose other handlers had switched counters off */
	u64 intr_bufferfull;	/* of these: no room for the sample */
	u64 buffer_requests;	/* other records that asked a ring for room */
	u64 buffer_requests_failed;	/* of these: there was none */
	u64 log_sweeps;		/* rounds of the drain threads */
	u64 syscalls;
	u64 syscall_errors;
	u64 threads_missed;	/* no memory for a new thread's descriptor */
	u64 switch_programmed;	/* selects written at switch-in */
	u64 chains[HWPMC_CHAIN__COUNT];	/* walked by unwind tables, by how they end */
};

DECLARE_PER_CPU(struct hwpmc_stats, hwpmc_stats);

#define hwpmc_stat_inc(field)	this_cpu_inc(hwpmc_stats.field)

/* The sums over all CPUs so far. */
void hwpmc_stats_sum(struct hwpmc_stats *sum);

#endif /* HWPMC_STATS_H */
