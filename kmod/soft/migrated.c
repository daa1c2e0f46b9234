// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * migrated.c - CPU_MIGRATION in process scope: a thread that is moved to another
 * CPU does not run at that moment, and whoever moves it is not it. So the thread
 * remembers how often it was moved, and its rows are told when it is switched in.
 */
#include <linux/sched.h>

#include "../core/cpu.h"
#include "../virt/target.h"
#include "soft.h"

void hwpmc_soft_migrated_irqoff(struct task_struct *task)
{
	struct hwpmc_thread *thread = hwpmc_thread_find(task);

	/* Whoever moves it holds its lock: one at a time. */
	if (thread)
		WRITE_ONCE(thread->moved, thread->moved + 1);
}

void hwpmc_thread_tell_moved_irqoff(struct hwpmc_thread *thread,
				    unsigned int nr)
{
	unsigned int ri = hwpmc_rows[nr].ri;
	u32 moved = READ_ONCE(thread->moved);
	u32 n = moved - thread->moved_told[ri];

	thread->moved_told[ri] = moved;
	hwpmc_soft_row_irqoff(ri, n);
}

void hwpmc_thread_forget_moved_locked(struct hwpmc_thread *thread,
				      const struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (pmc->of_thread)
		WRITE_ONCE(thread->moved_told[hwpmc_rows[pmc->row].ri],
			   READ_ONCE(thread->moved));
}
