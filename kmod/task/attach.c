// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * attach.c - attach and detach: permission, the process and its threads, its
 * descendants. Process context, hwpmc_lock held throughout, so attaches do not
 * meet each other; fork, exec, exit and switches go on meanwhile.
 * The scheme is told in doc/decisions/attach.md.
 */
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "attach.h"
#include "descent.h"
#include "rdpmc.h"
#include "switch.h"
#include "target.h"
#include "watch.h"

/* ---- threads of a process ------------------------------------------------ */

/* Descriptors made before the walk over the threads, which cannot sleep. */
struct spares {
	struct list_head list;		/* struct hwpmc_thread.node */
	unsigned int missing;		/* threads that found none */
	unsigned int others;		/* of these, not current */
};

static void spares_free(struct spares *spares)
{
	struct hwpmc_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &spares->list, node)
		hwpmc_thread_free(thread);
}

static int spares_fill(struct spares *spares)
{
	while (spares->missing) {
		struct hwpmc_thread *thread = hwpmc_thread_alloc(GFP_KERNEL);

		if (!thread)
			return -ENOMEM;
		list_add(&thread->node, &spares->list);
		spares->missing--;
	}
	return 0;
}

static void join_one_locked(struct hwpmc_target *target,
			    struct task_struct *task, struct spares *spares)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	if (thread && thread->target)
		return;
	if (!thread) {
		thread = list_first_entry_or_null(&spares->list,
						  struct hwpmc_thread, node);
		if (!thread) {
			spares->missing++;
			spares->others += task != current;
			return;
		}
		list_del(&thread->node);
	}
	hwpmc_thread_join_locked(thread, target, task);
	smp_mb();	/* B: pairs with hwpmc_lifecycle_exit() */
	if (task->flags & PF_EXITING) {
		hwpmc_thread_leave_locked(thread);
		hwpmc_thread_unhook_locked(thread);
	} else if (task == current) {
		hwpmc_thread_hook_locked(thread);
	}
}

/* Each thread once under the lock: interrupts are not off for long. */
static void join_pass(struct hwpmc_target *target, struct task_struct *leader,
		      struct spares *spares)
{
	struct task_struct *task;
	unsigned long flags;

	spares->missing = 0;
	spares->others = 0;
	rcu_read_lock();
	for_each_thread(leader, task) {
		if (task->flags & PF_EXITING)
			continue;
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
		join_one_locked(target, task, spares);
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	}
	rcu_read_unlock();
}

/* The target is published: from now on new threads join by themselves. */
static int join_threads(struct hwpmc_target *target, struct task_struct *leader)
{
	struct spares spares = { .list = LIST_HEAD_INIT(spares.list) };
	int ret = 0;

	smp_mb();	/* B: pairs with is_target() in lifecycle.c */
	for (;;) {
		join_pass(target, leader, &spares);
		if (!spares.missing)
			break;
		if (spares.others)
			ret = hwpmc_watch_switches();
		ret = ret ?: spares_fill(&spares);
		if (ret)
			break;
	}
	spares_free(&spares);
	return ret;
}

/* ---- one process --------------------------------------------------------- */

/* It lost its last link or its last thread: nothing of it is counted any more. */
static bool drop_if_empty_locked(struct hwpmc_target *target)
{
	u64 rows = target->rows;

	if (rows && target->nthreads)
		return false;
	for (; rows; rows &= rows - 1)
		hwpmc_unlink_locked(target, target->link[__ffs64(rows)].pmc);
	hwpmc_target_dismiss_locked(target);
	return true;
}

static int link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       struct hwpmc_hdr *hdr)
{
	struct hwpmc_pmc *old = target->link[pmc->row].pmc;

	if (old == pmc)
		return hwpmc_refuse(hdr, -EEXIST, HWPMC_WHY_ATTACHED,
				    pid_vnr(target->pid));
	if (old)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_TARGET_ROW,
				    pid_vnr(target->pid));
	hwpmc_link_locked(target, pmc, pmc->flags & HWPMC_F_EXEC_START);
	target->link[pmc->row].attach = pmc->attaches;
	target->attaching = true;
	return 0;
}

