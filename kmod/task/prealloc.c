// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * prealloc.c - targets and threads for the probes of fork on real-time kernels: there
 * the allocator may sleep for a lock whatever it is asked for, and up to 6.12 probes
 * run with preemption off. So what they take was allocated before: by who registers
 * them, and by a work item that fills up what is half empty. Where it is empty all
 * the same the loss is declared, as for lack of memory elsewhere. Other kernels
 * have none of it.
 */
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "prealloc.h"

/* Forks until the work item has run: it is an ordinary thread. */
#define SPARES	512

struct spare {
	struct spare *next;
};

struct hwpmc_prealloc hwpmc_prealloc_targets, hwpmc_prealloc_threads;

static DEFINE_RAW_SPINLOCK(spares_lock);

static void prealloc_put(struct hwpmc_prealloc *spares, struct spare *spare)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&spares_lock, flags);
	spare->next = spares->first;
	spares->first = spare;
	spares->n++;
	raw_spin_unlock_irqrestore(&spares_lock, flags);
}

static struct spare *prealloc_take(struct hwpmc_prealloc *spares)
{
	struct spare *spare;
	unsigned long flags;

	raw_spin_lock_irqsave(&spares_lock, flags);
	spare = spares->first;
	if (spare) {
		spares->first = spare->next;
		spares->n--;
	}
	raw_spin_unlock_irqrestore(&spares_lock, flags);
	if (spare)
		spare->next = NULL;
	return spare;
}

static void prealloc_fill(struct hwpmc_prealloc *spares)
{
	while (READ_ONCE(spares->n) < SPARES) {
		struct spare *spare = kmem_cache_zalloc(spares->cache,
							GFP_KERNEL);

		if (!spare)
			return;
		prealloc_put(spares, spare);
	}
}

static void fill_all(struct work_struct *unused)
{
	prealloc_fill(&hwpmc_prealloc_targets);
	prealloc_fill(&hwpmc_prealloc_threads);
}

static DECLARE_WORK(filler, fill_all);

void hwpmc_prealloc_fill(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		fill_all(NULL);
}

static void prealloc_drop(struct hwpmc_prealloc *spares)
{
	struct spare *spare;

	while ((spare = prealloc_take(spares)))
		kmem_cache_free(spares->cache, spare);
}

void hwpmc_prealloc_drop(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	cancel_work_sync(&filler);
	prealloc_drop(&hwpmc_prealloc_targets);
	prealloc_drop(&hwpmc_prealloc_threads);
}

/* NULL: none left. Any context but NMI. */
static void *prealloc_take_any(struct hwpmc_prealloc *spares)
{
	struct spare *spare = prealloc_take(spares);

	if (READ_ONCE(spares->n) < SPARES / 2)
		schedule_work(&filler);
	return spare;
}

void *hwpmc_prealloc_or_new(struct hwpmc_prealloc *cache, gfp_t gfp)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !gfpflags_allow_blocking(gfp))
		return prealloc_take_any(cache);
	return kmem_cache_zalloc(cache->cache, gfp);
}
