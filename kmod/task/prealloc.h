/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* prealloc.h - targets and threads for probes that may not allocate: prealloc.c. */
#ifndef HWPMC_PREALLOC_H
#define HWPMC_PREALLOC_H

#include <linux/gfp.h>
#include <linux/slab.h>

/* Zeroed objects of one cache, allocated before they are needed. */
struct hwpmc_prealloc {
	struct kmem_cache *cache;
	struct spare *first;		/* prealloc.c: its lock */
	unsigned int n;			/* of them; written under the lock */
};

extern struct hwpmc_prealloc hwpmc_prealloc_targets, hwpmc_prealloc_threads;

/* Sleeps. Before the probes that take are registered. */
void hwpmc_prealloc_fill(void);
/* Sleeps. When the probes are no longer registered; once more when none runs. */
void hwpmc_prealloc_drop(void);
/* A zeroed object; gfp without leave to sleep may come from a probe. */
void *hwpmc_prealloc_or_new(struct hwpmc_prealloc *cache, gfp_t gfp);

#endif /* HWPMC_PREALLOC_H */