/* Find or publish the process's target, and link the PMC to it. */
static int link_process(struct hwpmc_pmc *pmc, struct task_struct *leader,
			struct hwpmc_target **found, struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target, *fresh;
	unsigned long flags;
	int ret;

	fresh = hwpmc_target_alloc(leader, GFP_KERNEL);
	if (!fresh)
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	if (!target) {
		target = fresh;
		fresh = NULL;
		hwpmc_target_insert_locked(target);
	}
	ret = link_locked(target, pmc, hdr);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_target_free(fresh);
	*found = target;
	return ret;
}

static int attach_process(struct hwpmc_pmc *pmc, struct task_struct *leader,
			  struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target;
	unsigned long flags;
	bool empty;
	int ret;

	ret = link_process(pmc, leader, &target, hdr);
	if (ret)
		return ret;
	ret = join_threads(target, leader);
	/*
	 * It may have gained rights by an exec since we looked, before there was
	 * a link that the exec could take away; then it shows now. B
	 */
	ret = ret ?: hwpmc_may_attach(pmc->owner, leader, hdr);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target->attaching = false;
	/* An exec that gained rights may have taken the link away already. */
	if (ret && target->link[pmc->row].pmc == pmc)
		hwpmc_unlink_locked(target, pmc);
	empty = drop_if_empty_locked(target);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	if (ret && ret != -EPERM)
		hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
	else if (!ret && empty)
		ret = hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING,
				   task_tgid_vnr(leader));
	if (empty) {
		hwpmc_switch_sync_all();
		hwpmc_target_free(target);
	}
	if (!ret)
		hwpmc_log_attached(pmc, task_tgid(leader));
	return ret;
}

/* ---- processes and their descendants ------------------------------------- */

/* All that the PMC is not attached to yet; *more: there were any. */
static int attach_new_descendants(struct hwpmc_pmc *pmc,
				  const struct hwpmc_descent *d, bool *more,
				  struct hwpmc_hdr *hdr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < d->n; i++) {
		if (hwpmc_attached_to(pmc, d->task[i]))
			continue;
		ret = hwpmc_may_attach(pmc->owner, d->task[i], hdr);
		ret = ret ?: attach_process(pmc, d->task[i], hdr);
		if (ret && ret != -EEXIST && ret != -ESRCH)
			return ret;
		*more |= !ret;
		cond_resched();
	}
	return 0;
}

/*
 * Once a process is attached its new children inherit; so when a pass finds
 * none that is not attached, there is none, and there will be none.
 */
static int attach_descendants(struct hwpmc_pmc *pmc,
			      struct task_struct *ancestor,
			      struct hwpmc_hdr *hdr)
{
	struct hwpmc_descent d;
	bool more;
	int ret;

	do {
		more = false;
		if (hwpmc_descent_get(&d, ancestor))
			return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY,
					    0);
		ret = attach_new_descendants(pmc, &d, &more, hdr);
		hwpmc_descent_put(&d);
	} while (!ret && more);
	return ret;
}

static void undo_attach(struct hwpmc_pmc *pmc);

static int attach_tree(struct hwpmc_pmc *pmc, struct task_struct *leader,
		       struct hwpmc_hdr *hdr)
{
	int ret;

	trace_hwpmc_pmc_attach(pmc, task_tgid(leader));
	pmc->attaches++;
	ret = hwpmc_may_attach(pmc->owner, leader, hdr);
	ret = ret ?: attach_process(pmc, leader, hdr);
	if (ret)
		return ret;
	if (pmc->flags & HWPMC_F_DESCENDANTS) {
		ret = attach_descendants(pmc, leader, hdr);
		/* All of them, or none. */
		if (ret) {
			undo_attach(pmc);
			return ret;
		}
	}
	*hdr = (struct hwpmc_hdr){};
	pmc->was_attached = true;
	if (task_tgid(leader) == pmc->owner->tgid)
		WRITE_ONCE(pmc->owner_attached, true);
	return 0;
}

