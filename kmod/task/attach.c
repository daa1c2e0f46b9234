// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * attach.c - attaches a PMC to a process, its threads and its descendants. Process
 * context; hwpmc_lock is held throughout, so two attaches never run at the same time.
 * Switches, forks, execs and exits go on meanwhile. How a thread gets its notifier:
 * doc/decisions/attach.md.
 *
 * One process is attached in four phases, each of which refuses for itself:
 *
 *  link     The process's target is found or published, with a link to the PMC and
 *           .attaching set. From here on new threads join by themselves, and an exec
 *           that gains privileges removes the link.
 *  threads  Each thread that exists gets a descriptor. A target without threads stays
 *           in the hash while .attaching is set.
 *  access   The permission is checked a second time, because an exec before the link
 *           existed may have gained privileges.
 *  end      .attaching is cleared. After a refusal the link is removed. A target without
 *           links or threads (the process exited, or an exec removed the link) leaves
 *           the hash.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../core/owner.h"
#include "../debug/trace.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "attach.h"
#include "descent.h"
#include "followers.h"
#include "switch.h"
#include "target.h"
#include "watch.h"

/* ---- threads of a process ------------------------------------------------ */

/* Descriptors that are allocated before the walk over the threads, which cannot sleep. */
struct thread_pool {
	struct list_head list;		/* struct hwpmc_thread.node */
	unsigned int missing;		/* threads of the last walk that got none */
	unsigned int missing_others;	/* of .missing: not current */
};

static void pool_free(struct thread_pool *pool)
{
	struct hwpmc_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &pool->list, node)
		hwpmc_thread_free(thread);
}

static int pool_fill(struct thread_pool *pool, struct hwpmc_hdr *hdr)
{
	while (pool->missing) {
		struct hwpmc_thread *thread = hwpmc_thread_alloc(GFP_KERNEL);

		if (!thread)
			return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
		list_add(&thread->node, &pool->list);
		pool->missing--;
	}
	return 0;
}

static struct hwpmc_thread *pool_take(struct thread_pool *pool)
{
	struct hwpmc_thread *thread;

	thread = list_first_entry_or_null(&pool->list, struct hwpmc_thread, node);
	if (thread)
		list_del(&thread->node);
	return thread;
}

static void join_thread_locked(struct hwpmc_target *target,
			       struct task_struct *task, struct thread_pool *pool)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (thread && thread->target)
		return;
	if (!thread)
		thread = pool_take(pool);
	if (!thread) {
		pool->missing++;
		pool->missing_others += task != current;
		return;
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

/* The lock is taken once per thread, so that interrupts are not off for long. */
static void join_walk(struct hwpmc_target *target, struct task_struct *leader,
		      struct thread_pool *pool)
{
	struct task_struct *task;
	unsigned long flags;

	pool->missing = 0;
	pool->missing_others = 0;
	rcu_read_lock();
	for_each_thread(leader, task) {
		if (task->flags & PF_EXITING)
			continue;
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
		join_thread_locked(target, task, pool);
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	}
	rcu_read_unlock();
}

/* What the next walk needs: descriptors, and the probe that hooks pending threads. */
static int join_prepare(struct thread_pool *pool, struct hwpmc_hdr *hdr)
{
	int ret = pool->missing_others ? hwpmc_watch_switches() : 0;

	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
	return pool_fill(pool, hdr);
}

/* ---- phases of one process ----------------------------------------------- */

static int link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       struct hwpmc_hdr *hdr)
{
	struct hwpmc_pmc *old = target->link[pmc->row].pmc;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (old == pmc)
		return hwpmc_refuse(hdr, -EEXIST, HWPMC_WHY_ATTACHED,
				    pid_vnr(target->pid));
	/* Whose it is helps more than what the caller has asked for. */
	if (old)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_TARGET_ROW,
				    pid_vnr(old->owner->tgid));
	hwpmc_link_locked(target, pmc, NULL);
	target->attaching = pmc;
	return 0;
}

