/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* spare.h - see spare.c. */
#ifndef HWPMC_VIRT_SPARE_H
#define HWPMC_VIRT_SPARE_H

#include <linux/gfp.h>
#include <linux/slab.h>

/* Zeroed objects of one cache, allocated before they are needed. */
struct hwpmc_prealloc {
	struct kmem_cache *cache;
	struct spare *first;		/* spare.c: its lock */
	unsigned int n;			/* of them; written under the lock */
};

extern struct hwpmc_prealloc hwpmc_prealloc_targets, hwpmc_prealloc_threads;

/* Sleeps. Before the probes that take are registered. */
void hwpmc_prealloc_fill(void);
/* Sleeps. When the probes are no longer registered; once more when none runs. */
void hwpmc_prealloc_drop(void);
/* NULL: none left. Any context but NMI. */
void *hwpmc_prealloc_take(struct hwpmc_prealloc *spares);

/* A zeroed object; gfp without leave to sleep may come from a probe. */
static inline void *hwpmc_prealloc_or_new(struct hwpmc_prealloc *spares, gfp_t gfp)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !gfpflags_allow_blocking(gfp))
		return hwpmc_prealloc_take(spares);
	return kmem_cache_zalloc(spares->cache, gfp);
}

#endif /* HWPMC_VIRT_SPARE_H */
