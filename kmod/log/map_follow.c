// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_follow.c - see map_follow.h.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "../compat/vma.h"
#include "../sampling/unwind_maps.h"
#include "map.h"
#include "map_copied.h"
#include "map_follow.h"
#include "map_retry.h"
#include "map_unwind.h"
#include "task_logs.h"

static void retry_unread(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp)
{
	if (m->unread || m->uncompared)
		hwpmc_map_retry(mm, m->r.start, m->r.end, m->file, gfp);
}

void hwpmc_map_follow(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp)
{
	if (hwpmc_map_unwind(m, mm, gfp))
		retry_unread(m, mm, gfp);
}

void hwpmc_map_follow_vma(struct vm_area_struct *vma)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	unsigned int pages = HWPMC_PROBE_PAGES;
	struct mm_struct *mm = vma->vm_mm;
	struct hwpmc_map m;

	if (!hwpmc_unwind_maps_wanted() || !hwpmc_unwind_maps_known(mm))
		return;
	/* A real-time kernel allocates no memory here: rt_defer.c adds it. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hwpmc_unwind_maps_remove(mm, vma->vm_start, vma->vm_end, true);
	else if (hwpmc_map_unwind_vma(&m, vma, gfp, &pages))
		retry_unread(&m, mm, gfp);
}

/* Called after the mappings were added: an earlier look would find nothing to add to. */
static void look_at_unread(struct mm_struct *mm, gfp_t gfp)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
	struct vm_area_struct *vma;
	unsigned int none = 0;
	struct hwpmc_map m;

	while ((vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		hwpmc_map_init(&m, vma);
		if (!gfpflags_allow_blocking(gfp))
			hwpmc_map_find_copied(&m, vma, gfp, &none);
		hwpmc_map_identify(&m);
		retry_unread(&m, mm, gfp);
	}
}

void hwpmc_map_follow_all(struct mm_struct *mm, gfp_t gfp)
{
	if (hwpmc_map_unwind_all(mm, gfp))
		look_at_unread(mm, gfp);
}

/*
 * Walks of the child's stack need its mappings: those of its parent, unless other threads
 * may have changed these since the memory was copied; those of the child itself are looked
 * at then, of which nothing but files of /proc can hold the lock. A real-time kernel
 * allocates no memory here; there its chains end until it executes a program.
 */
void hwpmc_map_follow_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	if (!hwpmc_unwind_maps_wanted() || IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (!current->mm || !mm || mm == current->mm || !hwpmc_task_logs_any(child))
		return;
	if (atomic_read(&current->mm->mm_users) == 1) {
		hwpmc_unwind_maps_fork(current->mm, mm);
	} else if (mmap_read_trylock(mm)) {
		hwpmc_map_follow_all(mm, GFP_ATOMIC | __GFP_NOWARN);
		mmap_read_unlock(mm);
	}
}

/* The mm is new: only files of /proc can hold its lock. A real-time kernel does it on the
 * return to user mode. */
void hwpmc_map_follow_exec(void)
{
	if (!hwpmc_unwind_maps_wanted() || IS_ENABLED(CONFIG_PREEMPT_RT) ||
	    !hwpmc_task_logs_any(current) || !mmap_read_trylock(current->mm))
		return;
	hwpmc_map_follow_all(current->mm, GFP_ATOMIC | __GFP_NOWARN);
	mmap_read_unlock(current->mm);
}
