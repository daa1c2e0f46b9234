// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * look.c - looks soon at what a process has mapped, where a probe could not: the first page
 * of a file, which has its build-id, was not in the page cache, or mmap_lock was taken.
 * Walks by unwind tables (follow.c) know no more than what the probe saw until then.
 *
 * A work item does it, with limits: neither a program nor its files make it wait for ever,
 * and so unloading the module does not, either. A program whose threads keep mmap_lock
 * occupied is looked at in a later run.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../compat/memory.h"
#include "../compat/pagecache.h"
#include "../core/work.h"
#include "task_event.h"

/* All pages together, and all locks together, of one run; milliseconds. */
#define READ_MS		500
#define LOCK_MS		500
/* More at a time are not looked at. */
#define LOOKS		4096
/* Runs in which the lock was taken for all of its time, and between two of them. */
#define RUNS		20
#define LATER		(HZ / 20)

struct look {
	struct list_head node;		/* in `looks`, or in the list of the run */
	struct mm_struct *mm;		/* a reference to the struct */
	struct file *file;		/* a reference, or NULL */
	u64 start, end;
	unsigned int runs;
};

static DEFINE_RAW_SPINLOCK(looks_lock);	/* a leaf; not for interrupts */
static LIST_HEAD(looks);		/* looks_lock */
static unsigned int waiting;		/* in `looks`; looks_lock */

/* ---- in the work item ----------------------------------------------------- */

static bool is_read(struct file *file)
{
	struct page *page;

	if (!hwpmc_first_page(file, &page))
		return false;
	hwpmc_page_put(page);
	return true;
}

static void read_all(struct list_head *list)
{
	unsigned long limit = jiffies + msecs_to_jiffies(READ_MS);
	struct look *look;

	/* All of them begin before one is waited for. */
	list_for_each_entry(look, list, node)
		if (look->file && !is_read(look->file))
			hwpmc_first_page_read(look->file);
	list_for_each_entry(look, list, node)
		while (look->file && !is_read(look->file) && time_before(jiffies, limit))
			usleep_range(500, 1000);
}

static bool lock_mm(struct mm_struct *mm, unsigned long limit)
{
	while (!mmap_read_trylock(mm)) {
		if (!time_before(jiffies, limit))
			return false;
		usleep_range(500, 1000);
	}
	return true;
}

/* False: the lock was taken until the limit. */
static bool take_look(const struct look *look, unsigned long limit)
{
	bool held;

	if (!lock_mm(look->mm, limit))
		return false;
	/* Not one that ends. */
	held = hwpmc_mappings_hold(look->mm);
	if (held)
		hwpmc_follow_range(look->mm, look->start, look->end, GFP_KERNEL);
	mmap_read_unlock(look->mm);
	if (held)
		hwpmc_mappings_let_go(look->mm);
	return true;
}

static void let_file_go(struct look *look)
{
	if (look->file)
		fput(look->file);
	look->file = NULL;
}

static void look_free(struct look *look)
{
	let_file_go(look);
	mmdrop(look->mm);
	kfree(look);
}

/* False: there are too many, or it was in the list too often. */
static bool add_look(struct look *look)
{
	bool add;

	raw_spin_lock(&looks_lock);
	add = waiting < LOOKS && look->runs < RUNS;
	if (add) {
		list_add_tail(&look->node, &looks);
		waiting++;
	}
	raw_spin_unlock(&looks_lock);
	return add;
}

static void look_at_all(struct work_struct *unused);
static DECLARE_DELAYED_WORK(work, look_at_all);

/* Its page was read, or is not awaited any more. */
static void look_in_later_run(struct look *look)
{
	let_file_go(look);
	look->runs++;
	if (add_look(look))
		hwpmc_work_later(&work, LATER);
	else
		look_free(look);
}

static void look_at_all(struct work_struct *unused)
{
	unsigned long limit;
	struct look *look, *next;
	LIST_HEAD(list);

	raw_spin_lock(&looks_lock);
	list_splice_init(&looks, &list);
	waiting = 0;
	raw_spin_unlock(&looks_lock);
	read_all(&list);
	limit = jiffies + msecs_to_jiffies(LOCK_MS);
	list_for_each_entry_safe(look, next, &list, node) {
		if (take_look(look, limit))
			look_free(look);
		else
			look_in_later_run(look);
		cond_resched();
	}
}

/* ---- for others ----------------------------------------------------------- */

void hwpmc_look_later(struct mm_struct *mm, u64 start, u64 end, struct file *file, gfp_t gfp)
{
	struct look *look = kmalloc(sizeof(*look), gfp);

	if (!look)
		return;
	mmgrab(mm);
	*look = (struct look){ .mm = mm, .start = start, .end = end,
			       .file = file ? get_file(file) : NULL };
	if (add_look(look))
		hwpmc_work_again(&work, 0);
	else
		look_free(look);
}

void hwpmc_looks_wait(void)
{
	flush_delayed_work(&work);
}

void hwpmc_looks_exit(void)
{
	struct look *look, *next;

	cancel_delayed_work_sync(&work);
	list_for_each_entry_safe(look, next, &looks, node)
		look_free(look);
}
