// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * lifecycle.c - targets over fork, exec and exit. Called from tracepoint probes,
 * in the process concerned, with preemption off or on (it depends on the kernel):
 * nothing here sleeps.
 *
 * The unlocked lookups are paired with attach: it publishes a target and then
 * looks which threads there are; fork and exit change what threads there are and
 * then look for a target. With a full barrier between the two on each side one of
 * them sees the other. B: pairs with join_threads() in attach.c.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "../sampling/pmc_records.h"
#include "access.h"
#include "descent.h"
#include "lifecycle.h"
#include "rdpmc.h"
#include "switch.h"
#include "target.h"

#define GFP_PROBE	(GFP_ATOMIC | __GFP_NOWARN)

static bool is_target(const struct task_struct *task)
{
	bool yes;

	smp_mb();	/* B */
	rcu_read_lock();
	yes = hwpmc_target_find(task);
	rcu_read_unlock();
	return yes;
}

/* Events will be missing, and a read must say so. */
static void mark_incomplete_locked(struct hwpmc_target *target, u32 flag)
{
	u64 rows = target->rows;

	for (; rows; rows &= rows - 1) {
		struct hwpmc_pmc *pmc = target->link[__ffs64(rows)].pmc;

		if (!flag || pmc->flags & flag)
			WRITE_ONCE(pmc->incomplete, true);
	}
	hwpmc_stat_inc(threads_missed);
}

/* The child cannot run before the probe returns: its list is ours to edit. */
static void adopt_locked(struct hwpmc_target *target, struct task_struct *child,
			 struct hwpmc_thread **thread)
{
	struct hwpmc_thread *known = hwpmc_thread_find(child);

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
		adopt_locked(target, child, &thread);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_thread_free(thread);
}

static bool has_heritage_locked(const struct hwpmc_target *parent)
{
	u64 rows = parent->rows;

	for (; rows; rows &= rows - 1)
		if (parent->link[__ffs64(rows)].pmc->flags & HWPMC_F_DESCENDANTS)
			return true;
	return false;
}

static void inherit_locked(struct hwpmc_target *parent,
			   struct hwpmc_target *target)
{
	u64 rows = parent->rows;

	for (; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);
		struct hwpmc_pmc *pmc = parent->link[nr].pmc;

		if (!(pmc->flags & HWPMC_F_DESCENDANTS) || target->link[nr].pmc)
			continue;
		hwpmc_link_locked(target, pmc, parent->dormant & BIT_ULL(nr));
		target->link[nr].attach = parent->link[nr].attach;
	}
}

static void fork_locked(struct hwpmc_target *parent, struct task_struct *child,
			struct hwpmc_target **fresh, struct hwpmc_thread **thread)
{
	struct hwpmc_target *target = hwpmc_target_find(child);

	if (!has_heritage_locked(parent))
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
	adopt_locked(target, child, thread);
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
}

/* Owners one of whose PMCs has lost its last target: to be told, without locks. */
struct lost_targets {
	bool deferred;
	struct work_struct *lost;	/* of owners in the kernel */
	unsigned int n;
	struct pid *owner[HWPMC_ROW_MAX];
};

static void lost_targets_note_locked(struct lost_targets *b, const struct hwpmc_pmc *pmc)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!list_empty(&pmc->links))
		return;
	if (pmc->owner->kernel) {
		b->lost = pmc->owner->lost;
		return;
	}
	if (IS_ENABLED(CONFIG_PREEMPT_RT)) {
		WRITE_ONCE(pmc->owner->sigio_pending, true);
		b->deferred = true;
		return;
	}
	for (i = 0; i < b->n; i++)
		if (b->owner[i] == pmc->owner->tgid)
			return;
	b->owner[b->n++] = get_pid(pmc->owner->tgid);
}

/* On a real-time kernel signals take a lock that sleeps, and a probe may not. */
static void send_pending_sigio(struct hwpmc_owner *owner, void *unused)
{
	if (xchg(&owner->sigio_pending, false))
		hwpmc_sigio(owner->tgid);
}

