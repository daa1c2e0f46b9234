// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * count.c - starts and stops a process-scope PMC: sets or clears the PMC's row in its
 * targets, then makes the CPUs follow. Process context, hwpmc_lock; switches, forks and
 * exits go on meanwhile.
 */
#include "../core/cpu.h"
#include "count.h"
#include "followers.h"
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
		hwpmc_switch_sync_followers();
		return;
	}
	local_irq_save(flags);
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
}

void hwpmc_targets_activate(struct hwpmc_pmc *pmc)
{
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
		hwpmc_link_activate_locked(link);
	}
	here_only = hwpmc_counts_only_current(pmc);
	if (!here_only)
		hwpmc_followers_pmc_locked(pmc);
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
	if (!here_only)
		hwpmc_followers_pmc_locked(pmc);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_count_sync(here_only);
	/*
	 * Only now: hwpmc_pmc_read() looks for slices in flight while the state is
	 * RUNNING.
	 */
	WRITE_ONCE(pmc->state, HWPMC_STATE_STOPPED);
}

/* The process's link to the PMC, or NULL. */
static struct hwpmc_link *link_find_locked(const struct hwpmc_pmc *pmc,
					   const struct task_struct *task)
{
	struct hwpmc_target *target = hwpmc_target_find(task);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!target || target->link[pmc->row].pmc != pmc)
		return NULL;
	return &target->link[pmc->row];
}

static void link_enable_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	u64 bit = BIT_ULL(link->pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!(target->disabled & bit))
		return;
	target->disabled &= ~bit;
	/* Migrations while it was disabled are not counted. */
	hwpmc_link_forget_migrations_locked(link);
	hwpmc_link_activate_locked(link);
}

static void link_disable_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	u64 bit = BIT_ULL(link->pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_link_take_migrations_locked(link);
	target->disabled |= bit;
	WRITE_ONCE(target->active, target->active & ~bit);
}

static void link_change(struct hwpmc_pmc *pmc, const struct task_struct *task,
			void (*change_locked)(struct hwpmc_link *))
{
	struct hwpmc_link *link;
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_followers_begin();
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	link = link_find_locked(pmc, task);
	if (link) {
		change_locked(link);
		hwpmc_followers_add_locked(link->target);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_switch_sync_followers();
}

void hwpmc_link_enable(struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	link_change(pmc, task, link_enable_locked);
}

void hwpmc_link_disable(struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	link_change(pmc, task, link_disable_locked);
}

void hwpmc_link_set_initial(struct hwpmc_pmc *pmc, const struct task_struct *task,
			    u64 value)
{
	struct hwpmc_link *link;
	unsigned long flags;

	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	link = link_find_locked(pmc, task);
	if (link)
		link->initial = value;
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
}

bool hwpmc_link_is_active(const struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	struct hwpmc_link *link;
	unsigned long flags;
	bool yes;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	link = link_find_locked(pmc, task);
	yes = link && link->target->active & BIT_ULL(pmc->row);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return yes;
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
