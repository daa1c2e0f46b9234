// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * lifecycle.c - targets across fork, exec and exit. Called from tracepoint probes in
 * the process concerned, with preemption off or (7.x) on: nothing here sleeps.
 *
 * Barrier B orders the lookups without lock against attach.c. Attach publishes a target
 * and then walks the threads; fork, exec and exit change a thread or its credentials and
 * then look for a target. With a full barrier between the two on each side at least one
 * of them sees the other.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "../core/stats.h"
#include "../core/work.h"
#include "../debug/trace.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "descendants.h"
#include "lifecycle.h"
#include "migrations.h"
#include "own.h"
#include "rdpmc.h"
#include "switch.h"
#include "target.h"
#include "userpage.h"

#define GFP_PROBE	(GFP_ATOMIC | __GFP_NOWARN)

static bool is_target(const struct task_struct *task)
{
	bool yes;

	smp_mb();	/* B: pairs with attach_threads() in attach.c */
	rcu_read_lock();
	yes = hwpmc_target_find(task);
	rcu_read_unlock();
	return yes;
}

/* No memory to follow a thread: its events will be missing, and a read of the PMC says
 * so. flag: only PMCs with this one; 0: all. */
static void mark_incomplete_locked(struct hwpmc_target *target, u32 flag)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->rows) {
		struct hwpmc_pmc *pmc = target->link[nr].pmc;

		if (!flag || pmc->flags & flag)
			WRITE_ONCE(pmc->process.incomplete, true);
	}
	hwpmc_stat_inc(threads_missed);
}

/* The child does not run before the probe returns, so nothing else accesses its list of
 * notifiers. *thread: a new descriptor or NULL; NULL afterwards if it was used. */
static void adopt_child_locked(struct hwpmc_target *target, struct task_struct *child,
			       struct hwpmc_thread **thread)
{
	struct hwpmc_thread *known = hwpmc_thread_find(child);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!known && !*thread) {
		mark_incomplete_locked(target, 0);
		return;
	}
	if (!known) {
		known = *thread;
		*thread = NULL;
		hwpmc_thread_join_locked(known, target, child);
	}
	hwpmc_thread_hook_locked(known);
}

void hwpmc_lifecycle_newthread(struct task_struct *child)
{
	struct hwpmc_thread *thread;
	struct hwpmc_target *target;
	unsigned long flags;

	if (!is_target(child))
		return;
	thread = hwpmc_thread_alloc(GFP_PROBE);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(child);
	if (target) {
		hwpmc_userpage_shared_irqoff();
		adopt_child_locked(target, child, &thread);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_thread_free(thread);
	hwpmc_targets_grow();
}

static bool has_inheritable_locked(const struct hwpmc_target *parent)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, parent->rows)
		if (parent->link[nr].pmc->flags & HWPMC_F_DESCENDANTS)
			return true;
	return false;
}

static void inherit_locked(struct hwpmc_target *parent,
			   struct hwpmc_target *target)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, parent->rows) {
		struct hwpmc_pmc *pmc = parent->link[nr].pmc;

		if (!(pmc->flags & HWPMC_F_DESCENDANTS) || target->link[nr].pmc == pmc)
			continue;
		/* Another PMC was attached to the child as soon as it could be found. */
		if (target->link[nr].pmc || target->link[nr].owned) {
			WRITE_ONCE(pmc->process.incomplete, true);
			continue;
		}
		hwpmc_link_locked(target, pmc, &parent->link[nr]);
	}
}

static void fork_locked(struct hwpmc_target *parent, struct task_struct *child,
			struct hwpmc_target **fresh, struct hwpmc_thread **thread)
{
	struct hwpmc_target *target = hwpmc_target_find(child);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!has_inheritable_locked(parent))
		return;
	if (!target && (!*fresh || !*thread)) {
		mark_incomplete_locked(parent, HWPMC_F_DESCENDANTS);
		return;
	}
	if (!target) {
		target = *fresh;
		*fresh = NULL;
		hwpmc_target_insert_locked(target);
	}
	trace_hwpmc_process_fork(target->pid);
	inherit_locked(parent, target);
	adopt_child_locked(target, child, thread);
}

