// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * owner.c - the list of owners, and the PMCs of each. Process context, hwpmc_lock;
 * lookups also under RCU; hwpmc_owner_exec() is called in the exec probe.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "owner.h"
#include "work.h"

LIST_HEAD(hwpmc_owners);

/* Owners whose descriptor is closed, until their last reference goes. */
static LIST_HEAD(closed);
static DEFINE_SPINLOCK(closed_lock);

/* Closed owners whose logs still end. Each has a thread, for as long as its reader takes. */
static unsigned int count_closed(kuid_t uid)
{
	struct hwpmc_owner *owner;
	unsigned int n = 0;

	spin_lock(&closed_lock);
	list_for_each_entry(owner, &closed, closed_node)
		n += uid_eq(owner->uid, uid) && atomic_read(&owner->unfinished);
	spin_unlock(&closed_lock);
	return n;
}

void hwpmc_owner_leave(struct hwpmc_owner *owner)
{
	lockdep_assert_held(&hwpmc_lock);
	list_del_rcu(&owner->node);
	spin_lock(&closed_lock);
	list_add(&owner->closed_node, &closed);
	spin_unlock(&closed_lock);
}

/* A bound, because each exec and each mmap() of the machine walks the list. */
static int check_owners_of(kuid_t uid)
{
	unsigned int n = 0, most = READ_ONCE(hwpmc_maxowners);
	struct hwpmc_owner *owner;

	lockdep_assert_held(&hwpmc_lock);
	if (perfmon_capable())
		return 0;
	list_for_each_entry(owner, &hwpmc_owners, node)
		n += !owner->kernel && uid_eq(owner->uid, uid);
	n += count_closed(uid);
	return n < most ? 0 : -EMFILE;
}

int hwpmc_owner_join(struct hwpmc_owner *owner)
{
	int ret = mutex_lock_killable(&hwpmc_lock);

	if (ret)
		return ret;
	ret = owner->kernel ? 0 : check_owners_of(owner->uid);
	if (!ret)
		list_add_rcu(&owner->node, &hwpmc_owners);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

int hwpmc_owner_lock(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	int ret;

	for (;;) {
		ret = mutex_lock_killable(&hwpmc_lock);
		if (ret)
			return ret;
		/* It may have been revoked while the caller waited for the lock. */
		if (unlikely(owner->revoked)) {
			mutex_unlock(&hwpmc_lock);
			return hwpmc_refuse(hdr, -ENODEV, HWPMC_WHY_REVOKED, 0);
		}
		if (likely(!owner->paused))
			return 0;
		mutex_unlock(&hwpmc_lock);
		if (wait_event_killable(owner->resumed, !READ_ONCE(owner->paused)))
			return -EINTR;
	}
}

void hwpmc_owner_settle(struct hwpmc_owner *owner)
{
	lockdep_assert_held(&hwpmc_lock);
	while (owner->paused) {
		mutex_unlock(&hwpmc_lock);
		wait_event(owner->resumed, !READ_ONCE(owner->paused));
		mutex_lock(&hwpmc_lock);
	}
}

/* Dense, so that the array has few levels: 16,384 places on 256 CPUs. */
static unsigned long system_index(unsigned int cpu, unsigned int row)
{
	return (unsigned long)cpu * HWPMC_ROW_MAX + row;
}

struct hwpmc_pmc *hwpmc_owner_find(struct hwpmc_owner *owner, u32 id)
{
	struct hwpmc_pmc *pmc;

	if (HWPMC_ID_ROW(id) >= hwpmc_nrows)
		return NULL;
	if (!hwpmc_mode_is_system(HWPMC_ID_MODE(id)))
		return hwpmc_owner_find_process(owner, id);
	pmc = xa_load(&owner->system,
		      system_index(HWPMC_ID_CPU(id), HWPMC_ID_ROW(id)));
	return pmc && pmc->id == id ? pmc : NULL;
}

bool hwpmc_owner_holds(struct hwpmc_owner *owner, unsigned int row, u32 mode,
		       u32 cpu)
{
	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_mode_is_system(mode))
		return xa_load(&owner->system, system_index(cpu, row));
	return owner->nsystem[row] ||
	       rcu_dereference_protected(owner->by_row[row],
					 lockdep_is_held(&hwpmc_lock));
}

