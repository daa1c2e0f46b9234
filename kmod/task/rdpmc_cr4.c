// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rdpmc_cr4.c - makes CPUs load CR4.PCE again. The kernel loads it when a CPU loads an mm other
 * than its last one, and only a kernel thread can leave an mm. So:
 *
 *  - A CPU that runs a kernel thread on the mm (the idle thread, mostly) leaves it in an
 *    interrupt.
 *  - One that runs a thread of the program gets a work item, which is a kernel thread.
 *  - One that runs another program has left it already.
 *
 * A real-time thread can keep a CPU from running work items for ever. Therefore one work
 * item, which runs on any CPU, looks again and again; the program waits for that, and
 * nothing else does. If the CPU is taken by another program, the mm has been left.
 *
 * Mostly the program runs on the CPU of the caller alone. Then the work item of that CPU
 * does everything, and no other CPU is woken or interrupted.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/wait.h>
#include <asm/processor-flags.h>
#include <asm/special_insns.h>

#include "../compat/mm.h"
#include "../base/lock.h"
#include "../core/work.h"
#include "rdpmc_cr4.h"
#include "rdpmc_switch.h"
#include "sched_hook.h"

/* A CPU whose item has not run is looked at again after so long. */
#define LOOK_AGAIN	(HZ / 20)

/* Protects the list, the number of the last change, and .asked, .followed and .revoked of
 * what is in the list. A leaf; not for interrupts. */
static DEFINE_SPINLOCK(leave_lock);
static LIST_HEAD(leaving);
static unsigned int nleaving;	/* in the list; also read without the lock */
static u64 last_change;

static DECLARE_WAIT_QUEUE_HEAD(left);

static void cr4_look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(cr4_look, cr4_look_work);
/* The two kinds of work items queue each other; from here on no more. */
static bool unloading;

/* By CPU: the number of the last change when it last left its mm. Written there. */
static DEFINE_PER_CPU(u64, left_at);
static void leave_here(struct work_struct *work);
static struct work_struct __percpu *leave_works;

/* CPUs that run the program and have not followed. Only in cr4_look_work(). */
static struct cpumask behind;

/*
 * A CPU sets its bit before it reads perf_rdpmc_allowed, which was written before this:
 * one that has no bit here reads the present value.
 */
static bool runs_elsewhere(struct mm_struct *mm, int cpu)
{
	return cpumask_any_but(mm_cpumask(mm), cpu) < nr_cpu_ids;
}

/* Programs that ran only here have followed the changes up to this one. False: others have
 * not. Only cr4_look_work() takes them off the list, because it uses them without the lock. */
static bool follow_here(int cpu, u64 change)
{
	struct hwpmc_rdpmc *r;
	bool all = true;

	spin_lock(&leave_lock);
	list_for_each_entry(r, &leaving, node) {
		if (r->asked <= change && !runs_elsewhere(r->mm, cpu))
			WRITE_ONCE(r->followed, true);
		all &= r->followed;
	}
	spin_unlock(&leave_lock);
	return all;
}

/* The work item of one CPU. */
static void leave_here(struct work_struct *work)
{
	/* Before the CPU leaves: changes after this are not followed by it. */
	u64 change = smp_load_acquire(&last_change);
	/* Another thread on this CPU could load the mm between here and the next steps; and
	 * the item of a CPU that went offline moves to another. */
	int cpu = get_cpu();
	bool all;

	hwpmc_leave_mm();
	this_cpu_write(left_at, change);
	all = follow_here(cpu, change);
	put_cpu();
	wake_up_all(&left);
	if (all)
		hwpmc_work_later(&cr4_look, 1);
	else
		hwpmc_work_again(&cr4_look, 0);
}

/*
 * What CR4.PCE says is not enough: the administrator can set it for all programs, or for
 * none. An exiting thread is no kernel thread here, although it has no mm.
 */
static void cr4_look_ipi(void *arg)
{
	const struct hwpmc_rdpmc *r = arg;
	bool pce = native_read_cr4() & X86_CR4_PCE;

	if (current->active_mm != r->mm)
		return;
	if (current->flags & PF_KTHREAD && !current->mm)
		hwpmc_leave_mm();
	else if (pce != !!atomic_read(&r->mm->context.perf_rdpmc_allowed) &&
		 this_cpu_read(left_at) < READ_ONCE(r->asked))
		cpumask_set_cpu(smp_processor_id(), &behind);
}

/* CPUs that load the mm later read the present value of perf_rdpmc_allowed. */
static bool has_left(struct hwpmc_rdpmc *r)
{
	int cpu;

	if (READ_ONCE(r->followed))
		return true;
	cpumask_clear(&behind);
	on_each_cpu_mask(mm_cpumask(r->mm), cr4_look_ipi, r, true);
	for_each_cpu(cpu, &behind)
		queue_work_on(cpu, hwpmc_cpu_wq, per_cpu_ptr(leave_works, cpu));
	return cpumask_empty(&behind);
}

