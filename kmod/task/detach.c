// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * detach.c - removes links of a PMC: of one process, of a process and its descendants,
 * of the last attach, or all. Process context, hwpmc_lock; switches, forks, execs and
 * exits go on meanwhile.
 *
 * Each function does the same three steps: remove the links (and targets without links
 * from the hash) under hwpmc_targets_lock; make the CPUs follow, so that on return none
 * counts for a removed link; free.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../core/owner.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "attach.h"
#include "start_stop.h"
#include "descendants.h"
#include "loaded_cpus.h"
#include "migrations.h"
#include "own.h"
#include "rdpmc.h"
#include "target.h"
#include "walk.h"

/* removed: targets without links, chained by their .removed_node. */
static void drop_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
			     struct list_head *removed)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_unlink_locked(target, pmc);
	hwpmc_followers_add_locked(target);
	if (target->rows || target->attaching)
		return;
	list_add(&target->removed_node, removed);
	if (!target->process) {
		hwpmc_target_remove_locked(target);
		return;
	}
	hwpmc_own_remove_locked(target);
	hwpmc_own_note_empty_locked(target->process);
}

static void remove_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
			       struct list_head *removed)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_log_detached(pmc, target->pid);
	drop_link_locked(target, pmc, removed);
}

struct removal {
	bool last_attach;		/* only its links, and what descendants inherited */
	struct list_head targets;
};

static void remove_one_locked(struct hwpmc_link *link, void *arg)
{
	struct removal *removal = arg;
	struct hwpmc_pmc *pmc = link->pmc;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!removal->last_attach || link->attach == pmc->process.attaches)
		remove_link_locked(link->target, pmc, &removal->targets);
}

static void remove_link_of(struct hwpmc_pmc *pmc, struct task_struct *leader,
			   struct list_head *removed)
{
	struct hwpmc_target *target;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	if (target && target->link[pmc->row].pmc == pmc)
		remove_link_locked(target, pmc, removed);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

static void release_targets(struct list_head *removed)
{
	struct hwpmc_target *target, *next;

	list_for_each_entry_safe(target, next, removed, removed_node)
		hwpmc_target_release(target);
}

/*
 * Threads that have lost their link are no more in .nthreads, and count until their CPUs have
 * followed. A read by the only thread that is left must not take its own slice for all.
 */
#define THREADS_THAT_LEAVE	2

static void count_leaving_locked(struct hwpmc_pmc *pmc, int n)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	WRITE_ONCE(pmc->process.nthreads, pmc->process.nthreads + n);
}

static void count_leaving(struct hwpmc_pmc *pmc, int n)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	count_leaving_locked(pmc, n);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

static void detach_begin(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	hwpmc_pmc_take_migrations(pmc);
	hwpmc_followers_begin();
	count_leaving(pmc, THREADS_THAT_LEAVE);
}

/* The links are removed: wait for the CPUs, and free. */
static void detach_end(struct hwpmc_pmc *pmc, struct list_head *removed, bool here_only)
{
	hwpmc_count_sync(here_only);
	count_leaving(pmc, -THREADS_THAT_LEAVE);
	release_targets(removed);
	hwpmc_own_sweep();
	hwpmc_unhooked_free();
}

static void detach_links(struct hwpmc_pmc *pmc, bool last_attach)
{
	bool here_only = hwpmc_counts_only_current(pmc);
	struct removal removal = {
		.last_attach = last_attach,
		.targets = LIST_HEAD_INIT(removal.targets),
	};

	detach_begin(pmc);
	rcu_read_lock();
	hwpmc_walk_links(pmc, remove_one_locked, &removal);
	rcu_read_unlock();
	detach_end(pmc, &removal.targets, here_only);
}

void hwpmc_detach_all(struct hwpmc_pmc *pmc)
{
	detach_links(pmc, false);
}

void hwpmc_detach_last_attach(struct hwpmc_pmc *pmc)
{
	detach_links(pmc, true);
}

