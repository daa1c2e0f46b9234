// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * attach.c - attaches a PMC to a process, its threads and its descendants. Process
 * context, hwpmc_lock. Switches, forks, execs and exits go on meanwhile. How a thread gets
 * its notifier: doc/decisions/attach.md.
 *
 * One process is attached in five phases, each of which refuses for itself:
 *
 *  pin      The process's target is found or published, and .attaching counts this attach:
 *           the target stays in the hash, also without links or threads.
 *  link     The target gets a link to the PMC, and the row's bit in .attaching_rows. From
 *           here on new threads join by themselves, and an exec that gains privileges
 *           removes the link.
 *  threads  Each thread that exists gets a descriptor, and the probe that hooks those that
 *           are pending is registered.
 *  access   The permission is checked a second time, because an exec before the link
 *           existed may have gained privileges.
 *  end      .attaching is decremented. After a refusal the link is removed. The last attach
 *           that goes on removes a target without links or threads (the process exited, or
 *           an exec removed the link) from the hash.
 *
 * A PMC of one thread (own.h) has no phases: its thread and its link are made in one step.
 *
 * If the process has many threads, hwpmc_lock is let go while something is done for each of
 * them: before "link", where they forget an earlier PMC of the row, and in "threads". Then
 * operations of other owners come between, on the same process too; the owner's own
 * wait, and what would release its PMCs (hwpmc_owner_pause()). So the PMC and its state
 * remain as they are, and of the link to it only an exec or an exit can dispose. Others
 * can attach to the process and detach from it: a thread's descriptor belongs to the target,
 * not to the attach that has made it.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../core/doubt.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "attach.h"
#include "descendants.h"
#include "loaded_cpus.h"
#include "own.h"
#include "readable.h"
#include "switch.h"
#include "target.h"
#include "sched_hook.h"

/* ---- threads of a process ------------------------------------------------ */

/* Descriptors that are allocated before the walk over the threads, which cannot sleep. */
struct thread_pool {
	struct list_head list;		/* struct hwpmc_thread.node */
	unsigned int missing;		/* threads of the last walk that got none */
	bool pending;			/* one of that walk is, also if another added it */
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
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static struct hwpmc_thread *attach_pool_take(struct thread_pool *pool)
{
	struct hwpmc_thread *thread;

	thread = list_first_entry_or_null(&pool->list, struct hwpmc_thread, node);
	if (thread)
		list_del(&thread->node);
	return thread;
}

/*
 * A descriptor for a thread that has none; NULL: it exits, or the pool is empty. Its exit
 * finds a descriptor that is in the hash, or is seen here. It has no target yet: no switch
 * and no IPI may load rows for one that is taken away again.
 */
static struct hwpmc_thread *new_thread_locked(struct task_struct *task,
					      struct thread_pool *pool)
{
	struct hwpmc_thread *thread = attach_pool_take(pool);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!thread) {
		pool->missing++;
		return NULL;
	}
	hwpmc_thread_publish_locked(thread, task);
	smp_mb();	/* B: pairs with hwpmc_lifecycle_exit() */
	if (!(task->flags & PF_EXITING))
		return thread;
	hwpmc_thread_unhook_locked(thread);
	return NULL;
}

static void join_thread_locked(struct hwpmc_target *target,
			       struct task_struct *task, struct thread_pool *pool)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!thread)
		thread = new_thread_locked(task, pool);
	if (!thread)
		return;
	if (!thread->target)
		hwpmc_thread_join_locked(thread, target, task);
	if (task == current)
		hwpmc_thread_hook_locked(thread);
	pool->pending |= thread->state == HWPMC_THREAD_PENDING;
}

/* The lock is taken once per thread, so that interrupts are not off for long. */
static void join_walk(struct hwpmc_target *target, struct task_struct *leader,
		      struct thread_pool *pool)
{
	struct task_struct *task;
	unsigned long flags;

