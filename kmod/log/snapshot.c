// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * snapshot.c - processes, threads, mappings and modules that are there already when
 * a PMC that samples is started. Process context, under hwpmc_lock; the hooks that
 * tell of changes are in place before, so nothing falls between the two.
 */
#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../compat/vma.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../sampling/log_object.h"
#include "../task/target.h"
#include "task_event.h"

/*
 * How long a reader is waited for in all, when the ring is full: everybody who wants
 * hwpmc_lock waits too, so only the privileged are given it.
 */
#define PATIENCE_MS	2000
/* How long in all for address spaces that are being changed, or kept locked. */
#define LOCKS_MS	500

struct snapshot {
	struct hwpmc_owner *owner;
	bool privileged;
	char *page;
	unsigned int waited;	/* ms */
	unsigned int locks;	/* ms, for others' mmap_lock */
};

/* Is it worth to try again? */
static bool wait_for_room(struct snapshot *s)
{
	if (!s->privileged || s->waited >= PATIENCE_MS ||
	    fatal_signal_pending(current))
		return false;
	s->waited += 20;
	wake_up(&s->owner->log_wait);
	msleep(20);
	return true;
}

static void put_one(struct snapshot *s, s32 pid, struct vm_area_struct *vma)
{
	struct hwpmc_map m;

	hwpmc_map_init(&m, vma);
	hwpmc_map_look_up(&m, s->page);
	while (!hwpmc_put_map(s->owner, pid, &m, HWPMC_LOG_SNAPSHOT))
		if (!wait_for_room(s))
			break;
}

/* Not as long as it takes: a program can keep its lock for ever. */
static bool lock_maps(struct snapshot *s, struct mm_struct *mm)
{
	while (!mmap_read_trylock(mm)) {
		if (s->locks >= LOCKS_MS || fatal_signal_pending(current))
			return false;
		s->locks++;
		usleep_range(500, 1000);
	}
	return true;
}

static void put_maps(struct snapshot *s, struct task_struct *task)
{
	s32 pid = hwpmc_owner_tgid_nr(s->owner, task);
	struct mm_struct *mm = get_task_mm(task);
	struct vm_area_struct *vma;

	if (!mm)
		return;
	if (lock_maps(s, mm)) {
		struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);

		while ((vma = hwpmc_vma_next(&walk)))
			if (hwpmc_wants_vma(vma))
				put_one(s, pid, vma);
		mmap_read_unlock(mm);
	} else {
		hwpmc_log_drop(s->owner->log, HWPMC_DROP_BUSY);
	}
	mmput(mm);
}

static void put_threads(struct snapshot *s, struct task_struct *leader)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_thread(leader, task) {
		preempt_disable();
		hwpmc_put_task(s->owner, task == leader ? HWPMC_LOG_PROC_CREATE :
			       HWPMC_LOG_THR_CREATE, HWPMC_LOG_SNAPSHOT, task,
			       task->comm);
		preempt_enable();
	}
	rcu_read_unlock();
}

static void put_process(struct snapshot *s, struct task_struct *leader)
{
	put_threads(s, leader);
	put_maps(s, leader);
}

/* The process with the next higher number, with a reference. */
static struct task_struct *next_process(pid_t *nr)
{
	struct task_struct *task, *best = NULL;

	rcu_read_lock();
	for_each_process(task)
		if (task->tgid > *nr && (!best || task->tgid < best->tgid))
			best = task;
	if (best) {
		get_task_struct(best);
		*nr = best->tgid;
	}
	rcu_read_unlock();
	return best;
}

static void put_all(struct snapshot *s)
{
	struct task_struct *task;
	pid_t nr = 0;

	while ((task = next_process(&nr))) {
		put_process(s, task);
		put_task_struct(task);
		cond_resched();
	}
}

/* The pid after `after` in the PMC's list of targets. */
static struct pid *next_target(struct hwpmc_pmc *pmc, unsigned int skip)
{
	struct hwpmc_link *link;
	struct pid *pid = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	list_for_each_entry(link, &pmc->links, node) {
		if (skip--)
			continue;
		pid = get_pid(link->target->pid);
		break;
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return pid;
}

static void put_targets(struct snapshot *s, struct hwpmc_pmc *pmc)
{
	struct task_struct *task;
	unsigned int n = 0;
	struct pid *pid;

	while ((pid = next_target(pmc, n++))) {
		task = get_pid_task(pid, PIDTYPE_TGID);
		put_pid(pid);
		if (!task)
			continue;
		put_process(s, task);
		put_task_struct(task);
	}
}

void hwpmc_snapshot(struct hwpmc_pmc *pmc)
{
	struct snapshot s = {
		.owner = pmc->owner, .privileged = pmc->privileged,
	};
	struct hwpmc_log *log = pmc->owner->log;
	bool system = hwpmc_pmc_is_system(pmc);

	lockdep_assert_held(&hwpmc_lock);
	if (!hwpmc_pmc_samples(pmc) || !hwpmc_log_is_open(pmc->owner))
		return;
	s.page = (char *)__get_free_page(GFP_KERNEL);
	if (!s.page)
		return;
	if (!log->has_modules)
		hwpmc_put_modules(pmc->owner);
	log->has_modules = true;
	if (!system)
		put_targets(&s, pmc);
	else if (!log->has_processes)
		put_all(&s);
	log->has_processes |= system;
	free_page((unsigned long)s.page);
}