static void detach_tree(struct hwpmc_pmc *pmc, struct task_struct *leader,
			const struct hwpmc_descent *d)
{
	LIST_HEAD(removed);
	unsigned int i;

	detach_begin(pmc);
	remove_link_of(pmc, leader, &removed);
	for (i = 0; i < d->n; i++)
		remove_link_of(pmc, d->task[i], &removed);
	detach_end(pmc, &removed, false);
}

void hwpmc_detach_task(struct hwpmc_pmc *pmc, struct task_struct *task)
{
	LIST_HEAD(removed);

	detach_begin(pmc);
	remove_link_of(pmc, task, &removed);
	detach_end(pmc, &removed, false);
}

bool hwpmc_detach_thread(struct hwpmc_pmc *pmc, struct task_struct *task, bool log)
{
	struct hwpmc_thread *thread;
	LIST_HEAD(removed);
	unsigned long flags;
	bool found;

	lockdep_assert_held(&hwpmc_lock);
	detach_begin(pmc);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	thread = hwpmc_thread_find(task);
	found = thread && thread->own && thread->own->link[pmc->row].pmc == pmc;
	if (found && log)
		hwpmc_log_detached(pmc, thread->own->pid);
	if (found)
		drop_link_locked(thread->own, pmc, &removed);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	detach_end(pmc, &removed, false);
	return found;
}

static int detach_by_tid(struct hwpmc_pmc *pmc, pid_t tid, struct hwpmc_hdr *hdr)
{
	struct task_struct *task;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	task = hwpmc_task_find(tid, hdr, &ret);
	if (!task)
		return ret;
	if (!hwpmc_detach_thread(pmc, task, true))
		ret = hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NOT_ATTACHED, tid);
	put_task_struct(task);
	return ret;
}

static int detach_process(struct hwpmc_pmc *pmc, struct task_struct *leader,
			  pid_t pid, struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target, *empty = NULL;
	unsigned long flags;
	bool attached;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_pmc_take_migrations(pmc);
	hwpmc_followers_begin();
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	attached = target && target->link[pmc->row].pmc == pmc;
	if (attached) {
		count_leaving_locked(pmc, THREADS_THAT_LEAVE);
		hwpmc_unlink_locked(target, pmc);
		hwpmc_followers_add_locked(target);
		if (hwpmc_target_remove_if_empty_locked(target))
			empty = target;
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	if (!target)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NOT_TARGET, pid);
	if (!attached)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NOT_ATTACHED, pid);
	hwpmc_log_detached(pmc, task_tgid(leader));
	hwpmc_count_sync(false);
	count_leaving(pmc, -THREADS_THAT_LEAVE);
	if (empty)
		hwpmc_target_release(empty);
	hwpmc_unhooked_free();
	return 0;
}

int hwpmc_detach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr)
{
	bool descendants = pmc->flags & HWPMC_F_DESCENDANTS;
	struct hwpmc_descent d = {};
	struct task_struct *leader;
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_pmc_is_system(pmc))
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_SYSTEM_SCOPE, 0);
	if (pmc->flags & HWPMC_F_THREAD)
		return detach_by_tid(pmc, pid, hdr);
	leader = hwpmc_process_find(pid, hdr, &ret);
	if (!leader)
		return ret;
	/* Before any change: this can fail, and looks at all processes of the machine. */
	if (descendants) {
		hwpmc_owner_pause(pmc->owner);
		ret = hwpmc_descent_get(&d, leader);
		hwpmc_owner_resume(pmc->owner);
	}
	if (ret) {
		put_task_struct(leader);
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	}
	ret = detach_process(pmc, leader, pid, hdr);
	if (!ret)
		hwpmc_rdpmc_revoke(pmc);
	if (!ret && descendants)
		detach_tree(pmc, leader, &d);
	hwpmc_descent_put(&d);
	put_task_struct(leader);
	return ret;
}
