// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * own.c - see own.h. Called from operations (hwpmc_lock) and from the exec and exit probes.
 */
#include <linux/pid.h>

#include "../core/owner.h"
#include "../base/refusal.h"
#include "own.h"
#include "target.h"

/* Targets of processes; hwpmc_targets_lock. */
static LIST_HEAD(empty);

static u64 owned_rows_locked(const struct hwpmc_target *process)
{
	u64 rows = 0;
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for (nr = 0; nr < hwpmc_nrows; nr++)
		if (process->link[nr].owned)
			rows |= BIT_ULL(nr);
	return rows;
}

u64 hwpmc_own_taken_rows_locked(const struct hwpmc_target *process,
				const struct hwpmc_thread *thread, bool alone)
{
	u64 rows = process ? process->rows : 0;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (process && !alone)
		rows |= owned_rows_locked(process);
	if (thread && thread->own)
		rows |= thread->own->rows;
	return rows;
}

/* The PMC that the thread has on a row, by its process or for itself; or NULL. */
static struct hwpmc_pmc *pmc_of_locked(const struct hwpmc_thread *thread, unsigned int row)
{
	struct hwpmc_pmc *pmc = thread->target->link[row].pmc;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (!pmc && thread->own)
		pmc = thread->own->link[row].pmc;
	return pmc;
}

static struct hwpmc_target *own_of_locked(struct hwpmc_thread *thread,
					  struct hwpmc_target **fresh)
{
	struct hwpmc_target *own = thread->own;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (own)
		return own;
	own = *fresh;
	*fresh = NULL;
	own->only = thread;
	own->process = thread->target;
	own->process->attaching++;
	own->nthreads = 1;
	/* After the fields: a switch reads them through this. */
	smp_store_release(&thread->own, own);
	return own;
}

int hwpmc_own_link_locked(struct hwpmc_thread *thread, struct hwpmc_pmc *pmc,
			  struct hwpmc_target **fresh, struct hwpmc_hdr *hdr)
{
	struct hwpmc_target *process = thread->target;
	struct hwpmc_pmc *old = pmc_of_locked(thread, pmc->row);
	u64 bit = BIT_ULL(pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (old == pmc)
		return hwpmc_refuse(hdr, -EEXIST, HWPMC_WHY_ATTACHED,
				    task_pid_vnr(thread->task));
	if (old)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_TARGET_ROW,
				    pid_vnr(old->owner->tgid));
	hwpmc_link_locked(own_of_locked(thread, fresh), pmc, NULL);
	process->link[pmc->row].owned++;
	WRITE_ONCE(process->active, process->active | bit);
	return 0;
}

void hwpmc_own_remove_locked(struct hwpmc_target *own)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	WRITE_ONCE(own->only->own, NULL);
	own->process->attaching--;
}

static bool is_empty_locked(const struct hwpmc_target *process)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	return !process->rows && !process->attaching && !process->removed;
}

void hwpmc_own_note_empty_locked(struct hwpmc_target *process)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (is_empty_locked(process) && list_empty(&process->empty_node))
		list_add(&process->empty_node, &empty);
}

static struct hwpmc_target *next_empty(void)
{
	struct hwpmc_target *process;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	while ((process = list_first_entry_or_null(&empty, struct hwpmc_target, empty_node))) {
		list_del_init(&process->empty_node);
		if (is_empty_locked(process)) {
			hwpmc_target_remove_locked(process);
			break;
		}
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return process;
}

void hwpmc_own_sweep(void)
{
	struct hwpmc_target *process;

	lockdep_assert_held(&hwpmc_lock);
	if (list_empty_careful(&empty))
		return;
	while ((process = next_empty()))
		hwpmc_target_release(process);
}