int hwpmc_attach_task(struct hwpmc_pmc *pmc, struct task_struct *task,
		      struct hwpmc_hdr *hdr)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!atomic_read(&task->signal->live))
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, 0);
	return attach_tree(pmc, task->group_leader, hdr);
}

int hwpmc_attach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr)
{
	struct task_struct *leader;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_pmc_is_system(pmc))
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_SYSTEM_SCOPE, 0);
	if (pid >= 0 && pmc->rdpmc_mm)
		return hwpmc_refuse(hdr, -EPERM, HWPMC_WHY_MSR_TAKEN, pmc->id);
	if (pid >= 0 && pmc->state == HWPMC_STATE_RUNNING)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_RUNNING, 0);
	leader = hwpmc_process_find(pid, hdr, &ret);
	if (!leader)
		return ret;
	if (!atomic_read(&leader->signal->live))
		ret = hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, pid);
	else
		ret = attach_tree(pmc, leader, hdr);
	put_task_struct(leader);
	return ret;
}

int hwpmc_attach_owner(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	struct task_struct *leader;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	leader = get_pid_task(pmc->owner->tgid, PIDTYPE_TGID);
	if (!leader)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_PROCESS, 0);
	ret = attach_tree(pmc, leader, hdr);
	put_task_struct(leader);
	return ret;
}

bool hwpmc_attached_to(const struct hwpmc_pmc *pmc,
		       const struct task_struct *task)
{
	struct hwpmc_target *target;
	bool yes;

	rcu_read_lock();
	target = hwpmc_target_find(task);
	yes = target && READ_ONCE(target->link[pmc->row].pmc) == pmc;
	rcu_read_unlock();
	return yes;
}

/* ---- counting ------------------------------------------------------------ */

/* Is current the only thread that can have the PMC in flight? */
static bool only_current(const struct hwpmc_pmc *pmc)
{
	return READ_ONCE(pmc->nthreads) == 1 && hwpmc_attached_to(pmc, current);
}

static void sync_cpus(bool here_only)
{
	unsigned long flags;

	if (!here_only) {
		hwpmc_switch_sync_all();
		return;
	}
	local_irq_save(flags);
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
}

