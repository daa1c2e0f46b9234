// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * owner.c - owners and what they hold. Process context, under hwpmc_lock;
 * lookups also under RCU, and hwpmc_owner_exec() from the exec probe.
 */
#include <linux/capability.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "owner.h"

static LIST_HEAD(owners);	/* hwpmc_lock, RCU */

static void release_pmcs(struct hwpmc_owner *owner, bool doomed_only)
{
	struct hwpmc_pmc *pmc, *next;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry_safe(pmc, next, &owner->pmcs, owner_node)
		if (!doomed_only || READ_ONCE(pmc->doomed))
			hwpmc_pmc_release(pmc);
}

static void drop_work(struct work_struct *work)
{
	struct hwpmc_owner *owner =
		container_of(work, struct hwpmc_owner, drop);

	mutex_lock(&hwpmc_lock);
	release_pmcs(owner, true);
	mutex_unlock(&hwpmc_lock);
}

struct hwpmc_owner *hwpmc_owner_new(void)
{
	struct hwpmc_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	owner->tgid = get_pid(task_tgid(current));
	owner->privileged = perfmon_capable();
	INIT_LIST_HEAD(&owner->pmcs);
	INIT_WORK(&owner->drop, drop_work);
	mutex_lock(&hwpmc_lock);
	list_add_rcu(&owner->node, &owners);
	mutex_unlock(&hwpmc_lock);
	return owner;
}

void hwpmc_owner_end(struct hwpmc_owner *owner)
{
	mutex_lock(&hwpmc_lock);
	list_del_rcu(&owner->node);
	release_pmcs(owner, false);
	mutex_unlock(&hwpmc_lock);
	/* After this no exec probe can find it and queue the work again. */
	synchronize_rcu();
	cancel_work_sync(&owner->drop);
	put_pid(owner->tgid);
	kfree(owner);
}

struct hwpmc_pmc *hwpmc_owner_find(struct hwpmc_owner *owner, u32 id)
{
	struct hwpmc_pmc *pmc;

	if (HWPMC_ID_ROW(id) >= hwpmc_nrows)
		return NULL;
	if (!hwpmc_mode_is_system(HWPMC_ID_MODE(id)))
		return hwpmc_owner_find_process(owner, id);
	list_for_each_entry_rcu(pmc, &owner->pmcs, owner_node,
				lockdep_is_held(&hwpmc_lock))
		if (pmc->id == id)
			return pmc;
	return NULL;
}

bool hwpmc_owner_holds(struct hwpmc_owner *owner, unsigned int row, u32 mode,
		       u32 cpu)
{
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(pmc, &owner->pmcs, owner_node)
		if (pmc->row == row &&
		    (!hwpmc_mode_is_system(mode) || pmc->cpu == cpu))
			return true;
	return false;
}

void hwpmc_owner_add(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	pmc->owner = owner;
	list_add_tail_rcu(&pmc->owner_node, &owner->pmcs);
	if (!hwpmc_pmc_is_system(pmc))
		rcu_assign_pointer(owner->by_row[pmc->row], pmc);
}

void hwpmc_owner_remove(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	list_del_rcu(&pmc->owner_node);
	if (!hwpmc_pmc_is_system(pmc))
		RCU_INIT_POINTER(pmc->owner->by_row[pmc->row], NULL);
}

void hwpmc_owner_exec(void)
{
	struct pid *tgid = task_tgid(current);
	struct hwpmc_owner *owner;
	struct hwpmc_pmc *pmc;

	rcu_read_lock();
	list_for_each_entry_rcu(owner, &owners, node) {
		if (owner->tgid != tgid)
			continue;
		/* What the new program allocates by an inherited descriptor
		 * before the work runs is its own. */
		list_for_each_entry_rcu(pmc, &owner->pmcs, owner_node)
			WRITE_ONCE(pmc->doomed, true);
		schedule_work(&owner->drop);
	}
	rcu_read_unlock();
}
