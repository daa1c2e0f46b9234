/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pmc.h - one allocated performance counter.
 *
 * Made by PMCALLOCATE, ends by PMCRELEASE or with its owner; freed by RCU once
 * no CPU runs it, so that a reader may look at it under rcu_read_lock().
 */
#ifndef HWPMC_PMC_H
#define HWPMC_PMC_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "class.h"
#include "refuse.h"
#include "row.h"

struct hwpmc_cpu;
struct hwpmc_owner;

struct hwpmc_pmc {
	/*
	 * Events so far, without those of slices in flight. 64 bits whatever the
	 * hardware has. Added to by any CPU in the switch path.
	 */
	atomic64_t total;
	struct hwpmc_select select;	/* never changes */
	unsigned int row;		/* never changes, as all up to owner */
	u32 id;
	u32 mode;
	u32 cpu;			/* system scope; else HWPMC_CPU_ANY */
	u32 caps, flags, ev;
	u64 config, config1;
	bool slow_path;			/* logs, samples, is counts_off_cpu or told: the
					 * switch path has more to do than to
					 * add up */
	bool counts_off_cpu;			/* see struct hwpmc_encoding */
	bool privileged;		/* who allocated it could see the kernel: as
					 * with perf, that is when it is decided */
	bool carry_overshoot;		/* none of what it samples is our own doing */
	bool user_mapped;			/* its slices are told in threads' pages */
	struct mm_struct *rdpmc_mm;	/* that may read it by RDPMC, or NULL;
					 * hwpmc_lock */
	struct hwpmc_owner *owner;
	struct list_head owner_node;	/* in owner->pmcs; hwpmc_lock, RCU */
	struct list_head row_node;	/* in its row's pmcs; hwpmc_lock */

	u64 reset_value;		/* in-kernel: what processes' values begin
					 * with; never changes */
	u64 period;			/* of sampling; changes while stopped only */
	enum hwpmc_state state;		/* hwpmc_lock; read anywhere */
	bool was_attached;		/* ever; hwpmc_lock */
	u32 attaches;			/* so many, the last one's number; hwpmc_lock */
	bool owner_attached;		/* PMCSTART did it; hwpmc_lock */
	bool incomplete;		/* a thread could not be followed; set once */
	bool doomed;			/* its owner executed a program; set once */

	/* Process scope: links to targets, and how many threads those have.
	 * hwpmc_targets_lock. */
	struct list_head links;
	unsigned int nthreads;
	bool counting;			/* a link that is made now counts */

	/* System scope: this CPU's list of started PMCs, its counter when last
	 * harvested, and whether it counts (not while the CPU is offline).
	 * Touched on pmc->cpu with interrupts off. */
	struct list_head sys_node;
	u64 start;
	u64 period_left;			/* sampling: to the next one */
	bool in_flight;

	struct rcu_head rcu;
};

static inline bool hwpmc_pmc_is_system(const struct hwpmc_pmc *pmc)
{
	return hwpmc_mode_is_system(pmc->mode);
}

static inline bool hwpmc_pmc_samples(const struct hwpmc_pmc *pmc)
{
	return hwpmc_mode_is_sampling(pmc->mode);
}

/* Can it be started without a log? */
static inline bool hwpmc_pmc_needs_log(const struct hwpmc_pmc *pmc)
{
	return (hwpmc_pmc_samples(pmc) && !(pmc->flags & HWPMC_F_KGMON)) ||
	       pmc->flags & (HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT);
}

/* 0, or -EIO PMU_REFUSED: nobody vouches for what it has counted or sampled. Any
 * context. */
int hwpmc_pmc_msr_fault(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);

/* System scope: the total of one that counts on this CPU, up to now. */
void hwpmc_pmc_harvest_irqoff(struct hwpmc_pmc *pmc);

#endif /* HWPMC_PMC_H */
