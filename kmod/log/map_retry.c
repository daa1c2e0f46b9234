// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_retry.c - looks soon at what a process has mapped, where a probe could not: the first page
 * of a file, which has its build-id, was not in the page cache, or mmap_lock was taken.
 * Walks by unwind tables have nothing but what the probe saw until then.
 *
 * A work item does it, with limits: neither a program nor its files make it wait for ever,
 * and so unloading the module does not, either. A program whose threads keep mmap_lock
 * occupied is looked at in a later run. If the program has unmapped the file meanwhile, the
 * reference here can be the last one: a process of its own puts it (compat/fput.h).
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

#include "../compat/fput.h"
#include "../compat/memory.h"
#include "../compat/pagecache.h"
#include "../core/work.h"
#include "map_retry.h"
#include "map_unwind.h"

/* All pages together, and all locks together, of one run; milliseconds. */
#define READ_MS		500
#define LOCK_MS		500
/* More at a time are not looked at. */
#define LOOKS		4096
/* Runs in which the lock was taken for all of its time, and between two of them. */
#define RUNS		20
#define LATER		(HZ / 20)

struct look {
	struct list_head node;		/* in `looks`, the list of the run, or `puts` */
	struct mm_struct *mm;		/* a reference to the struct */
	struct file *file;		/* a reference, or NULL */
	u64 start, end;
	unsigned int runs;
	bool has_mappings;		/* the last reference to those of mm */
};

static DEFINE_RAW_SPINLOCK(looks_lock);	/* a leaf; not for interrupts */
static LIST_HEAD(looks);		/* looks_lock */
static unsigned int waiting;		/* in `looks`; looks_lock */
static LIST_HEAD(puts);			/* with references that can be the last; looks_lock */

/* ---- in the work item ----------------------------------------------------- */

static bool is_read(struct file *file)
{
	struct page *page;

	if (!hwpmc_first_page(file, &page))
		return false;
	hwpmc_page_put(page);
	return true;
}

/* In the first run only: later ones are for the lock. */
static bool awaits_page(const struct look *look)
{
	return look->file && !look->runs && !is_read(look->file);
}

static void read_all(struct list_head *list)
{
	unsigned long limit = jiffies + msecs_to_jiffies(READ_MS);
	struct look *look;

	/* All of them begin before one is waited for. */
	list_for_each_entry(look, list, node)
		if (awaits_page(look))
			hwpmc_first_page_read(look->file);
	list_for_each_entry(look, list, node)
		while (awaits_page(look) && time_before(jiffies, limit))
			usleep_range(500, 1000);
}

static bool retry_lock_mm(struct mm_struct *mm, unsigned long limit)
{
	while (!mmap_read_trylock(mm)) {
		if (!time_before(jiffies, limit))
			return false;
		usleep_range(500, 1000);
	}
	return true;
}

/* While the file is mapped, the reference here is not the last one. */
static void put_mapped_file(struct look *look)
{
	struct vm_area_struct *vma;

	lockdep_assert_held(&look->mm->mmap_lock);
	vma = find_vma(look->mm, look->start);
	if (!vma || !look->file || vma->vm_file != look->file)
		return;
	fput(look->file);
	look->file = NULL;
}

/* False: the lock was taken until the limit. */
static bool take_look(struct look *look, unsigned long limit)
{
	bool held;

	if (!retry_lock_mm(look->mm, limit))
		return false;
	/* Not one that ends. */
	held = hwpmc_mappings_hold(look->mm);
	if (held) {
		hwpmc_map_unwind_range(look->mm, look->start, look->end, GFP_KERNEL);
		put_mapped_file(look);
	}
	mmap_read_unlock(look->mm);
	look->has_mappings = held && !hwpmc_mappings_let_go(look->mm);
	return true;
}

static void put_all(struct work_struct *unused)
{
	struct look *look, *next;
	LIST_HEAD(list);

	raw_spin_lock(&looks_lock);
	list_splice_init(&puts, &list);
	raw_spin_unlock(&looks_lock);
	list_for_each_entry_safe(look, next, &list, node) {
		hwpmc_put_apart(look->file, look->has_mappings ? look->mm : NULL);
		mmdrop(look->mm);
		kfree(look);
	}
}

/* Waits for memory and for a work item of the kernel's; nobody waits for it but unload. */
static DECLARE_WORK(put_work, put_all);

static void look_end(struct look *look)
{
	if (!look->file && !look->has_mappings) {
		mmdrop(look->mm);
		kfree(look);
		return;
	}
	raw_spin_lock(&looks_lock);
	list_add_tail(&look->node, &puts);
	raw_spin_unlock(&looks_lock);
	hwpmc_work(&put_work);
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

static void look_in_later_run(struct look *look)
{
	look->runs++;
	if (add_look(look))
		hwpmc_work_later(&work, LATER);
	else
		look_end(look);
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
			look_end(look);
		else
			look_in_later_run(look);
		cond_resched();
	}
}

/* ---- for others ----------------------------------------------------------- */

/* The caller has the mapping: its reference to the file is not the last one. */
void hwpmc_map_retry(struct mm_struct *mm, u64 start, u64 end, struct file *file, gfp_t gfp)
{
	struct look *look = kmalloc(sizeof(*look), gfp);

	if (!look)
		return;
	*look = (struct look){ .mm = mm, .start = start, .end = end, .file = file };
	mmgrab(mm);
	if (file)
		get_file(file);
	if (add_look(look)) {
		hwpmc_work_again(&work, 0);
		return;
	}
	if (file)
		fput(file);
	mmdrop(mm);
	kfree(look);
}

/* Without memory the caller waits for the program's requests, as a reader of /proc/PID/maps. */
void hwpmc_mappings_put(struct mm_struct *mm)
{
	struct look *look;

	if (hwpmc_mappings_let_go(mm))
		return;
	look = kmalloc(sizeof(*look), GFP_KERNEL);
	if (!look) {
		mmput(mm);
		return;
	}
	*look = (struct look){ .mm = mm, .has_mappings = true };
	mmgrab(mm);
	look_end(look);
}

void hwpmc_map_retries_wait(void)
{
	flush_delayed_work(&work);
}

void hwpmc_map_retries_exit(void)
{
	struct look *look, *next;

	cancel_delayed_work_sync(&work);
	list_for_each_entry_safe(look, next, &looks, node)
		look_end(look);
	flush_work(&put_work);
}
