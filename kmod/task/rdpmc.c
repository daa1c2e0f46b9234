// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rdpmc.c - grants of RDPMC in user mode. The kernel sets CR4.PCE by address space, from
 * mm->context.perf_rdpmc_allowed, when a CPU loads an mm other than its last one. So a
 * grant is counted there, and every CPU is made to leave the mm once (rdpmc_cr4.c).
 *
 * Process context, hwpmc_lock.
 */
#include <linux/cpumask.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "rdpmc.h"
#include "rdpmc_cr4.h"
#include "rdpmc_switch.h"
#include "sched_hook.h"
#include "switch.h"

static int rdpmc_grant(struct hwpmc_pmc *pmc)
{
	struct hwpmc_rdpmc *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	int ret = r ? hwpmc_watch_rdpmc() : -ENOMEM;

	lockdep_assert_held(&hwpmc_lock);
	if (ret) {
		kfree(r);
		return ret;
	}
	mmgrab(current->mm);
	r->mm = current->mm;
	INIT_LIST_HEAD(&r->node);
	pmc->rdpmc = r;
	WRITE_ONCE(hwpmc_rdpmc_users, hwpmc_rdpmc_users + 1);
	/* Also when it was not 0: CPUs may not have followed that yet. */
	atomic_inc(&r->mm->context.perf_rdpmc_allowed);
	hwpmc_leave_begin(r);
	return 0;
}

/*
 * Until every CPU has left the mm, hwpmc_rdpmc_users counts the right: other programs'
 * counts are kept from those that still have one.
 */
void hwpmc_rdpmc_revoke(struct hwpmc_pmc *pmc)
{
	struct hwpmc_rdpmc *r = pmc->rdpmc;
	bool last;

	lockdep_assert_held(&hwpmc_lock);
	if (!r)
		return;
	pmc->rdpmc = NULL;
	pmc->slow_path &= ~HWPMC_SLOW_MAPPED;
	last = !atomic_dec_return(&r->mm->context.perf_rdpmc_allowed);
	/* The mm of a process that has exited is loaded by no program. */
	if (!hwpmc_leave_last(r, last && atomic_read(&r->mm->mm_users)))
		hwpmc_rdpmc_free(r);
}

static bool is_owners_alone(const struct hwpmc_pmc *pmc)
{
	return !hwpmc_pmc_is_system(pmc) &&
	       !(pmc->flags & HWPMC_F_DESCENDANTS) &&
	       list_is_singular(&pmc->process.links) && hwpmc_attached_to(pmc, current);
}

static void mark_slow_path(struct hwpmc_pmc *pmc, enum hwpmc_slow_reason reason)
{
	struct hwpmc_link *link;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->slow_path |= reason;
	list_for_each_entry(link, &pmc->process.links, node)
		WRITE_ONCE(link->target->slow_path,
			   link->target->slow_path | BIT_ULL(pmc->row));
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_switch_flush_slices(pmc);
}

/*
 * From here on the PMC's slices, in flight ones as well, are shown in threads' pages. A
 * page shows the count with the parts of all CPUs: first all slices become those of the
 * slow path, which add to none, so that the parts stay what they are.
 */
static void mark_user_mapped(struct hwpmc_pmc *pmc)
{
	if (pmc->slow_path & HWPMC_SLOW_MAPPED)
		return;
	mark_slow_path(pmc, HWPMC_SLOW_RDPMC);
	if (hwpmc_pmc_samples(pmc))
		return;
	pmc->parts = hwpmc_pmc_parts(pmc);
	mark_slow_path(pmc, HWPMC_SLOW_MAPPED);
}

int hwpmc_rdpmc_grant(struct hwpmc_pmc *pmc, u32 *index, struct hwpmc_hdr *hdr)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!is_owners_alone(pmc))
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_MSR_OWNER_ONLY, 0);
	/* A counter of some kinds of core has no index on the others. */
	if (hwpmc_rows[pmc->row].rdpmc < 0 || pmc->kinds)
		return hwpmc_refuse(hdr, -ENOSYS, HWPMC_WHY_NO_RDPMC, 0);
	*index = hwpmc_rows[pmc->row].rdpmc;
	if (!pmc->rdpmc && rdpmc_grant(pmc))
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 1);
	return 0;
}

int hwpmc_rdpmc_granted(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	lockdep_assert_held(&hwpmc_lock);
	/* Another thread has detached the PMC meanwhile. */
	if (!pmc->rdpmc)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_MSR_OWNER_ONLY, 0);
	if (!hwpmc_pce_is_set()) {
		hwpmc_rdpmc_revoke(pmc);
		return hwpmc_refuse(hdr, -ENOSYS, HWPMC_WHY_NO_RDPMC, 1);
	}
	mark_user_mapped(pmc);
	return 0;
}

/*
 * fork copies perf_rdpmc_allowed with the mm, but a grant is the parent's alone. The
 * copy may also be of a grant that was revoked while fork ran.
 */
void hwpmc_rdpmc_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	if (likely(!hwpmc_may_rdpmc(mm)) || mm == current->mm ||
	    !(hwpmc_classes_claimed() & hwpmc_classes_nmi))
		return;
	atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

static bool rdpmc_take_from(struct task_struct *leader)
{
	struct task_struct *task;
	struct mm_struct *mm;
	bool had = false;

	/* The leader can have exited before its threads: the first thread with an mm. */
	for_each_thread(leader, task) {
		task_lock(task);
		mm = task->mm;
		had = hwpmc_may_rdpmc(mm);
		if (had)
			atomic_set(&mm->context.perf_rdpmc_allowed, 0);
		task_unlock(task);
		if (mm)
			break;
	}
	return had;
}

/* CPUs on which nothing is left of perf's counting that the kernel would clear at a switch.
 * hwpmc_lock. */
static struct cpumask clean;

void hwpmc_rdpmc_take_all(bool perf_has_counted)
{
	struct task_struct *task;
	bool any = false;

	lockdep_assert_held(&hwpmc_lock);
	rcu_read_lock();
	for_each_process(task)
		if (!(task->flags & PF_KTHREAD))
			any |= rdpmc_take_from(task);
	rcu_read_unlock();
	/* If the administrator permits RDPMC to all, the kernel clears at any switch: once
	 * here, before something counts. */
	if (perf_has_counted)
		cpumask_clear(&clean);
	if (!any && (!hwpmc_pce_is_set() || cpumask_subset(cpu_online_mask, &clean)))
		return;
	/* Before the stop: a CPU that comes between the two is not clean. */
	cpumask_copy(&clean, cpu_online_mask);
	hwpmc_leave_all();
}