static int attach_link(struct hwpmc_pmc *pmc, struct task_struct *leader,
		       struct hwpmc_target **found, struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target, *fresh;
	unsigned long flags;
	int ret;

	fresh = hwpmc_target_alloc(leader, GFP_KERNEL);
	if (!fresh)
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	hwpmc_link_prepare(leader, pmc);
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

static int attach_threads(struct hwpmc_target *target, struct task_struct *leader,
			  struct hwpmc_hdr *hdr)
{
	struct thread_pool pool = { .list = LIST_HEAD_INIT(pool.list) };
	int ret;

	smp_mb();	/* B: pairs with is_target() in lifecycle.c */
	do {
		join_walk(target, leader, &pool);
		if (!pool.missing) {
			ret = 0;
			break;
		}
		ret = join_prepare(&pool, hdr);
	} while (!ret);
	pool_free(&pool);
	hwpmc_targets_grow();
	return ret;
}

/* Returns true where the target was dropped, because it has no links or no threads. */
static bool attach_end(struct hwpmc_pmc *pmc, struct hwpmc_target *target, bool refused)
{
	unsigned long flags;
	bool dropped;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_followers_begin();
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target->attaching = NULL;
	/* The process's exit, or an exec that gained privileges, may have removed the link
	 * already. */
	if (refused && target->link[pmc->row].pmc == pmc)
		hwpmc_unlink_locked(target, pmc);
	hwpmc_followers_add_locked(target);
	dropped = hwpmc_target_remove_if_empty_locked(target);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	if (dropped) {
		hwpmc_switch_sync_followers();
		hwpmc_target_release(target);
	}
	return dropped;
}

/*
 * B: an exec that did not see the link is seen here. Not of the leader that was found
 * first: if another thread has executed a program, that one is dead, and has the rights
 * of before.
 */
static int attach_access(struct hwpmc_pmc *pmc, const struct hwpmc_target *target,
			 struct hwpmc_hdr *hdr)
{
	struct task_struct *leader = get_pid_task(target->pid, PIDTYPE_TGID);
	int ret;

	if (!leader)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, 0);
	ret = hwpmc_may_attach(pmc->owner, leader, hdr);
	put_task_struct(leader);
	return ret;
}

static int attach_process(struct hwpmc_pmc *pmc, struct task_struct *leader,
			  struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target;
	bool dropped;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = attach_link(pmc, leader, &target, hdr);
	if (ret)
		return ret;
	ret = attach_threads(target, leader, hdr);
	ret = ret ?: attach_access(pmc, target, hdr);
	dropped = attach_end(pmc, target, ret);
	if (ret)
		return ret;
	if (dropped)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING,
				    task_tgid_vnr(leader));
	hwpmc_log_attached(pmc, task_tgid(leader));
	return 0;
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
		/* A process that exits, or has inherited the PMC meanwhile, is none. */
		if (ret && ret != -EEXIST && ret != -ESRCH)
			return ret;
		*more |= !ret;
		cond_resched();
	}
	return 0;
}

/*
 * The children that an attached process forks inherit the PMC. So when a pass finds no
 * descendant that is not attached, there is none, and there will be none.
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

/*
 * An exec of a target is judged by the rights of the caller that attached the PMC. Several
 * processes with different rights can share a descriptor, and all of them read what it
 * counts: so by the one that has the fewest rights. If none has the fewest, the PMC is taken
 * off each program that an exec gives more rights.
 */
static void remember_caller(struct hwpmc_pmc *pmc)
{
	const struct cred *cred = current_cred(), *old = pmc->cred;
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	if (old)
		cred = hwpmc_cred_fewer_rights(old, cred);
	if (cred == old || pmc->callers_differ)
		return;
	pmc->callers_differ = !cred;
	get_cred(cred);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->cred = cred;
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	put_cred(old);
}

static int attach_tree(struct hwpmc_pmc *pmc, struct task_struct *leader,
		       struct hwpmc_hdr *hdr)
{
	int ret;

	trace_hwpmc_pmc_attach(pmc, task_tgid(leader));
	pmc->attaches++;
	ret = hwpmc_may_attach(pmc->owner, leader, hdr);
	if (!ret)
		remember_caller(pmc);
	ret = ret ?: attach_process(pmc, leader, hdr);
	if (!ret && pmc->flags & HWPMC_F_DESCENDANTS)
		ret = attach_descendants(pmc, leader, hdr);
	if (ret) {
		/* The PMC is attached to all of them, or to none; also not to a child
		 * that has inherited a link which was refused afterwards. */
		if (pmc->flags & HWPMC_F_DESCENDANTS)
			hwpmc_detach_last_attach(pmc);
		return ret;
	}
	/* Without the reasons of descendants that were passed over. */
	*hdr = (struct hwpmc_hdr){};
	pmc->was_attached = true;
	if (task_tgid(leader) == pmc->owner->tgid)
		WRITE_ONCE(pmc->owner_attached, true);
	return 0;
}

/*
 * Not task->group_leader: an exec of another thread frees that leader, and a task that has
 * exited goes on to point to it. The pid lives as long as the process.
 */
static struct task_struct *leader_get(struct task_struct *task)
{
	struct task_struct *leader = NULL;

	rcu_read_lock();
	if (atomic_read(&task->signal->live))
		leader = get_pid_task(task_tgid(task), PIDTYPE_TGID);
	rcu_read_unlock();
	return leader;
}

int hwpmc_attach_task(struct hwpmc_pmc *pmc, struct task_struct *task,
		      struct hwpmc_hdr *hdr)
{
	struct task_struct *leader = leader_get(task);
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!leader)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, 0);
	trace_hwpmc_pmc_attach(pmc, task_tgid(leader));
	pmc->attaches++;
	ret = attach_process(pmc, leader, hdr);
	if (!ret)
		pmc->was_attached = true;
	put_task_struct(leader);
	return ret;
}

int hwpmc_attach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr)
{
	struct task_struct *leader;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_pmc_is_system(pmc))
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_SYSTEM_SCOPE, 0);
	if (pid >= 0 && pmc->rdpmc)
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
