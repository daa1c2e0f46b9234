// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rdpmc.c - grants of RDPMC in user mode. The kernel sets CR4.PCE by address space, from
 * mm->context.perf_rdpmc_allowed, when a CPU loads an mm other than its last one. So a
 * grant is counted there, and every CPU is made to leave the mm once (leave.c).
 *
 * RDPMC reads any counter. So, while there are grants, the sched_switch probe removes
 * other programs' counts before a program with a grant runs: counters without a user
 * are stopped and cleared; system-scope counting is harvested and begins again at 0;
 * system-scope sampling begins a period of random length, which on average gives as many
 * samples as before. Counters of system scope that the processor hides from user mode
 * (perfmon 6) count on untouched.
 *
 * Grants: process context, hwpmc_lock. Switches: interrupts off.
 */
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <asm/processor-flags.h>
#include <asm/special_insns.h>

#include "../compat/irq_work.h"
#include "../core/cpu.h"
#include "../core/owner.h"
#include "../sampling/sample.h"
#include "leave.h"
#include "rdpmc.h"
#include "switch.h"
#include "system.h"
#include "watch.h"

unsigned int hwpmc_rdpmc_users;

/* By CPU, touched there with interrupts off: has the kernel cleared the counters that
 * perf has left? */
struct rdpmc_cpu {
	unsigned long claim;	/* yes, in this claim generation */
	struct irq_work resume;
};

static DEFINE_PER_CPU(struct rdpmc_cpu, rdpmc_cpus);

static bool may_rdpmc(struct mm_struct *mm)
{
	return mm && atomic_read(&mm->context.perf_rdpmc_allowed);
}

/* ---- what may be seen ---------------------------------------------------- */

static void clear_row_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	if (c->row[nr].shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	row->cls->ops->write_nmi(row->cls, row->ri, 0);
}

/* A random start: the rest of a period shows what others have counted since a sample. */
static void randomize_phase(struct hwpmc_pmc *pmc)
{
	u64 period = hwpmc_pmc_period(pmc, &pmc->phase);

	/* Not secret: it only has to be independent of what others have counted. */
	pmc->phase.left = 1 + (rdtsc() * 0x9e3779b97f4a7c15ull >> 11) % period;
}

static void clear_system_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];

	if (hwpmc_pmc_samples(pmc)) {
		hwpmc_sample_unload_irqoff(c, pmc->row);
		randomize_phase(pmc);
		hwpmc_sample_load_irqoff(c, pmc->row, pmc, &pmc->phase);
		return;
	}
	hwpmc_pmc_harvest_irqoff(pmc);
	row->cls->ops->write_nmi(row->cls, row->ri, 0);
	pmc->start = 0;
}

static void clear_dirty_irqoff(struct hwpmc_cpu *c)
{
	u64 rows = c->dirty & hwpmc_rows_nmi;
	struct hwpmc_pmc *pmc;

	/* All of them are written. */
	c->noted &= ~rows;
	list_for_each_entry(pmc, &c->sys, sys_node) {
		if (!pmc->in_flight || !(rows & BIT_ULL(pmc->row)))
			continue;
		if (!pmc->hidden)
			clear_system_irqoff(c, pmc);
		rows &= ~BIT_ULL(pmc->row);
	}
	for (; rows; rows &= rows - 1) {
		clear_row_irqoff(c, __ffs64(rows));
		c->dirty &= ~BIT_ULL(__ffs64(rows));
	}
}

/* The administrator can disable RDPMC for all (sysfs attribute rdpmc). */
static bool pce_is_set(void)
{
	return native_read_cr4() & X86_CR4_PCE;
}

/* The switch is over; if the new mm has a grant, the kernel has cleared the counters. */
static void rdpmc_resume(struct irq_work *work)
{
	struct rdpmc_cpu *v = container_of(work, struct rdpmc_cpu, resume);
	unsigned long flags;

	local_irq_save(flags);
	if (pce_is_set())
		v->claim = READ_ONCE(hwpmc_claim_generation);
	hwpmc_system_resume_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
}