	pool->missing = 0;
	pool->pending = false;
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

/* *pending: a thread of the process is, or was a moment ago. */
static int join_all(struct hwpmc_target *target, struct task_struct *leader,
		    bool *pending, struct hwpmc_hdr *hdr)
{
	struct thread_pool pool = { .list = LIST_HEAD_INIT(pool.list) };
	int ret = 0;

	smp_mb();	/* B: pairs with is_target() in lifecycle.c */
	join_walk(target, leader, &pool);
	while (!ret && pool.missing) {
		ret = pool_fill(&pool, hdr);
		if (!ret)
			join_walk(target, leader, &pool);
	}
	pool_free(&pool);
	*pending = pool.pending;
	hwpmc_targets_grow();
	return ret;
}

/* ---- phases of one process ----------------------------------------------- */

/* For more threads hwpmc_lock is let go. */
#define THREADS_AT_ONCE	64

static bool pause_for(struct hwpmc_pmc *pmc, struct task_struct *leader)
{
	bool many = get_nr_threads(leader) > THREADS_AT_ONCE && !pmc->owner->kernel;

	lockdep_assert_held(&hwpmc_lock);
	if (many)
		hwpmc_owner_pause(pmc->owner);
	return many;
}

static void resume_after(struct hwpmc_pmc *pmc, bool paused)
{
	if (paused)
		hwpmc_owner_resume(pmc->owner);
}

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
	if (target->link[pmc->row].owned)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_TARGET_ROW, 0);
	hwpmc_link_locked(target, pmc, NULL);
	target->attaching_rows |= BIT_ULL(pmc->row);
	return 0;
}

/* NULL: no memory. */
static struct hwpmc_target *attach_pin(struct task_struct *leader)
{
	struct hwpmc_target *target, *fresh;
	unsigned long flags;

	fresh = hwpmc_target_alloc(leader, GFP_KERNEL);
	if (!fresh)
		return NULL;
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	if (!target) {
		target = fresh;
		fresh = NULL;
		hwpmc_target_insert_locked(target);
	}
	target->attaching++;
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_target_free(fresh);
	return target;
}

/*
 * Threads that are known forget an earlier PMC of the row. While the lock is let go another
 * owner may come and leave: then they do so again.
 */
static void attach_prepare(struct hwpmc_pmc *pmc, struct task_struct *leader,
			   struct hwpmc_target *target)
{
	u32 unlinks = READ_ONCE(target->unlinks);
	bool paused = pause_for(pmc, leader);

	hwpmc_link_prepare(target, pmc);
	resume_after(pmc, paused);
	if (READ_ONCE(target->unlinks) != unlinks)
		hwpmc_link_prepare(target, pmc);
}

static int attach_link(struct hwpmc_pmc *pmc, struct hwpmc_target *target,
		       struct hwpmc_hdr *hdr)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	ret = link_locked(target, pmc, hdr);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return ret;
}

static int attach_threads(struct hwpmc_pmc *pmc, struct hwpmc_target *target,
			  struct task_struct *leader, struct hwpmc_hdr *hdr)
{
	bool paused = pause_for(pmc, leader), pending;
	int ret = join_all(target, leader, &pending, hdr);

	resume_after(pmc, paused);
	/*
	 * Only now: the work item that ends the probe does so when it sees no pending
	 * thread, and others may have added threads to the target. The PMC does not count
	 * yet, so no switch before this matters.
	 */
	if (!ret && pending && hwpmc_watch_switches())
		ret = hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	return ret;
}

/* Returns true where the PMC is not attached: it was refused, or the process has no thread
 * any more. */
