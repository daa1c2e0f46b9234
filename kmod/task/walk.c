// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* walk.c - see walk.h. */
#include <linux/rcupdate.h>

#include "../core/cursor.h"
#include "../base/lock.h"
#include "target.h"
#include "walk.h"

/* fn_locked(entry) for each of the list; hwpmc_targets_lock for `batch` of them. */
static void walk_list(struct list_head *list, struct list_head *cursors,
		      unsigned int batch,
		      void (*fn_locked)(struct list_head *entry, void *data), void *data)
{
	struct hwpmc_cursor cursor;
	struct list_head *entry;
	unsigned long flags;
	unsigned int left;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_cursor_begin(&cursor, cursors, list);
	left = batch;
	while ((entry = hwpmc_cursor_next(&cursor, list))) {
		fn_locked(entry, data);
		if (--left)
			continue;
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
		left = batch;
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	}
	hwpmc_cursor_end(&cursor);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

struct link_visit {
	void (*fn_locked)(struct hwpmc_link *link, void *arg);
	void *arg;
};

static void visit_link_locked(struct list_head *entry, void *data)
{
	const struct link_visit *v = data;

	lockdep_assert_held(&hwpmc_targets_lock);
	v->fn_locked(list_entry(entry, struct hwpmc_link, node), v->arg);
}

void hwpmc_walk_links(struct hwpmc_pmc *pmc,
		      void (*fn_locked)(struct hwpmc_link *link, void *arg), void *arg)
{
	struct link_visit v = { fn_locked, arg };

	walk_list(&pmc->process.links, &pmc->process.cursors, HWPMC_WALK_LINKS, visit_link_locked, &v);
}

struct thread_visit {
	void (*fn_locked)(struct hwpmc_thread *thread, void *arg);
	void *arg;
};

static void visit_thread_locked(struct list_head *entry, void *data)
{
	const struct thread_visit *v = data;

	lockdep_assert_held(&hwpmc_targets_lock);
	v->fn_locked(list_entry(entry, struct hwpmc_thread, node), v->arg);
}

void hwpmc_walk_threads(struct hwpmc_target *target,
			void (*fn_locked)(struct hwpmc_thread *thread, void *arg),
			void *arg)
{
	struct thread_visit v = { fn_locked, arg };

	walk_list(&target->threads, &target->cursors, HWPMC_WALK_THREADS,
		  visit_thread_locked, &v);
}

/* The target of the link that the cursor is at, or NULL. It outlives its link: RCU. */
static struct hwpmc_target *next_target(struct hwpmc_cursor *cursor,
					struct hwpmc_pmc *pmc)
{
	struct list_head *entry;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	entry = hwpmc_cursor_next(cursor, &pmc->process.links);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return entry ? list_entry(entry, struct hwpmc_link, node)->target : NULL;
}

void hwpmc_walk_pmc_threads(struct hwpmc_pmc *pmc,
			    void (*fn_locked)(struct hwpmc_thread *thread, void *pmc))
{
	struct hwpmc_cursor cursor;
	struct hwpmc_target *target;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_cursor_begin(&cursor, &pmc->process.cursors, &pmc->process.links);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	while ((target = next_target(&cursor, pmc)))
		hwpmc_walk_threads(target, fn_locked, pmc);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_cursor_end(&cursor);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}
