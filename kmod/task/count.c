// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * count.c - starts and stops a process-scope PMC: sets or clears the PMC's row in its
 * targets, then makes the CPUs follow. Process context, hwpmc_lock; switches, forks and
 * exits go on meanwhile.
 */
#include "../core/cpu.h"
#include "count.h"
#include "switch.h"
#include "target.h"

bool hwpmc_counts_only_current(const struct hwpmc_pmc *pmc)
{
	return READ_ONCE(pmc->nthreads) == 1 && hwpmc_attached_to(pmc, current);
}

void hwpmc_count_sync(bool here_only)
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
		/* Migrations before the start are not counted. */
		hwpmc_link_forget_migrations_locked(link);
		if (!(link->target->dormant & bit))
			WRITE_ONCE(link->target->active,
				   link->target->active | bit);
	}
	here_only = hwpmc_counts_only_current(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_count_sync(here_only);
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
	here_only = hwpmc_counts_only_current(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_count_sync(here_only);
	/*
	 * Only now: hwpmc_pmc_read() looks for slices in flight while the state is
	 * RUNNING.
	 */
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
