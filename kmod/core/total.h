/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * total.h - a PMC's 64-bit count, independent of the counter's width. A switch-out adds to
 * the part of its own CPU, so that CPUs that count for the same PMC write no cache line
 * that they share; a read adds the parts up. The rest is in .total: the initial count, and
 * what is counted outside of the fast path (doc/decisions/totals.md).
 *
 * A part only grows, and is written on its own CPU with interrupts off, by one instruction;
 * an offline CPU's stays. So a later read is never smaller than an earlier one.
 */
#ifndef HWPMC_TOTAL_H
#define HWPMC_TOTAL_H

#include <linux/atomic.h>
#include <linux/percpu.h>

#include "pmc.h"

/* Where the per-CPU data of each possible CPU are: shorter to walk than a mask of CPUs.
 * Constant after load. */
extern unsigned long *hwpmc_cpu_offset;
extern unsigned int hwpmc_ncpu_offsets;

/* What the CPUs have in the parts, without slices in flight. */
static inline u64 hwpmc_pmc_parts(const struct hwpmc_pmc *pmc)
{
	const unsigned long *at = hwpmc_cpu_offset;
	const unsigned long *end = at + pmc->nparts;
	unsigned long part = (__force unsigned long)pmc->part;
	u64 sum = 0;

	/* As READ_ONCE(), of which GCC makes two instructions more. */
	for (; at != end; at++)
		asm volatile("addq %1, %0" : "+r" (sum)
					   : "m" (*(const u64 *)(part + *at)));
	return sum;
}

/* The count, of slices in flight only what was harvested. */
static inline u64 hwpmc_pmc_total(const struct hwpmc_pmc *pmc)
{
	return hwpmc_pmc_parts(pmc) + atomic64_read(&pmc->total);
}

/* The same by the kernel's own tables alone, for tracepoints, which lie below. */
static inline u64 hwpmc_pmc_total_anywhere(const struct hwpmc_pmc *pmc)
{
	u64 sum = atomic64_read(&pmc->total);
	int cpu;

	if (pmc->nparts)
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(*per_cpu_ptr(pmc->part, cpu));
	return sum;
}

/* What hwpmc_pmc_total() returns from now on. The PMC does not run. hwpmc_lock. */
static inline void hwpmc_pmc_set_total(struct hwpmc_pmc *pmc, u64 value)
{
	atomic64_set(&pmc->total, value - hwpmc_pmc_parts(pmc));
}

/* The end of a slice, or of a part of it, on this CPU. Not of the slow path. */
static inline void hwpmc_pmc_add_irqoff(const struct hwpmc_pmc *pmc, u64 delta)
{
	this_cpu_add(*pmc->part, delta);
}

/* Parts for a new PMC whose slices take the fast path; hwpmc_pmc_set_total() comes next.
 * hwpmc_lock, GFP_KERNEL. false: no memory. */
bool hwpmc_pmc_new_parts(struct hwpmc_pmc *pmc);
/* The PMC and its parts, when no reader is left; or at once, if no reader ever saw it. */
void hwpmc_pmc_free_rcu(struct hwpmc_pmc *pmc);
void hwpmc_pmc_free(struct hwpmc_pmc *pmc);

int hwpmc_totals_init(void);
void hwpmc_totals_exit(void);

#endif /* HWPMC_TOTAL_H */