int hwpmc_owner_check_samples(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_pmc *pmc;
	int ret = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(pmc, &owner->pmcs, owner_node)
		if (!ret && hwpmc_pmc_needs_log(pmc))
			ret = hwpmc_pmc_check_value(pmc, hdr);
	rcu_read_unlock();
	return ret;
}

static int add_system(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc)
{
	unsigned long index = system_index(pmc->cpu, pmc->row);
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = xa_err(xa_store(&owner->system, index, pmc, GFP_KERNEL_ACCOUNT));
	if (ret)
		return ret;
	owner->nsystem[pmc->row]++;
	if (hwpmc_pmc_samples(pmc))
		owner->samples_system = ++owner->nsampling;
	return 0;
}

int hwpmc_owner_add(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc)
{
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	pmc->owner = owner;
	if (hwpmc_pmc_is_system(pmc))
		ret = add_system(owner, pmc);
	else
		rcu_assign_pointer(owner->by_row[pmc->row], pmc);
	if (!ret)
		list_add_tail_rcu(&pmc->owner_node, &owner->pmcs);
	return ret;
}

static void remove_system(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	xa_erase(&owner->system, system_index(pmc->cpu, pmc->row));
	owner->nsystem[pmc->row]--;
	if (hwpmc_pmc_samples(pmc))
		owner->samples_system = --owner->nsampling;
}

void hwpmc_owner_remove(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	list_del_rcu(&pmc->owner_node);
	if (hwpmc_pmc_is_system(pmc))
		remove_system(pmc->owner, pmc);
	else
		RCU_INIT_POINTER(pmc->owner->by_row[pmc->row], NULL);
}

void hwpmc_owners_each_rcu(void (*fn)(struct hwpmc_owner *, void *), void *arg)
{
	struct hwpmc_owner *owner;

	list_for_each_entry_rcu(owner, &hwpmc_owners, node)
		fn(owner, arg);
}

/* One for all owners: a process may have many, and each exec marks all of them. */
static struct work_struct executed;

void hwpmc_owner_exec(void)
{
	struct pid *tgid = task_tgid(current);
	struct hwpmc_owner *owner;
	struct hwpmc_pmc *pmc;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(owner, &hwpmc_owners, node) {
		if (owner->tgid != tgid)
			continue;
		trace_hwpmc_owner_exec(tgid);
		/* Nothing is allocated meanwhile: exec has ended the other threads. */
		if (list_empty(&owner->pmcs) && !READ_ONCE(owner->log) &&
		    !READ_ONCE(owner->tables))
			continue;
		/* Only the PMCs of now: the new program may allocate others by
		 * an inherited descriptor before the work runs. */
		list_for_each_entry_rcu(pmc, &owner->pmcs, owner_node)
			WRITE_ONCE(pmc->doomed, true);
		WRITE_ONCE(owner->executed, true);
		any = true;
	}
	rcu_read_unlock();
	if (any)
		hwpmc_work(&executed);
}

void hwpmc_owner_pause(struct hwpmc_owner *owner)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(owner->paused, true);
	mutex_unlock(&hwpmc_lock);
}

void hwpmc_owner_resume(struct hwpmc_owner *owner)
{
	mutex_lock(&hwpmc_lock);
	WRITE_ONCE(owner->paused, false);
	wake_up_all(&owner->resumed);
	/* The work item has passed it over. */
	if (READ_ONCE(owner->executed))
		hwpmc_work(&executed);
}

void hwpmc_owner_exec_init(work_func_t fn)
{
	INIT_WORK(&executed, fn);
}

void hwpmc_owner_exec_exit(void)
{
	cancel_work_sync(&executed);
}

static void owner_free_rcu(struct rcu_head *rcu)
{
	struct hwpmc_owner *owner = container_of(rcu, struct hwpmc_owner, rcu);

	put_pid_ns(owner->pid_ns);
	put_pid(owner->tgid);
	kfree(owner);
}

void hwpmc_owner_put(struct hwpmc_owner *owner)
{
	if (!refcount_dec_and_test(&owner->users))
		return;
	spin_lock(&closed_lock);
	list_del(&owner->closed_node);
	spin_unlock(&closed_lock);
	call_rcu(&owner->rcu, owner_free_rcu);
}