/* Off the list, unless there was another change meanwhile. True: it is to be freed. */
static bool end_leaving(struct hwpmc_rdpmc *r, u64 asked)
{
	bool last = false;

	spin_lock(&leave_lock);
	if (r->asked == asked) {
		list_del_init(&r->node);
		WRITE_ONCE(nleaving, nleaving - 1);
		last = r->revoked;
	}
	spin_unlock(&leave_lock);
	wake_up_all(&left);
	return last;
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

static void free_revoked(struct hwpmc_rdpmc *r)
{
	mutex_lock(&hwpmc_lock);
	hwpmc_rdpmc_free(r);
	mutex_unlock(&hwpmc_lock);
}

/* The first of the list goes to its end; only this work item removes any. */
static struct hwpmc_rdpmc *next_leaving(u64 *asked)
{
	struct hwpmc_rdpmc *r;

	spin_lock(&leave_lock);
	r = list_first_entry_or_null(&leaving, struct hwpmc_rdpmc, node);
	if (r) {
		list_move_tail(&r->node, &leaving);
		*asked = r->asked;
	}
	spin_unlock(&leave_lock);
	return r;
}

static void cr4_look_work(struct work_struct *work)
{
	struct hwpmc_rdpmc *r = NULL, *first_behind = NULL;
	u64 asked;

	while (!READ_ONCE(unloading) && (r = next_leaving(&asked)) && r != first_behind) {
		if (!has_left(r))
			first_behind = first_behind ?: r;
		else if (end_leaving(r, asked))
			free_revoked(r);
	}
	if (r)
		hwpmc_work_later(&cr4_look, LOOK_AGAIN);
}

static void begin_leaving(struct hwpmc_rdpmc *r)
{
	lockdep_assert_held(&leave_lock);
	/* Pairs with leave_here(): a CPU that reads this number reads the change as well. */
	smp_store_release(&last_change, last_change + 1);
	WRITE_ONCE(r->asked, last_change);
	WRITE_ONCE(r->followed, false);
	if (!list_empty(&r->node))
		return;
	list_add_tail(&r->node, &leaving);
	WRITE_ONCE(nleaving, nleaving + 1);
}

/* If a real-time thread keeps the work item of this CPU from running, cr4_look_work() finds
 * that, LOOK_AGAIN after it first looked. */
static void start_leaving(struct hwpmc_rdpmc *r)
{
	bool here = current->mm == r->mm;
	int cpu = get_cpu();

	if (here)
		queue_work_on(cpu, hwpmc_cpu_wq, per_cpu_ptr(leave_works, cpu));
	if (here && !runs_elsewhere(r->mm, cpu))
		hwpmc_work_later(&cr4_look, 1);
	else
		hwpmc_work_again(&cr4_look, 0);
	put_cpu();
}

void hwpmc_leave_begin(struct hwpmc_rdpmc *r)
{
	lockdep_assert_held(&hwpmc_lock);
	spin_lock(&leave_lock);
	begin_leaving(r);
	spin_unlock(&leave_lock);
	start_leaving(r);
}

bool hwpmc_leave_last(struct hwpmc_rdpmc *r, bool needed)
{
	bool later;

	lockdep_assert_held(&hwpmc_lock);
	spin_lock(&leave_lock);
	r->revoked = true;
	if (needed)
		begin_leaving(r);
	later = !list_empty(&r->node);
	spin_unlock(&leave_lock);
	if (later)
		start_leaving(r);
	return later;
}

static bool is_leaving(const struct mm_struct *mm)
{
	struct hwpmc_rdpmc *r;
	bool yes = false;

	spin_lock(&leave_lock);
	list_for_each_entry(r, &leaving, node)
		yes |= r->mm == mm && !r->followed;
	spin_unlock(&leave_lock);
	return yes;
}

void hwpmc_leave_wait(void)
{
	if (likely(!READ_ONCE(nleaving)) || !current->mm)
		return;
	/* A killed program ends, and its mm is left. */
	(void)wait_event_killable(left, !is_leaving(current->mm));
}

static int leave_stopped(void *unused)
{
	hwpmc_leave_mm();
	return 0;
}

void hwpmc_leave_all(void)
{
	stop_machine(leave_stopped, NULL, cpu_online_mask);
}

int hwpmc_leave_init(void)
{
	int cpu;

	leave_works = alloc_percpu(struct work_struct);
	if (!leave_works)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		INIT_WORK(per_cpu_ptr(leave_works, cpu), leave_here);
	return 0;
}

void hwpmc_leave_exit(void)
{
	struct hwpmc_rdpmc *r, *next;
	int cpu;

	WRITE_ONCE(unloading, true);
	cancel_delayed_work_sync(&cr4_look);
	for_each_possible_cpu(cpu)
		cancel_work_sync(per_cpu_ptr(leave_works, cpu));
	cancel_delayed_work_sync(&cr4_look);
	if (!list_empty(&leaving))
		hwpmc_leave_all();
	list_for_each_entry_safe(r, next, &leaving, node)
		free_revoked(r);
	free_percpu(leave_works);
}
