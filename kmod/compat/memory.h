/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * memory.h - the memory of another process: which it is while no exec replaces it, and
 * looking at its mappings without holding them. Process context.
 *
 * Whoever holds the last reference to the mappings (mm_users) releases them, and the files
 * that are mapped: that lasts as long as the program likes, and in a kernel thread it
 * holds up releases of the whole machine. So none is held where that can be avoided: the
 * struct is kept (mmgrab()), and mappings are looked at under mmap_lock, while the process
 * has them.
 */
#ifndef HWPMC_COMPAT_MEMORY_H
#define HWPMC_COMPAT_MEMORY_H

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>

#include "have.h"

/* No exec replaces the task's memory or credentials until the unlock. The caller holds
 * the task. */
static inline bool hwpmc_exec_trylock(struct task_struct *task)
{
#ifdef HAVE_EXEC_UPDATE_RWSEM
	return down_read_trylock(&task->signal->exec_update_lock);
#else
	return mutex_trylock(&task->signal->exec_update_mutex);
#endif
}

static inline void hwpmc_exec_unlock(struct task_struct *task)
{
#ifdef HAVE_EXEC_UPDATE_RWSEM
	up_read(&task->signal->exec_update_lock);
#else
	mutex_unlock(&task->signal->exec_update_mutex);
#endif
}

/*
 * Under mmap_lock: true if the mappings are there, until hwpmc_mappings_let_go(), which is
 * called without the lock. Kernels with a maple tree take the lock for writing before they
 * remove the mappings of a process that ends.
 */
static inline bool hwpmc_mappings_hold(struct mm_struct *mm)
{
#ifdef HAVE_VMA_FIND
	return atomic_read(&mm->mm_users);
#else
	return mmget_not_zero(mm);
#endif
}

/* Returns false if the caller's is the last reference, which a process of its own puts:
 * hwpmc_put_apart(). */
static inline bool hwpmc_mappings_let_go(struct mm_struct *mm)
{
#ifdef HAVE_VMA_FIND
	return true;
#else
	return atomic_add_unless(&mm->mm_users, -1, 1);
#endif
}

/*
 * A page of memory that may be another process's, or NULL if it is not present. Under mmap_lock
 * of the mm; may sleep, but waits for no disk and for no program that handles faults
 * (userfaultfd). The caller puts it.
 */
static inline struct page *hwpmc_page_of(struct mm_struct *mm, unsigned long at)
{
	const unsigned int flags = FOLL_NOWAIT | FOLL_DUMP;
	struct page *page;
	long n;

#ifdef HAVE_GUP_VMAS
	n = get_user_pages_remote(mm, at, 1, flags, &page, NULL, NULL);
#else
	n = get_user_pages_remote(mm, at, 1, flags, &page, NULL);
#endif
	return n == 1 ? page : NULL;
}

#endif /* HWPMC_COMPAT_MEMORY_H */
