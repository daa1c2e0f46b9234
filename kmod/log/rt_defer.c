// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rt_defer.c - MAP_IN records on real-time kernels, where the spin locks of a path and
 * of a page that is freed sleep. A probe stores the mapping in an item, and task work
 * writes the record on the return to user mode, before an instruction of the mapping
 * is executed. A probe cannot allocate there, so the items are a fixed array; a
 * mapping that finds all of them in use is counted as a drop.
 *
 * A pending item calls code of this module. hwpmc_rt_defer_exit() waits until no item
 * is pending, and until no task executes the end of its callback.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/task_work.h>

#include "../compat/vma.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "map.h"
#include "map_copied.h"
#include "map_follow.h"
#include "rt_defer.h"
#include "task_logs.h"

/* Pending items at one time: one for each mapping of a thread in the kernel. */
#define ITEMS	256

struct item {
	struct callback_head work;
	struct list_head node;		/* in `unused` or `waiting` */
	struct task_struct *task;	/* that mapped; compared, never dereferenced */
	bool stale;			/* the task has called exec since */
	struct hwpmc_map map;		/* with a reference to its file */
	char name[32];
};

static struct item items[ITEMS];

/* Protects the lists, `any_used`, and task and stale of `waiting`. Not for interrupts. */
static DEFINE_RAW_SPINLOCK(items_lock);
static bool any_used;		/* since the module was loaded */
static LIST_HEAD(unused);
static LIST_HEAD(waiting);

static void emit_busy_drop(struct hwpmc_owner *owner, void *unused)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);

	if (log)
		hwpmc_log_drop(log, HWPMC_DROP_BUSY);
}

static struct item *take_item(void)
{
	struct item *item;

	raw_spin_lock(&items_lock);
	item = list_first_entry_or_null(&unused, struct item, node);
	if (item) {
		list_move(&item->node, &waiting);
		item->task = current;
		item->stale = false;
		any_used = true;
	}
	raw_spin_unlock(&items_lock);
	if (!item)
		hwpmc_task_logs_each(current, emit_busy_drop, NULL);
	return item;
}

static void give_back(struct item *item)
{
	raw_spin_lock(&items_lock);
	list_move(&item->node, &unused);
	raw_spin_unlock(&items_lock);
}

/* At exec: pending mappings are gone; write_exec_maps() reports those of the new mm. */
static void mark_own_stale(void)
{
	struct item *item;

	raw_spin_lock(&items_lock);
	list_for_each_entry(item, &waiting, node)
		if (item->task == current)
			item->stale = true;
	raw_spin_unlock(&items_lock);
}

/* NULL: write nothing. An exiting task has no fs->root to begin a path at. */
static char *page_for_path(const struct item *item)
{
	char *page;

	if (item->stale || current->flags & PF_EXITING)
		return NULL;
	page = (char *)__get_free_page(GFP_KERNEL);
	if (!page)
		hwpmc_task_logs_each(current, emit_busy_drop, NULL);
	return page;
}

/* The item holds a reference to the file. */
static void find_copied(struct hwpmc_map *m)
{
	struct vm_area_struct *vma;

	if (m->file || m->name)
		return;
	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, m->r.start);
	if (vma && vma->vm_start == m->r.start && vma->vm_end == m->r.end && !vma->vm_file)
		hwpmc_map_find_copied(m, vma, GFP_KERNEL, NULL);
	if (m->file)
		get_file(m->file);
	mmap_read_unlock(current->mm);
}

static void write_map(struct callback_head *work)
{
	struct item *item = container_of(work, struct item, work);
	char *page = page_for_path(item);

	if (page) {
		find_copied(&item->map);
		hwpmc_map_look_up(&item->map, page);
		hwpmc_map_follow(&item->map, current->mm, GFP_KERNEL);
		hwpmc_task_logs_each(current, hwpmc_emit_own_map, &item->map);
		free_page((unsigned long)page);
	}
	if (item->map.file)
		fput(item->map.file);
	give_back(item);
}

void hwpmc_defer_map(struct vm_area_struct *vma)
{
	struct item *item = hwpmc_task_logs_any(current) ? take_item() : NULL;
	struct hwpmc_map *m;

	if (!item)
		return;
	m = &item->map;
	hwpmc_map_init(m, vma);
	if (m->file)
		get_file(m->file);
	if (m->name) {
		strscpy(item->name, m->name, sizeof(item->name));
		m->name = item->name;
	}
	init_task_work(&item->work, write_map);
	/* Refused in a task that is exiting. */
	if (!task_work_add(current, &item->work, TWA_RESUME))
		return;
	if (m->file)
		fput(m->file);
	give_back(item);
}

static void write_all_maps(struct hwpmc_map *m, char *page)
{
	struct mm_struct *mm = current->mm;
	struct hwpmc_vma_walk walk;
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	hwpmc_map_follow_all(mm, GFP_KERNEL);
	walk = (struct hwpmc_vma_walk)HWPMC_VMA_WALK(mm);
	while ((vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		hwpmc_map_init(m, vma);
		hwpmc_map_look_up(m, page);
		hwpmc_task_logs_each(current, hwpmc_emit_own_map, m);
	}
	mmap_read_unlock(mm);
}

static void write_exec_maps(struct callback_head *work)
{
	struct item *item = container_of(work, struct item, work);
	char *page = page_for_path(item);

	if (page) {
		write_all_maps(&item->map, page);
		free_page((unsigned long)page);
	}
	give_back(item);
}

void hwpmc_defer_exec_maps(void)
{
	struct item *item;

	mark_own_stale();
	item = hwpmc_task_logs_any(current) ? take_item() : NULL;
	if (!item)
		return;
	init_task_work(&item->work, write_exec_maps);
	if (task_work_add(current, &item->work, TWA_RESUME))
		give_back(item);
}

void hwpmc_rt_defer_init(void)
{
	unsigned int i;

	for (i = 0; i < ITEMS; i++)
		list_add(&items[i].node, &unused);
}

static bool is_any_waiting(void)
{
	bool any;

	raw_spin_lock(&items_lock);
	any = !list_empty(&waiting);
	raw_spin_unlock(&items_lock);
	return any;
}

void hwpmc_rt_defer_exit(void)
{
	while (is_any_waiting())
		msleep(20);
	/* Takes up to a second, so not without need. */
	if (any_used)
		synchronize_rcu_tasks();
}