void hwpmc_targets_activate(struct hwpmc_pmc *pmc)
{
	u64 bit = BIT_ULL(pmc->row);
	struct hwpmc_link *link;
	unsigned long flags;
	bool here_only;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->counting = true;
	WRITE_ONCE(pmc->state, HWPMC_STATE_RUNNING);
	list_for_each_entry(link, &pmc->links, node) {
		/* What happened to its threads before it counted. */
		hwpmc_link_forget_migrations_locked(link);
		if (!(link->target->dormant & bit))
			WRITE_ONCE(link->target->active,
				   link->target->active | bit);
	}
	here_only = only_current(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	sync_cpus(here_only);
}

void hwpmc_targets_deactivate(struct hwpmc_pmc *pmc)
{
	u64 bit = BIT_ULL(pmc->row);
	struct hwpmc_link *link;
	unsigned long flags;
	bool here_only;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->counting = false;
	list_for_each_entry(link, &pmc->links, node) {
		hwpmc_link_take_migrations_locked(link);
		WRITE_ONCE(link->target->active, link->target->active & ~bit);
	}
	here_only = only_current(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	sync_cpus(here_only);
	/* Not before: a reader relies on RUNNING to look for slices in flight. */
	WRITE_ONCE(pmc->state, HWPMC_STATE_STOPPED);
}

void hwpmc_targets_take_migrations(struct hwpmc_pmc *pmc)
{
	struct hwpmc_link *link;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	list_for_each_entry(link, &pmc->links, node)
		hwpmc_link_take_migrations_locked(link);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

/* ---- detach -------------------------------------------------------------- */

static void take_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
			     struct list_head *gone)
{
	hwpmc_log_detached(pmc, target->pid);
	hwpmc_unlink_locked(target, pmc);
	if (!target->rows) {
		hwpmc_target_dismiss_locked(target);
		list_add(&target->threads, gone);
	}
}

/* All, or those of the last attach and of who inherited since. */
static void take_links(struct hwpmc_pmc *pmc, bool last, struct list_head *gone)
{
	struct hwpmc_link *link, *next;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	list_for_each_entry_safe(link, next, &pmc->links, node)
		if (!last || link->attach == pmc->attaches)
			take_link_locked(link->target, pmc, gone);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

static void take_link_of(struct hwpmc_pmc *pmc, struct task_struct *leader,
			 struct list_head *gone)
{
	struct hwpmc_target *target;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	if (target && target->link[pmc->row].pmc == pmc)
		take_link_locked(target, pmc, gone);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

static void free_targets(struct list_head *gone)
{
	struct hwpmc_target *target, *next;

	list_for_each_entry_safe(target, next, gone, threads)
		hwpmc_target_free(target);
}

static void detach_links(struct hwpmc_pmc *pmc, bool last)
{
	bool here_only = only_current(pmc);
	LIST_HEAD(gone);

	lockdep_assert_held(&hwpmc_lock);
	rcu_read_lock();
	take_links(pmc, last, &gone);
	rcu_read_unlock();
	sync_cpus(here_only);
	free_targets(&gone);
	hwpmc_unhooked_free();
}

void hwpmc_detach_all(struct hwpmc_pmc *pmc)
{
	detach_links(pmc, false);
}

static void undo_attach(struct hwpmc_pmc *pmc)
{
	detach_links(pmc, true);
}

/* A process, and those that descend from it. */
static void detach_these(struct hwpmc_pmc *pmc, struct task_struct *leader,
			 const struct hwpmc_descent *d)
{
	LIST_HEAD(gone);
	unsigned int i;

	take_link_of(pmc, leader, &gone);
	for (i = 0; i < d->n; i++)
		take_link_of(pmc, d->task[i], &gone);
	sync_cpus(false);
	free_targets(&gone);
	hwpmc_unhooked_free();
}

static int detach_one(struct hwpmc_pmc *pmc, struct task_struct *leader)
{
	struct hwpmc_target *target, *gone = NULL;
	unsigned long flags;
	bool mine;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	mine = target && target->link[pmc->row].pmc == pmc;
	if (mine) {
		hwpmc_unlink_locked(target, pmc);
		if (drop_if_empty_locked(target))
			gone = target;
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	if (!mine)
		return target ? -EINVAL : -ESRCH;
	hwpmc_log_detached(pmc, task_tgid(leader));
	sync_cpus(false);
	hwpmc_target_free(gone);
	hwpmc_unhooked_free();
	return 0;
}

int hwpmc_detach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr)
{
	struct hwpmc_descent d = {};
	struct task_struct *leader;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_pmc_is_system(pmc))
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_SYSTEM_SCOPE, 0);
	leader = hwpmc_process_find(pid, hdr, &ret);
	if (!leader)
		return ret;
	/* First what can fail. */
	if (pmc->flags & HWPMC_F_DESCENDANTS && hwpmc_descent_get(&d, leader)) {
		put_task_struct(leader);
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	}
	ret = detach_one(pmc, leader);
	if (!ret)
		hwpmc_rdpmc_revoke(pmc);
	if (ret == -EINVAL)
		hwpmc_refuse(hdr, ret, HWPMC_WHY_NOT_ATTACHED, pid);
	else if (ret)
		hwpmc_refuse(hdr, ret, HWPMC_WHY_NOT_TARGET, pid);
	else if (pmc->flags & HWPMC_F_DESCENDANTS)
		detach_these(pmc, leader, &d);
	hwpmc_descent_put(&d);
	put_task_struct(leader);
	return ret;
}
