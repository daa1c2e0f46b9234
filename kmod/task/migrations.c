// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * migrations.c - CPU_MIGRATION in process scope: a thread that is moved to another
 * CPU does not run at that moment, and whoever moves it is not it. So the thread
 * remembers how often it was moved, and its rows are told when it is switched in; or
 * the PMC, when it is read or stopped before that.
 */
#include <linux/sched.h>

#include "../core/cpu.h"
#include "../sampling/pmc_records.h"
#include "target.h"

void hwpmc_thread_migrated_irqoff(struct task_struct *task)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	/* Whoever moves it holds its lock: one at a time. */
	if (thread)
		WRITE_ONCE(thread->migrations, thread->migrations + 1);
}

/*
 * How often since the last of those who took it: whoever loads the row, where the
 * thread runs, and whoever reads the PMC, anywhere. What one takes another does not
 * find; .migrations only grows, so what was told is never more than it.
 */
static u32 thread_take_migrations(struct hwpmc_thread *thread, unsigned int ri)
{
	u32 told = READ_ONCE(thread->migrations_seen[ri]), moved, seen;

	for (;;) {
		/* Told before moved, so that the difference is not < 0; pairs with
		 * the cmpxchg() of another taker. */
		smp_rmb();
		moved = READ_ONCE(thread->migrations);
		if (likely(moved == told))
			return 0;
		seen = cmpxchg(&thread->migrations_seen[ri], told, moved);
		if (likely(seen == told))
			return moved - told;
		told = seen;
	}
}

void hwpmc_thread_add_migrations_irqoff(struct hwpmc_thread *thread,
					unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	u32 n = thread_take_migrations(thread, row->ri);

	if (n)
		row->cls->ops->add_irqoff(row->cls, row->ri, n);
}

/*
 * The kernel moves threads that sleep as well, and one may never run again while it
 * is measured. Samples are of threads that run, so those wait until it does.
 */
void hwpmc_link_take_migrations_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	struct hwpmc_pmc *pmc = link->pmc;
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!pmc->counts_off_cpu || hwpmc_pmc_samples(pmc) ||
	    !(target->active & BIT_ULL(pmc->row)))
		return;
	list_for_each_entry(thread, &target->threads, node) {
		u32 n = thread_take_migrations(thread, hwpmc_rows[pmc->row].ri);

		if (!n)
			continue;
		atomic64_add(n, &pmc->total);
		hwpmc_pmc_record_value_locked(link, thread->task, n);
	}
}

void hwpmc_thread_forget_migrations_locked(struct hwpmc_thread *thread,
					   const struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (pmc->counts_off_cpu)
		thread_take_migrations(thread, hwpmc_rows[pmc->row].ri);
}

void hwpmc_link_forget_migrations_locked(struct hwpmc_link *link)
{
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!link->pmc->counts_off_cpu)
		return;
	list_for_each_entry(thread, &link->target->threads, node)
		hwpmc_thread_forget_migrations_locked(thread, link->pmc);
}