static void send_all_pending_sigio(struct work_struct *unused)
{
	rcu_read_lock();
	hwpmc_owners_each_rcu(send_pending_sigio, NULL);
	rcu_read_unlock();
}

static DECLARE_WORK(sigio_work, send_all_pending_sigio);

void hwpmc_lifecycle_unload(void)
{
	cancel_work_sync(&sigio_work);
}

static void lost_targets_signal(struct lost_targets *b)
{
	if (b->deferred)
		schedule_work(&sigio_work);
	if (b->lost)
		schedule_work(b->lost);
	while (b->n) {
		hwpmc_sigio(b->owner[--b->n]);
		put_pid(b->owner[b->n]);
	}
}

/* A program with more rights than its owner's must not be watched by it. */
static void drop_foreign_locked(struct hwpmc_target *target,
				struct lost_targets *b)
{
	u64 rows = target->rows;

	for (; rows; rows &= rows - 1) {
		struct hwpmc_pmc *pmc = target->link[__ffs64(rows)].pmc;

		if (pmc->privileged)
			continue;
		hwpmc_unlink_locked(target, pmc);
		lost_targets_note_locked(b, pmc);
	}
}

/* What waited for an exec counts from here on. */
static void awake_locked(struct hwpmc_target *target)
{
	u64 rows = target->dormant;

	target->dormant = 0;
	for (; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);

		hwpmc_link_forget_migrations_locked(&target->link[nr]);
		if (target->link[nr].pmc->counting)
			WRITE_ONCE(target->active,
				   target->active | BIT_ULL(nr));
	}
}

void hwpmc_lifecycle_exec(const struct linux_binprm *bprm)
{
	struct hwpmc_target *target, *gone = NULL;
	struct lost_targets b = { .n = 0 };
	unsigned long flags;

	if (!is_target(current))
		return;
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	target = hwpmc_target_find(current);
	if (target) {
		trace_hwpmc_process_exec(target->pid);
		if (hwpmc_exec_gained(bprm))
			drop_foreign_locked(target, &b);
		awake_locked(target);
		if (!target->rows && !target->attaching) {
			hwpmc_target_dismiss_locked(target);
			gone = target;
		}
	}
	/* exec left a single thread in the group, and it is here. */
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	lost_targets_signal(&b);
	hwpmc_target_free(gone);
}

static void unlink_all_locked(struct hwpmc_target *target, struct lost_targets *b)
{
	u64 rows = target->rows;

	for (; rows; rows &= rows - 1) {
		struct hwpmc_pmc *pmc = target->link[__ffs64(rows)].pmc;

		hwpmc_unlink_locked(target, pmc);
		lost_targets_note_locked(b, pmc);
	}
}

/* Returns the target if this was its last thread. */
static struct hwpmc_target *bury_locked(struct hwpmc_thread *thread,
					struct lost_targets *b)
{
	struct hwpmc_target *target = thread->target;

	hwpmc_thread_leave_locked(thread);
	hwpmc_thread_unhook_locked(thread);
	/* While it is being attached, attach finds out itself. */
	if (!target || target->nthreads || target->attaching)
		return NULL;
	trace_hwpmc_process_exit(target->pid);
	hwpmc_pmc_record_exit_locked(target);
	hwpmc_descent_exit_locked(target);
	unlink_all_locked(target, b);
	hwpmc_target_dismiss_locked(target);
	return target;
}

void hwpmc_lifecycle_exit(void)
{
	struct hwpmc_target *gone = NULL;
	struct hwpmc_thread *thread;
	struct lost_targets b = { .n = 0 };
	struct hwpmc_cpu *c;
	unsigned long flags;

	smp_mb();	/* B */
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
		gone = bury_locked(thread, &b);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	lost_targets_signal(&b);
	hwpmc_unhooked_free();
	hwpmc_target_free(gone);
}
