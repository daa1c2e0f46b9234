// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * start_stop.c - starts and stops a process-scope PMC: sets or clears the PMC's row in its
 * targets, then makes the CPUs follow. Process context, hwpmc_lock; switches, forks and
 * exits go on meanwhile.
 */
#include "../core/cpu.h"
#include "../core/doubt.h"
#include "start_stop.h"
#include "loaded_cpus.h"
#include "migrations.h"
#include "switch.h"
#include "target.h"
#include "walk.h"

bool hwpmc_counts_only_current(const struct hwpmc_pmc *pmc)
{
	return READ_ONCE(pmc->process.nthreads) == 1 && hwpmc_attached_to(pmc, current);
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

/* PMCs, of an owner, that start or stop to count at one moment. */
struct change {
	struct hwpmc_pmc *const *pmcs;
	unsigned int n;
	bool counting;
};

static u64 rows_of_locked(const struct hwpmc_target *target, const struct change *ch)
{
	unsigned int i;
	u64 rows = 0;

	lockdep_assert_held(&hwpmc_targets_lock);
	for (i = 0; i < ch->n; i++)
		if (target->link[ch->pmcs[i]->row].pmc == ch->pmcs[i])
			rows |= BIT_ULL(ch->pmcs[i]->row);
	return rows;
}

/* With one store: a switch has all of the rows, or none. */
static void change_rows_locked(struct hwpmc_target *target, u64 rows, bool counting)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (counting)
		rows = target->active | (rows & ~(target->dormant | target->disabled));
	else
		rows = target->active & ~rows;
	WRITE_ONCE(target->active, rows);
}

/* Done already where the target was visited for another of the PMCs. */
static void change_target_locked(struct hwpmc_link *link, void *change)
{
	struct hwpmc_target *target = link->target;
	const struct change *ch = change;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!(target->active & BIT_ULL(link->pmc->row)) != !ch->counting)
		change_rows_locked(target, rows_of_locked(target, ch), ch->counting);
}

static void set_counting_locked(struct hwpmc_pmc *pmc, bool counting)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	pmc->process.counting = counting;
	/* STOPPED comes when the CPUs have followed: hwpmc_pmc_read() looks for slices in
	 * flight while it is RUNNING. */
	if (counting)
		WRITE_ONCE(pmc->state, HWPMC_STATE_RUNNING);
}

/* Links that a fork makes meanwhile are as .counting says. */
static void change_links(struct change *ch)
{
	unsigned long flags;
	unsigned int i;

	/* Migrations before the start are not counted, those before the stop are. */
	for (i = 0; i < ch->n; i++)
		if (ch->counting)
			hwpmc_pmc_forget_migrations(ch->pmcs[i]);
		else
			hwpmc_pmc_take_migrations(ch->pmcs[i]);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	for (i = 0; i < ch->n; i++)
		set_counting_locked(ch->pmcs[i], ch->counting);
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	rcu_read_lock();
	for (i = 0; i < ch->n; i++)
		hwpmc_walk_links(ch->pmcs[i], change_target_locked, ch);
	rcu_read_unlock();
}

/* Of current alone: each has one link, and all have the same target. */
static void change_here_locked(struct hwpmc_pmc *const *pmcs, unsigned int n,
			       bool counting)
{
	struct hwpmc_target *target = NULL;
	struct hwpmc_link *link;
	unsigned int i;
	u64 rows = 0;

	lockdep_assert_held(&hwpmc_targets_lock);
	for (i = 0; i < n; i++) {
		set_counting_locked(pmcs[i], counting);
		list_for_each_entry(link, &pmcs[i]->process.links, node) {
			if (counting)
				hwpmc_link_forget_migrations_locked(link);
			else
				hwpmc_link_take_migrations_locked(link);
			target = link->target;
			rows |= BIT_ULL(pmcs[i]->row);
		}
	}
	if (target)
		change_rows_locked(target, rows, counting);
}