static bool attach_end(struct hwpmc_pmc *pmc, struct hwpmc_target *target, bool linked,
		       bool refused)
{
	bool dropped, over;
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_followers_begin();
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target->attaching--;
	over = refused || !target->nthreads;
	/* The process's exit, or an exec that gained privileges, may have removed the link
	 * already. */
	if (linked && target->link[pmc->row].pmc == pmc) {
		target->attaching_rows &= ~BIT_ULL(pmc->row);
		if (over)
			hwpmc_unlink_locked(target, pmc);
	}
	hwpmc_followers_add_locked(target);
	dropped = hwpmc_target_remove_if_empty_locked(target);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	if (dropped) {
		hwpmc_switch_sync_followers();
		hwpmc_target_release(target);
	}
	return over || dropped;
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

/* The process may be reaped before the record is written: its number is held until then. */
static void record_attach(struct hwpmc_pmc *pmc, struct task_struct *task)
{
	struct pid *tgid = get_task_pid(task, PIDTYPE_TGID);

	lockdep_assert_held(&hwpmc_lock);
	if (tgid)
		hwpmc_record_attach(pmc, tgid);
	put_pid(tgid);
}

static int attach_process(struct hwpmc_pmc *pmc, struct task_struct *leader,
			  struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *target = attach_pin(leader);
	bool linked, over;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!target)
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	attach_prepare(pmc, leader, target);
	ret = attach_link(pmc, target, hdr);
	linked = !ret;
	ret = ret ?: attach_threads(pmc, target, leader, hdr);
	ret = ret ?: attach_access(pmc, target, hdr);
	if (!ret && pmc->owner->revoked)
		ret = hwpmc_refuse(hdr, -ENODEV, HWPMC_WHY_REVOKED, 0);
	over = attach_end(pmc, target, linked, ret);
	if (ret)
		return ret;
	if (over)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING,
				    task_tgid_vnr(leader));
	record_attach(pmc, leader);
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
		/* All processes of the machine are looked at. */
		hwpmc_owner_pause(pmc->owner);
		ret = hwpmc_descent_get(&d, ancestor);
		hwpmc_owner_resume(pmc->owner);
		if (ret)
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
	const struct cred *cred = current_cred(), *old = pmc->process.cred;
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	if (old)
		cred = hwpmc_cred_fewer_rights(old, cred);
	if (cred == old || pmc->process.callers_differ)
		return;
	pmc->process.callers_differ = !cred;
	get_cred(cred);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->process.cred = cred;
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	put_cred(old);
}

static int attach_tree(struct hwpmc_pmc *pmc, struct task_struct *leader,
		       struct hwpmc_hdr *hdr)
{
	int ret;

	trace_hwpmc_pmc_attach(pmc, task_tgid(leader));
	hwpmc_doubt_attach(pmc);
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
	pmc->process.was_attached = true;
	if (task_tgid(leader) == pmc->owner->tgid)
		WRITE_ONCE(pmc->process.owner_attached, true);
	return 0;
}

/* ---- one thread ------------------------------------------------------------ */

/* Descriptors that may be missing. */
struct own_parts {
	struct thread_pool pool;
	struct hwpmc_target *own;
};

/* A step of its own: no switch, exit or exec comes between the thread's descriptor and its
 * link. */
static int own_link_locked(struct hwpmc_pmc *pmc, struct hwpmc_target *process,
			   struct task_struct *task, struct own_parts *parts,
			   struct hwpmc_hdr *hdr)
{
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (task->flags & PF_EXITING)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, task_pid_vnr(task));
	join_thread_locked(process, task, &parts->pool);
	thread = hwpmc_thread_find(task);
	if (!thread || thread->target != process)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_EXITING, task_pid_vnr(task));
	return hwpmc_own_link_locked(thread, pmc, &parts->own, hdr);
}

static int own_link(struct hwpmc_pmc *pmc, struct hwpmc_target *process,
		    struct task_struct *task, bool *unhooked, struct hwpmc_hdr *hdr)
{
	struct own_parts parts = { .pool = { .list = LIST_HEAD_INIT(parts.pool.list),
					     .missing = 1 } };
	unsigned long flags;
	int ret = pool_fill(&parts.pool, hdr);