void hwpmc_lifecycle_newprocess(struct task_struct *child)
{
	struct hwpmc_target *parent, *fresh;
	struct hwpmc_thread *thread;
	unsigned long flags;

	if (!is_target(current))
		return;
	fresh = hwpmc_target_alloc(child, GFP_PROBE);
	thread = hwpmc_thread_alloc(GFP_PROBE);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	parent = hwpmc_target_find(current);
	if (parent)
		fork_locked(parent, child, &fresh, &thread);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_target_free(fresh);
	hwpmc_thread_free(thread);
	hwpmc_targets_grow();
}

/*
 * Losses: a PMC has lost its last target by an exec or an exit, and its owner gets SIGIO
 * (an owner in the kernel: its work item). That cannot be done under
 * hwpmc_targets_lock, and the owner may be gone after it. So a loss is counted in its
 * owner under the lock, and afterwards all owners are searched under RCU for losses that
 * are not signalled yet. When losses_signal() returns, each loss of its caller is
 * signalled, by itself or by another CPU that has found it.
 */
static bool loss_note_locked(const struct hwpmc_pmc *pmc)
{
	struct hwpmc_owner *owner = pmc->owner;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!list_empty(&pmc->process.links))
		return false;
	WRITE_ONCE(owner->losses, owner->losses + 1);
	return true;
}

static void owner_signal_losses(struct hwpmc_owner *owner, void *unused)
{
	u32 losses = READ_ONCE(owner->losses);
	u32 signalled = READ_ONCE(owner->losses_signalled), seen;

	if (likely((s32)(losses - signalled) <= 0))
		return;
	if (owner->kernel)
		hwpmc_work(owner->lost);
	else
		hwpmc_sigio(owner);
	/* After the signal, and never backwards: others may have signalled more. */
	while ((s32)(losses - signalled) > 0) {
		seen = cmpxchg(&owner->losses_signalled, signalled, losses);
		if (seen == signalled)
			break;
		signalled = seen;
	}
}

static void losses_work_fn(struct work_struct *unused)
{
	rcu_read_lock();
	hwpmc_owners_each_rcu(owner_signal_losses, NULL);
	rcu_read_unlock();
}

static DECLARE_WORK(losses_work, losses_work_fn);

/* A real-time kernel's signals take a lock that sleeps, which a probe must not do. */
static void losses_signal(bool any)
{
	if (!any)
		return;
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hwpmc_work(&losses_work);
	else
		losses_work_fn(NULL);
}

void hwpmc_lifecycle_unload(void)
{
	cancel_work_sync(&losses_work);
}

/*
 * If the program has more privileges than the owner of a PMC, an owner without
 * CAP_PERFMON must not measure it. Returns true where a PMC has lost its last target.
 */
static bool unlink_unprivileged_locked(struct hwpmc_target *target,
				       const struct linux_binprm *bprm)
{
	bool lost = false;
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->rows) {
		struct hwpmc_pmc *pmc = target->link[nr].pmc;

		if (pmc->privileged || !hwpmc_exec_gained(bprm, pmc->process.cred))
			continue;
		hwpmc_link_take_migrations_locked(&target->link[pmc->row]);
		/* Before a read can take another thread for the only one that counts. */
		hwpmc_switch_out_irqoff(this_cpu_ptr(hwpmc_cpus));
		hwpmc_unlink_locked(target, pmc);
		lost |= loss_note_locked(pmc);
	}
	return lost;
}

/* The same for the PMCs that the thread has for itself. Returns its target if it has no link
 * any more. */
static struct hwpmc_target *unlink_own_locked(const struct linux_binprm *bprm, bool *lost)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(current);
	struct hwpmc_target *own = thread ? thread->own : NULL;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!own)
		return NULL;
	*lost |= unlink_unprivileged_locked(own, bprm);
	if (own->rows)
		return NULL;
	hwpmc_own_remove_locked(own);
	return own;
}