/* No other thread can make it false: only current could get threads or children. */
static bool all_count_only_current(struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!hwpmc_counts_only_current(pmcs[i]))
			return false;
	return true;
}

static bool is_of_earlier_locked(const struct hwpmc_target *target,
				 struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_targets_lock);
	for (i = 0; i < n; i++)
		if (target->link[pmcs[i]->row].pmc == pmcs[i])
			return true;
	return false;
}

/* The targets of PMC i that none of the PMCs before it is attached to. */
static bool add_followers_locked(struct hwpmc_pmc *const *pmcs, unsigned int i)
{
	const struct hwpmc_link *link;

	lockdep_assert_held(&hwpmc_targets_lock);
	list_for_each_entry(link, &pmcs[i]->process.links, node)
		if (!is_of_earlier_locked(link->target, pmcs, i) &&
		    !hwpmc_followers_add_locked(link->target))
			return false;
	return true;
}

static void find_followers(struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	unsigned long flags;
	bool more = true;
	unsigned int i;

	hwpmc_followers_begin();
	for (i = 0; i < n && more; i++) {
		raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
		more = add_followers_locked(pmcs, i);
		raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	}
}

/* Other CPUs that have counted look when the PMC is read last, or is released. */
static void look_here_irqoff(struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int i;

	for (i = 0; i < n; i++)
		hwpmc_doubt_look_irqoff(c, pmcs[i]->row);
}

/* No switch comes between the first and the last. */
static void change_here(struct hwpmc_pmc *const *pmcs, unsigned int n, bool counting)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	change_here_locked(pmcs, n, counting);
	raw_spin_unlock(&hwpmc_targets_lock);
	hwpmc_count_sync(true);
	if (!counting)
		look_here_irqoff(pmcs, n);
	local_irq_restore(flags);
}

static noinline void change_elsewhere(struct hwpmc_pmc *const *pmcs, unsigned int n,
				      bool counting)
{
	struct change ch = { pmcs, n, counting };
	unsigned int i;

	change_links(&ch);
	find_followers(pmcs, n);
	hwpmc_count_sync(false);
	for (i = 0; !counting && i < n; i++)
		hwpmc_doubt_look(pmcs[i]);
}

static void change_all(struct hwpmc_pmc *const *pmcs, unsigned int n, bool counting)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	if (!n)
		return;
	if (all_count_only_current(pmcs, n))
		change_here(pmcs, n, counting);
	else
		change_elsewhere(pmcs, n, counting);
	for (i = 0; !counting && i < n; i++)
		hwpmc_doubt_end(pmcs[i]);
}

void hwpmc_targets_activate_all(struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	change_all(pmcs, n, true);
}

void hwpmc_targets_deactivate_all(struct hwpmc_pmc *const *pmcs, unsigned int n)
{
	change_all(pmcs, n, false);
}

void hwpmc_targets_activate(struct hwpmc_pmc *pmc)
{
	change_all(&pmc, 1, true);
}

void hwpmc_targets_deactivate(struct hwpmc_pmc *pmc)
{
	change_all(&pmc, 1, false);
}

static void forget_period_locked(struct hwpmc_thread *thread, void *arg)
{
	const struct hwpmc_pmc *pmc = arg;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (thread->target->link[pmc->row].pmc == pmc)
		memset(&thread->phase[pmc->row], 0, sizeof(thread->phase[0]));
}

void hwpmc_targets_forget_period(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	rcu_read_lock();
	hwpmc_walk_pmc_threads(pmc, forget_period_locked);
	rcu_read_unlock();
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
	hwpmc_link_activate_locked(link);
}

static void link_disable_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	u64 bit = BIT_ULL(link->pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
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
	/* Migrations while it was disabled are not counted. */
	hwpmc_pmc_forget_migrations(pmc);
	link_change(pmc, task, link_enable_locked);
}

void hwpmc_link_disable(struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	hwpmc_pmc_take_migrations(pmc);
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