	parts.own = ret ? NULL : hwpmc_target_alloc(task, GFP_KERNEL);
	if (!ret && !parts.own)
		ret = hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	if (!ret) {
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
		ret = own_link_locked(pmc, process, task, &parts, hdr);
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	}
	pool_free(&parts.pool);
	hwpmc_target_free(parts.own);
	hwpmc_unhooked_free();
	hwpmc_targets_grow();
	*unhooked = parts.pool.pending;
	return ret;
}

/*
 * The process's target is pinned as for an attach of the process. The permission is that of
 * the thread, and checked again when it has the link: an exec that it made in between can have
 * gained privileges.
 */
static int attach_thread(struct hwpmc_pmc *pmc, struct task_struct *task, struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *process;
	bool unhooked;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	trace_hwpmc_pmc_attach(pmc, task_tgid(task));
	hwpmc_doubt_attach(pmc);
	ret = hwpmc_may_attach(pmc->owner, task, hdr);
	if (ret)
		return ret;
	remember_caller(pmc);
	process = attach_pin(task);
	if (!process)
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = own_link(pmc, process, task, &unhooked, hdr);
	if (!ret) {
		smp_mb();	/* B: an exec that did not see the link is seen here */
		ret = hwpmc_may_attach(pmc->owner, task, hdr);
		if (!ret && unhooked && hwpmc_watch_switches())
			ret = hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
		if (ret)
			hwpmc_detach_thread(pmc, task, false);
	}
	attach_end(pmc, process, false, ret);
	if (ret)
		return ret;
	record_attach(pmc, task);
	pmc->process.was_attached = true;
	return 0;
}

static int attach_by_tid(struct hwpmc_pmc *pmc, pid_t tid, struct hwpmc_hdr *hdr)
{
	struct task_struct *task;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	task = hwpmc_task_find(tid, hdr, &ret);
	if (!task)
		return ret;
	ret = attach_thread(pmc, task, hdr);
	put_task_struct(task);
	return ret;
}

u64 hwpmc_attach_taken_rows_of_thread(struct hwpmc_owner *owner, pid_t tid)
{
	struct hwpmc_hdr hdr = {};
	struct task_struct *task;
	unsigned long flags;
	u64 rows = 0;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	task = hwpmc_task_find(tid, &hdr, &ret);
	if (!task)
		return 0;
	if (!hwpmc_may_attach(owner, task, &hdr)) {
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
		rows = hwpmc_own_taken_rows_locked(hwpmc_target_find(task),
						   hwpmc_thread_find(task), true);
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	}
	put_task_struct(task);
	return rows;
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
	hwpmc_doubt_attach(pmc);
	ret = attach_process(pmc, leader, hdr);
	if (!ret)
		pmc->process.was_attached = true;
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
	if (pmc->flags & HWPMC_F_THREAD)
		return attach_by_tid(pmc, pid, hdr);
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

static u64 rows_of(const struct task_struct *leader)
{
	struct hwpmc_target *target;
	unsigned long flags;
	u64 rows;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(leader);
	rows = hwpmc_own_taken_rows_locked(target, NULL, false);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return rows;
}

u64 hwpmc_attach_taken_rows(struct hwpmc_owner *owner, pid_t pid)
{
	struct hwpmc_hdr hdr = {};
	struct task_struct *leader;
	u64 rows = 0;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	leader = hwpmc_process_find(pid, &hdr, &ret);
	if (!leader)
		return 0;
	if (!hwpmc_may_attach(owner, leader, &hdr))
		rows = rows_of(leader);
	put_task_struct(leader);
	return rows;
}

int hwpmc_attach_owner(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	struct task_struct *leader;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (pmc->flags & HWPMC_F_THREAD)
		return attach_thread(pmc, current, hdr);
	leader = get_pid_task(pmc->owner->tgid, PIDTYPE_TGID);
	if (!leader)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_PROCESS, 0);
	ret = attach_tree(pmc, leader, hdr);
	put_task_struct(leader);
	return ret;
}
