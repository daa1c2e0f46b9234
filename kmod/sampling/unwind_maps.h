/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * unwind_maps.h - the executable mappings of address spaces whose threads are sampled with
 * unwind tables: an array each, read in NMI. log/map_unwind.c fills and changes them.
 *
 * An array is replaced under RCU when a mapping is added, and changed in place when one is
 * removed: that needs no memory, and so leaves nothing stale. Lock: maps_lock, a raw
 * spinlock, a leaf; not for interrupts.
 */
#ifndef HWPMC_UNWIND_MAPS_H
#define HWPMC_UNWIND_MAPS_H

#include <linux/types.h>

#include "unwind_table.h"

struct mm_struct;

/* Mappings of one address space: more are not followed, chains end there. */
#define HWPMC_UNWIND_MAPS_MAX	2048u

struct hwpmc_unwind_maps {
	u64 serial;		/* a new number after each change */
	unsigned int n;
	struct rcu_head rcu;
	struct hwpmc_unwind_map map[];	/* rising; empty where removed */
};

/* PMCs that need the mappings; may be called in any order. hwpmc_lock. */
void hwpmc_unwind_maps_get(void);
void hwpmc_unwind_maps_put(void);
/* Are there any? Any context. */
bool hwpmc_unwind_maps_wanted(void);

struct hwpmc_unwind_maps *hwpmc_unwind_maps_alloc(unsigned int n, gfp_t gfp);
/* Use these for the address space from here on: takes `maps`, which were filled in rising
 * order; NULL: no memory, forget what there was. */
void hwpmc_unwind_maps_set(struct mm_struct *mm, struct hwpmc_unwind_maps *maps, gfp_t gfp);
/* The same as the parent's, for a child that has a copy of its memory. */
void hwpmc_unwind_maps_fork(struct mm_struct *parent, struct mm_struct *child);
/* One more mapping, in place of what it overlaps; nothing where the space is unknown. */
void hwpmc_unwind_maps_add(struct mm_struct *mm, const struct hwpmc_unwind_map *map,
			   gfp_t gfp);
/* Nothing executable is in [start, end) any more; files: no mapping of a file, either.
 * False: nothing was. */
bool hwpmc_unwind_maps_remove(struct mm_struct *mm, u64 start, u64 end, bool files);
/* The address space ends with its last user, the caller. */
void hwpmc_unwind_maps_exit(struct mm_struct *mm);
bool hwpmc_unwind_maps_known(struct mm_struct *mm);

/* NULL: unknown. RCU or NMI. */
const struct hwpmc_unwind_maps *hwpmc_unwind_maps_nmi(const struct mm_struct *mm);

/* A number that no change has had before. Any context. */
u64 hwpmc_unwind_serial(void);

/* At unload: forget all, and wait until they are freed. */
void hwpmc_unwind_maps_end(void);

#endif /* HWPMC_UNWIND_MAPS_H */
