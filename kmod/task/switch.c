// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * switch.c - switch-in and switch-out of measured threads. This is the hot path:
 * in the steady state a slice costs one RDPMC per PMC at each end and no MSR
 * write, since a row is left counting with the select that it had last.
 *
 * Contexts: sched_out and the sched_switch probe come with interrupts off and the
 * run queue's lock held; sched_in with interrupts on and preemption off, so an
 * IPI can do its work first; the IPI may come at any time.
 */
#include <linux/sched.h>
#include <linux/smp.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "loaded_cpus.h"
#include "registry.h"
#include "slice.h"
#include "switch.h"

/* PMCs that a thread has of its own, and which of them count: read once for all rows, so that
 * the PMCs of a batch begin and end together. */
struct own {
	struct hwpmc_target *target;	/* NULL: none */
	u64 active;
};

static struct own own_of_irqoff(const struct hwpmc_cpu *c)
{
	struct own own = { .target = READ_ONCE(c->thread->own) };

	if (own.target)
		own.active = READ_ONCE(own.target->active);
	return own;
}

static struct hwpmc_pmc *own_pmc(const struct own *own, unsigned int nr)
{
	return own->active & BIT_ULL(nr) ? READ_ONCE(own->target->link[nr].pmc) : NULL;
}

/* Rows that are active without a link of the process: threads have PMCs of their own on them.
 * Returns those of `rows`. */
static noinline u64 load_own_rows_irqoff(struct hwpmc_cpu *c, const struct hwpmc_target *target,
					 u64 rows)
{
	struct own own = own_of_irqoff(c);
	struct hwpmc_pmc *pmc;
	unsigned int nr;
	u64 done = 0;

	for_each_row(nr, rows) {
		if (READ_ONCE(target->link[nr].pmc))
			continue;
		done |= BIT_ULL(nr);
		pmc = own_pmc(&own, nr);
		if (pmc)
			hwpmc_slice_begin_irqoff(c, nr, own.target, pmc);
		else
			c->loaded &= ~BIT_ULL(nr);
	}
	return done;
}

static void load_rows_irqoff(struct hwpmc_cpu *c, struct hwpmc_target *target,
			     u64 rows)
{
	c->loaded |= rows;
	while (rows) {
		unsigned long nr = __ffs64(rows);
		struct hwpmc_pmc *pmc = READ_ONCE(target->link[nr].pmc);

		if (unlikely(!pmc)) {
			rows &= ~load_own_rows_irqoff(c, target, rows);
			continue;
		}
		rows &= rows - 1;
		if (unlikely(pmc->slow_path))
			hwpmc_slice_begin_irqoff(c, nr, target, pmc);
		else
			hwpmc_cpu_load_irqoff(c, nr, pmc);
	}
}

static void unload_rows_irqoff(struct hwpmc_cpu *c, u64 rows)
{
	unsigned int nr;

	c->loaded &= ~rows;
	if (unlikely(c->slow_path & rows)) {
		u64 slow = c->slow_path & rows;

		for_each_row(nr, slow)
			hwpmc_slice_end_irqoff(c, nr);
		rows &= ~slow;
	}
	for_each_row(nr, rows)
		hwpmc_cpu_unload_fast_irqoff(c, nr);
}

void hwpmc_switch_out_irqoff(struct hwpmc_cpu *c)
{
	u64 rows = c->loaded;

	trace_hwpmc_csw_swo(rows);
	unload_rows_irqoff(c, rows);
	c->thread = NULL;
	hwpmc_slices_check_irqoff(c);
}

void hwpmc_switch_harvest_irqoff(struct hwpmc_cpu *c)
{
	unsigned int nr;

	for_each_row(nr, c->loaded)
		hwpmc_slice_harvest_irqoff(c, nr);
}

/* A dismissed thread removes its notifier, in its own switch. */
static void thread_reap_irqoff(struct hwpmc_thread *thread)
{
	raw_spin_lock(&hwpmc_targets_lock);
	/* A new attach may have revived it since the caller looked. */
	if (!thread->target)
		hwpmc_thread_unhook_locked(thread);
	raw_spin_unlock(&hwpmc_targets_lock);
}

static void switch_in_irqoff(struct hwpmc_cpu *c, struct hwpmc_thread *thread)
{
	struct hwpmc_target *target = READ_ONCE(thread->target);
	u64 rows;

	if (unlikely(!target)) {
		thread_reap_irqoff(thread);
		return;
	}
	c->thread = thread;
	rows = READ_ONCE(target->active);
	trace_hwpmc_csw_swi(rows);
	load_rows_irqoff(c, target, rows);
	hwpmc_slices_check_irqoff(c);
}

static void sched_in(struct preempt_notifier *notifier, int cpu)
{
	struct hwpmc_cpu *c;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(hwpmc_cpus);
	/* Otherwise an IPI has loaded the rows already. */
	if (likely(!c->thread))
		switch_in_irqoff(c, container_of(notifier, struct hwpmc_thread,
						 notifier));
	local_irq_restore(flags);
}

/*
 * The descriptor of a task that does not run, if its notifier is the first in the task's
 * list; it is nearly always the only one. NULL is always correct, only slower.
 */
static struct hwpmc_thread *thread_of_irqoff(struct task_struct *task)
{
	struct hlist_node *first = task->preempt_notifiers.first;
	struct preempt_notifier *notifier;

	if (!first)
		return NULL;
	notifier = hlist_entry(first, struct preempt_notifier, link);
	if (notifier->ops != &hwpmc_preempt_ops)
		return NULL;
	return container_of(notifier, struct hwpmc_thread, notifier);
}

