/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * batch.h - reads, starts or stops many PMCs of an owner: those of one CPU at one
 * moment, in the order of their rows, and all CPUs at once. Process context, interrupts
 * on.
 */
#ifndef HWPMC_BATCH_H
#define HWPMC_BATCH_H

#include <linux/atomic.h>
#include <linux/cpumask.h>

#include "../core/pmc.h"

/* One PMC of a batch, and its result. */
struct hwpmc_batch_item {
	struct hwpmc_pmc *pmc;
	u64 value;
	struct hwpmc_hdr hdr;
	int ret;			/* 0 or -errno; the reason is in .hdr */
	u32 entry;			/* the caller's */
	bool pending;			/* its CPU, or the targets, have to act */
};

struct hwpmc_batch {
	struct hwpmc_batch_item *item;	/* in the order of CPU and row; each PMC once */
	unsigned int n;
	unsigned int nsystem;		/* the first ones are system scope */
	cpumask_var_t cpus;		/* that are asked */
	void (*act_irqoff)(void *pmc);	/* system scope: on the PMC's CPU, */
	void (*before_irqoff)(void *pmc);	/* after this one of all; NULL: none */
	atomic_t left;			/* CPUs that have not answered */
};

/* Under rcu_read_lock or hwpmc_lock. Sampling PMCs have no value: the caller refuses
 * them. */
void hwpmc_batch_read(struct hwpmc_batch *b);
/* hwpmc_lock. */
void hwpmc_batch_start(struct hwpmc_batch *b);
void hwpmc_batch_stop(struct hwpmc_batch *b);

#endif /* HWPMC_BATCH_H */