/* Links that are dormant until an exec count from here on. */
static void wake_dormant_locked(struct hwpmc_target *target)
{
	u64 rows = target->dormant;
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	target->dormant = 0;
	for_each_row(nr, rows) {
		hwpmc_link_forget_migrations_locked(&target->link[nr]);
		hwpmc_link_activate_locked(&target->link[nr]);
	}
}

void hwpmc_lifecycle_exec(const struct linux_binprm *bprm)
{
	struct hwpmc_target *target, *own = NULL, *dropped = NULL;
	unsigned long flags;
	bool lost = false;

	if (!is_target(current))
		return;
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(current);
	if (target) {
		trace_hwpmc_process_exec(target->pid);
		lost = unlink_unprivileged_locked(target, bprm);
		own = unlink_own_locked(bprm, &lost);
		wake_dormant_locked(target);
		if (!target->rows && !target->attaching) {
			hwpmc_target_dismiss_locked(target);
			dropped = target;
		}
	}
	/* exec has left a single thread in the group, the current one. */
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	losses_signal(lost);
	hwpmc_target_free(own);
	hwpmc_target_free(dropped);
}

static bool unlink_all_locked(struct hwpmc_target *target)
{
	bool lost = false;
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->rows) {
		struct hwpmc_pmc *pmc = target->link[nr].pmc;

		hwpmc_unlink_locked(target, pmc);
		lost |= loss_note_locked(pmc);
	}
	return lost;
}

/* All threads that are measured have exited. While the process is being attached others
 * may be alive that have no descriptor yet; and a target that an operation has removed is
 * released by that. */
static bool has_exited_locked(const struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	return !target->nthreads && !target->removed &&
	       !(target->attaching && atomic_read(&current->signal->live));
}

/* Of PMCs whose attach will be refused, this is no exit. */
static void unlink_attaching_locked(struct hwpmc_target *target)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->attaching_rows)
		hwpmc_unlink_locked(target, target->link[nr].pmc);
}

/* Returns the target if this was its last thread; *lost: a PMC's last target. */
static struct hwpmc_target *exit_thread_locked(struct hwpmc_thread *thread, bool *lost)
{
	struct hwpmc_target *target = thread->target;

	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_thread_leave_locked(thread);
	hwpmc_thread_unhook_locked(thread);
	if (!target || !has_exited_locked(target))
		return NULL;
	/* Threads without a descriptor may live on. */
	if (!atomic_read(&current->signal->live))
		trace_hwpmc_process_exit(target->pid);
	unlink_attaching_locked(target);
	hwpmc_pmc_record_exit_locked(target);
	hwpmc_descent_exit_locked(target);
	*lost |= unlink_all_locked(target);
	if (target->attaching)	/* the last attach_end() drops it */
		return NULL;
	hwpmc_target_dismiss_locked(target);
	return target;
}

/* Its own PMCs, if it has any, have lost their target; it is returned. */
static struct hwpmc_target *exit_own_locked(struct hwpmc_thread *thread, bool *lost)
{
	struct hwpmc_target *own = thread->own;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!own)
		return NULL;
	*lost |= unlink_all_locked(own);
	hwpmc_own_remove_locked(own);
	return own;
}

void hwpmc_lifecycle_exit(void)
{
	struct hwpmc_target *own = NULL, *dropped = NULL;
	struct hwpmc_thread *thread;
	struct hwpmc_cpu *c;
	unsigned long flags;
	bool lost = false;

	smp_mb();	/* B: pairs with join_thread_locked() in attach.c */
	rcu_read_lock();
	thread = hwpmc_thread_find(current);
	rcu_read_unlock();
	if (!thread)
		return;
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	c = this_cpu_ptr(hwpmc_cpus);
	thread = hwpmc_thread_find(current);
	if (thread) {
		if (c->thread == thread)
			hwpmc_switch_out_irqoff(c);
		own = exit_own_locked(thread, &lost);
		dropped = exit_thread_locked(thread, &lost);
		if (own && !dropped)
			hwpmc_own_note_empty_locked(own->process);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	losses_signal(lost);
	hwpmc_unhooked_free();
	hwpmc_target_free(own);
	hwpmc_target_free(dropped);
}