/*
 * The first time that a CPU loads an mm with a grant, the kernel clears the counters
 * that perf has left, and ours with them. So, once per claim and CPU, system scope is
 * paused from here until interrupts are on again, before the program runs. It does not
 * count the rest of the switch.
 */
static void pause_irqoff(struct hwpmc_cpu *c)
{
	struct rdpmc_cpu *v = this_cpu_ptr(&rdpmc_cpus);
	struct hwpmc_pmc *pmc;

	if (likely(v->claim == READ_ONCE(hwpmc_claim_generation)) ||
	    !hwpmc_system_pause_irqoff(c, hwpmc_rows_nmi))
		return;
	list_for_each_entry(pmc, &c->sys, sys_node)
		if (!pmc->in_flight && hwpmc_pmc_samples(pmc))
			randomize_phase(pmc);
	irq_work_queue(&v->resume);
}

/* Initialised at run time: pointers in a module's static per-CPU data are not relocated. */
void hwpmc_rdpmc_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(rdpmc_cpus, cpu).resume = IRQ_WORK_INIT_HARD(rdpmc_resume);
}

void hwpmc_rdpmc_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&rdpmc_cpus, cpu)->resume);
}

void hwpmc_rdpmc_switch_irqoff(struct task_struct *next)
{
	struct hwpmc_cpu *c;

	if (!may_rdpmc(next->mm))
		return;
	c = this_cpu_ptr(hwpmc_cpus);
	if (!(c->on & hwpmc_classes_nmi))
		return;
	/* The thread that is switched out runs no more user code. */
	hwpmc_switch_out_irqoff(c);
	pause_irqoff(c);
	clear_dirty_irqoff(c);
}

/* ---- grants -------------------------------------------------------------- */

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

void hwpmc_rdpmc_free(struct hwpmc_rdpmc *r)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(hwpmc_rdpmc_users, hwpmc_rdpmc_users - 1);
	if (!hwpmc_rdpmc_users)
		hwpmc_unwatch_rdpmc();
	mmdrop(r->mm);
	kfree(r);
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
	pmc->user_mapped = false;
	last = !atomic_dec_return(&r->mm->context.perf_rdpmc_allowed);
	/* The mm of a process that has exited is loaded by no program. */
	if (!hwpmc_leave_last(r, last && atomic_read(&r->mm->mm_users)))
		hwpmc_rdpmc_free(r);
}

static bool is_owners_alone(const struct hwpmc_pmc *pmc)
{
	return !hwpmc_pmc_is_system(pmc) &&
	       !(pmc->flags & HWPMC_F_DESCENDANTS) &&
	       list_is_singular(&pmc->links) && hwpmc_attached_to(pmc, current);
}

static void mark_slow_path(struct hwpmc_pmc *pmc, bool user_mapped)
{
	struct hwpmc_link *link;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	pmc->user_mapped = user_mapped;
	pmc->slow_path = true;
	list_for_each_entry(link, &pmc->links, node)
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
	if (pmc->user_mapped)
		return;
	mark_slow_path(pmc, false);
	if (hwpmc_pmc_samples(pmc))
		return;
	pmc->parts = hwpmc_pmc_parts(pmc);
	mark_slow_path(pmc, true);
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
	if (!pce_is_set()) {
		hwpmc_rdpmc_revoke(pmc);
		return hwpmc_refuse(hdr, -ENOSYS, HWPMC_WHY_NO_RDPMC, 1);
	}
	if (!pmc->user_mapped)
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

	if (likely(!may_rdpmc(mm)) || mm == current->mm ||
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
		had = may_rdpmc(mm);
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
	if (!any && (!pce_is_set() || cpumask_subset(cpu_online_mask, &clean)))
		return;
	/* Before the stop: a CPU that comes between the two is not clean. */
	cpumask_copy(&clean, cpu_online_mask);
	hwpmc_leave_all();
}
