/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* prealloc.h - targets and threads for probes that may not allocate: prealloc.c. */
#ifndef HWPMC_PREALLOC_H
#define HWPMC_PREALLOC_H

#include <linux/gfp.h>
#include <linux/slab.h>

/* Zeroed objects of one slab cache. .first and .n are protected by prealloc_lock
 * (prealloc.c); .n is also read without it. */
struct hwpmc_prealloc {
	struct kmem_cache *cache;
	struct prealloc_object *first;
	unsigned int n;			/* objects in the list */
};

extern struct hwpmc_prealloc hwpmc_prealloc_targets, hwpmc_prealloc_threads;

/* Before the probes that take objects are registered. Sleeps. */
void hwpmc_prealloc_fill(void);
/* After the probes are unregistered, and again after the last one has ended. Sleeps. */
void hwpmc_prealloc_drop(void);
/* A zeroed object, or NULL. A caller whose gfp does not allow to sleep may be a probe. */
void *hwpmc_prealloc_or_new(struct hwpmc_prealloc *pool, gfp_t gfp);

#endif /* HWPMC_PREALLOC_H */
