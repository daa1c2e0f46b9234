// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * prealloc.c - targets and threads for the fork probe on real-time kernels. There the
 * allocator takes locks that sleep, even with GFP_ATOMIC, and up to 6.12 probes run with
 * preemption off. Therefore the objects are allocated in advance: before the probes are
 * registered, and by a work item that runs when a list is half empty. If a list is empty
 * nevertheless, the PMC is marked incomplete, as when memory is short on other kernels.
 * Other kernels allocate in the probe.
 */
#include <linux/spinlock.h>

#include "../core/work.h"
#include "prealloc.h"

/* As many forks can happen before the work item, an ordinary thread, has run. */
#define PREALLOC_OBJECTS	512

struct prealloc_object {
	struct prealloc_object *next;
};

struct hwpmc_prealloc hwpmc_prealloc_targets, hwpmc_prealloc_threads;

/* Protects the lists of all pools. A leaf lock. */
static DEFINE_RAW_SPINLOCK(prealloc_lock);

static void pool_put(struct hwpmc_prealloc *pool, struct prealloc_object *object)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&prealloc_lock, flags);
	object->next = pool->first;
	pool->first = object;
	pool->n++;
	raw_spin_unlock_irqrestore(&prealloc_lock, flags);
}

static struct prealloc_object *pool_take(struct hwpmc_prealloc *pool)
{
	struct prealloc_object *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&prealloc_lock, flags);
	object = pool->first;
	if (object) {
		pool->first = object->next;
		pool->n--;
	}
	raw_spin_unlock_irqrestore(&prealloc_lock, flags);
	if (object)
		object->next = NULL;
	return object;
}

static void prealloc_fill(struct hwpmc_prealloc *pool)
{
	while (READ_ONCE(pool->n) < PREALLOC_OBJECTS) {
		struct prealloc_object *object = kmem_cache_zalloc(pool->cache,
								    GFP_KERNEL);

		if (!object)
			return;
		pool_put(pool, object);
	}
}

static void prealloc_fill_all(struct work_struct *unused)
{
	prealloc_fill(&hwpmc_prealloc_targets);
	prealloc_fill(&hwpmc_prealloc_threads);
}

static DECLARE_WORK(fill_work, prealloc_fill_all);

void hwpmc_prealloc_fill(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		prealloc_fill_all(NULL);
}

static void prealloc_drop(struct hwpmc_prealloc *pool)
{
	struct prealloc_object *object;

	while ((object = pool_take(pool)))
		kmem_cache_free(pool->cache, object);
}

void hwpmc_prealloc_drop(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	cancel_work_sync(&fill_work);
	prealloc_drop(&hwpmc_prealloc_targets);
	prealloc_drop(&hwpmc_prealloc_threads);
}

/* NULL: none left. Any context but NMI. */
static void *prealloc_take(struct hwpmc_prealloc *pool)
{
	struct prealloc_object *object = pool_take(pool);

	if (READ_ONCE(pool->n) < PREALLOC_OBJECTS / 2)
		hwpmc_work(&fill_work);
	return object;
}

void *hwpmc_prealloc_or_new(struct hwpmc_prealloc *pool, gfp_t gfp)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !gfpflags_allow_blocking(gfp))
		return prealloc_take(pool);
	return kmem_cache_zalloc(pool->cache, gfp);
}