/* Are the slices in flight, without a change, those of this thread as well? */
static bool serves_irqoff(struct hwpmc_cpu *c, struct hwpmc_thread *thread)
{
	struct hwpmc_target *target = READ_ONCE(thread->target);
	u64 rows = c->loaded;
	unsigned int nr;

	if (!target || READ_ONCE(target->active) != rows || c->slow_path)
		return false;
	if (c->thread && READ_ONCE(c->thread->target) == target)
		return true;
	for_each_row(nr, rows)
		if (READ_ONCE(target->link[nr].pmc) != c->row[nr].pmc)
			return false;
	return true;
}

/*
 * Between two threads that count for the same PMCs (threads of a process, a parent and
 * the children that inherit) no counter is read: the slices go on as the next thread's,
 * and include the switch. The next thread's sched_in() finds c->thread set and returns.
 */
static void sched_out(struct preempt_notifier *notifier,
		      struct task_struct *next)
{
	struct hwpmc_thread *thread =
		container_of(notifier, struct hwpmc_thread, notifier);
	struct hwpmc_thread *successor = thread_of_irqoff(next);
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);

	if (successor && c->thread == thread && serves_irqoff(c, successor))
		c->thread = successor;
	else
		hwpmc_switch_out_irqoff(c);
	if (unlikely(!READ_ONCE(thread->target)))
		thread_reap_irqoff(thread);
}

struct preempt_ops hwpmc_preempt_ops = {
	.sched_in = sched_in,
	.sched_out = sched_out,
};

/* Rows in flight whose PMC is not linked to the target, or the thread, any more, or not active. */
static u64 stale_rows_irqoff(struct hwpmc_cpu *c, struct hwpmc_target *target,
			     u64 active)
{
	struct own own = own_of_irqoff(c);
	unsigned int nr;
	u64 stale = 0;

	for_each_row(nr, c->loaded) {
		struct hwpmc_pmc *pmc = READ_ONCE(target->link[nr].pmc) ?: own_pmc(&own, nr);

		if (!(active & BIT_ULL(nr)) || pmc != hwpmc_slice_pmc(&c->row[nr]))
			stale |= BIT_ULL(nr);
	}
	return stale;
}

void hwpmc_switch_sync_irqoff(struct hwpmc_cpu *c)
{
	struct hwpmc_target *target = NULL;
	u64 active;

	if (!c->thread)
		c->thread = hwpmc_thread_find(current);
	if (c->thread)
		target = READ_ONCE(c->thread->target);
	if (!target) {
		hwpmc_switch_out_irqoff(c);
		return;
	}
	active = READ_ONCE(target->active);
	unload_rows_irqoff(c, stale_rows_irqoff(c, target, active));
	load_rows_irqoff(c, target, active & ~c->loaded);
	hwpmc_slices_check_irqoff(c);
}

static void sync_ipi(void *unused)
{
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
}

void hwpmc_switch_sync_followers(void)
{
	lockdep_assert_held(&hwpmc_lock);
	hwpmc_followers_call(sync_ipi, NULL);
}

/*
 * Adds what a counting PMC's slice has so far to its link. The slice goes on, without a
 * gap; from here on it is HWPMC_SLICE_LINKED or MAPPED.
 */
static void flush_slices_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;
	struct hwpmc_target *target;
	struct hwpmc_row_cpu *rc;

	if (c->row[pmc->row].pmc != pmc || hwpmc_pmc_samples(pmc))
		return;
	rc = hwpmc_cpu_harvest_irqoff(c, pmc->row);
	if (rc->kind != HWPMC_SLICE_COUNT) {
		hwpmc_pmc_record_slice_irqoff(rc, pmc);
	} else {
		target = READ_ONCE(c->thread->target);
		if (!target) {
			/* Dismissed: an IPI is about to do this. */
			unload_rows_irqoff(c, BIT_ULL(pmc->row));
			return;
		}
		c->slow_path |= BIT_ULL(pmc->row);
		rc->count.link = &target->link[pmc->row];
	}
	rc->count.counted = 0;
	rc->kind = hwpmc_slice_linked_kind(pmc);
	if (rc->kind == HWPMC_SLICE_MAPPED)
		hwpmc_userpage_renew_irqoff(c, pmc->row);
}

void hwpmc_switch_flush_slices(struct hwpmc_pmc *pmc)
{
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_followers_pmc_locked(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_followers_call(flush_slices_ipi, pmc);
}

static void harvest_elsewhere_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;
	struct hwpmc_row_cpu *rc = &c->row[pmc->row];

	if (rc->kind == HWPMC_SLICE_ELSEWHERE && rc->elsewhere.pmc == pmc)
		hwpmc_slice_harvest_elsewhere_irqoff(rc);
}

void hwpmc_switch_harvest_elsewhere(struct hwpmc_pmc *pmc)
{
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_followers_pmc_locked(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_followers_call(harvest_elsewhere_ipi, pmc);
}

/*
 * A thread that was attached while it ran or slept has no notifier yet. If an IPI has
 * loaded its rows, its switch-out is done here. Before it runs again it gets the
 * notifier: no other code accesses the list of a task that is about to be switched to.
 */
void hwpmc_switch_pending_irqoff(struct task_struct *prev,
				 struct task_struct *next)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_thread *thread = c->thread;

	if (thread && READ_ONCE(thread->state) == HWPMC_THREAD_PENDING)
		hwpmc_switch_out_irqoff(c);
	thread = hwpmc_thread_find(next);
	if (!thread || READ_ONCE(thread->state) != HWPMC_THREAD_PENDING)
		return;
	raw_spin_lock(&hwpmc_targets_lock);
	hwpmc_thread_hook_locked(thread);
	raw_spin_unlock(&hwpmc_targets_lock);
}
