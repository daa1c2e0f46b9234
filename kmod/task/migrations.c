// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * migrations.c - CPU_MIGRATION in process scope. A thread that is moved to another CPU
 * does not run at that moment; the event happens in another thread. So each descriptor
 * counts the thread's migrations; they are added to a row when the thread is switched in,
 * or to the PMC when it is read or stopped before that.
 */
#include <linux/sched.h>

#include "../core/cpu.h"
#include "../sampling/pmc_records.h"
#include "migrations.h"
#include "registry.h"
#include "target.h"
#include "walk.h"

void hwpmc_thread_migrated_irqoff(struct task_struct *task)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	/* The scheduler holds the task's pi_lock or its run queue's lock: one writer. */
	if (thread)
		WRITE_ONCE(thread->migrations, thread->migrations + 1);
}

/*
 * The migrations that no call has returned yet. Called where the row is loaded, on the
 * thread's CPU, and where the PMC is read, on any CPU; each migration is returned to one
 * of them. .migrations only grows, so .migrations_seen is never larger.
 */
static u32 thread_take_migrations(struct hwpmc_thread *thread, unsigned int ri)
{
	u32 seen = READ_ONCE(thread->migrations_seen[ri]), now, old;

	for (;;) {
		/* .migrations_seen is read first, so that the difference is not
		 * negative; pairs with the cmpxchg() of another caller. */
		smp_rmb();
		now = READ_ONCE(thread->migrations);
		if (likely(now == seen))
			return 0;
		old = cmpxchg(&thread->migrations_seen[ri], seen, now);
		if (likely(old == seen))
			return now - seen;
		seen = old;
	}
}

void hwpmc_thread_add_migrations_irqoff(struct hwpmc_thread *thread,
					unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	u32 n = thread_take_migrations(thread, row->ri);

	if (n)
		row->cls->ops->row.add_irqoff(row->cls, row->ri, n);
}

/*
 * The kernel also moves threads that sleep, and one may not run again while it is
 * measured. A sample needs a running thread, so sampling PMCs get theirs at switch-in.
 */
static bool takes_off_cpu(const struct hwpmc_pmc *pmc)
{
	return hwpmc_pmc_counts_off_cpu(pmc) && !hwpmc_pmc_samples(pmc);
}

static void take_of_thread_locked(struct hwpmc_thread *thread, void *arg)
{
	struct hwpmc_target *target = thread->target;
	struct hwpmc_pmc *pmc = arg;
	struct hwpmc_link *link = &target->link[pmc->row];
	u32 n;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (link->pmc != pmc || !(target->active & BIT_ULL(pmc->row)))
		return;
	n = thread_take_migrations(thread, hwpmc_rows[pmc->row].ri);
	if (!n)
		return;
	atomic64_add(n, &pmc->total);
	hwpmc_pmc_record_value_locked(link, thread->task, n);
}

void hwpmc_link_take_migrations_locked(struct hwpmc_link *link)
{
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!takes_off_cpu(link->pmc))
		return;
	list_for_each_entry(thread, &link->target->threads, node)
		take_of_thread_locked(thread, link->pmc);
}

void hwpmc_pmc_take_migrations(struct hwpmc_pmc *pmc)
{
	if (!takes_off_cpu(pmc))
		return;
	rcu_read_lock();
	hwpmc_walk_pmc_threads(pmc, take_of_thread_locked);
	rcu_read_unlock();
}

void hwpmc_thread_forget_migrations_locked(struct hwpmc_thread *thread,
					   const struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (hwpmc_pmc_counts_off_cpu(pmc))
		thread_take_migrations(thread, hwpmc_rows[pmc->row].ri);
}

void hwpmc_link_forget_migrations_locked(struct hwpmc_link *link)
{
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!hwpmc_pmc_counts_off_cpu(link->pmc))
		return;
	list_for_each_entry(thread, &link->target->threads, node)
		hwpmc_thread_forget_migrations_locked(thread, link->pmc);
}

/* Those that count already keep theirs. */
static void forget_of_thread_locked(struct hwpmc_thread *thread, void *arg)
{
	struct hwpmc_target *target = thread->target;
	struct hwpmc_pmc *pmc = arg;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (target->link[pmc->row].pmc == pmc && !(target->active & BIT_ULL(pmc->row)))
		hwpmc_thread_forget_migrations_locked(thread, pmc);
}

void hwpmc_pmc_forget_migrations(struct hwpmc_pmc *pmc)
{
	if (!hwpmc_pmc_counts_off_cpu(pmc))
		return;
	rcu_read_lock();
	hwpmc_walk_pmc_threads(pmc, forget_of_thread_locked);
	rcu_read_unlock();
}
