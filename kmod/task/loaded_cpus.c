// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * loaded_cpus.c - finds the CPUs that have to follow a change, without asking any. Process
 * context, hwpmc_lock; switches, forks and exits go on meanwhile.
 *
 * A switch-in reads what a target counts, and nothing of ours tells other CPUs that it is
 * about to. So a row in flight is not the question, but whether a thread can be in a
 * switch, or run. The scheduler's own fields answer that, with its own barriers, and a
 * switch has no instruction more. Barrier D: the change is written, then a full barrier,
 * then task->on_rq, ->on_cpu and the CPU are read, in this order.
 *
 *  - A thread is queued (on_rq = 1, after its CPU was set) before a CPU can switch to it;
 *    both with that CPU's run queue locked. The scheduler takes the lock again, with a
 *    full barrier behind it, before it picks the thread, before the probe of switches
 *    (pending threads), sched_out (slices that continue) and sched_in. So if we read
 *    on_rq = 0 and the thread is queued after that, all of these read the change.
 *  - If it is queued we interrupt the CPU that it is queued on. It runs there or will, or
 *    it is moved later; then it is queued there later than we read, and the first point
 *    is true of its new CPU. Interrupts are off from the run queue's lock to the end of
 *    a switch, and an interrupt before sched_in does its work. So fn() does not run
 *    between the two.
 *  - A thread that blocks has on_rq = 0 before it is switched out: on_cpu is still 1, and
 *    it is cleared, with release, after sched_out has added the slices to the totals.
 *    A thread with on_rq = 0 and on_cpu = 1 cannot be moved, so its CPU is the one that
 *    has to end these slices; ours waits for the interrupt there.
 *  - A slice that continues in the next thread is that thread's, which is queued while it
 *    is switched to. If its target is concerned it is added itself.
 *
 * doc/decisions/cpus.md says why not by other means.
 */
#include <linux/cpumask.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "../compat/task.h"
#include "../base/lock.h"
#include "loaded_cpus.h"
#include "target.h"

/*
 * For more threads than these all CPUs are interrupted: to look at eight threads costs
 * less than to interrupt one CPU, so for each CPU eight are looked at; and with interrupts
 * off no more than 256.
 */
#define THREADS_PER_CPU	8u
#define THREADS_MOST	256u

/* hwpmc_lock */
static struct cpumask followers;
static unsigned int looks_left;		/* at threads */
static bool all_follow;

void hwpmc_followers_begin(void)
{
	lockdep_assert_held(&hwpmc_lock);
	cpumask_clear(&followers);
	looks_left = min(THREADS_MOST, THREADS_PER_CPU * num_online_cpus());
	all_follow = false;
}

static void add_thread_locked(const struct hwpmc_thread *thread)
{
	int cpu = hwpmc_task_cpu(thread->task);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (cpu >= 0)
		cpumask_set_cpu(cpu, &followers);
}

bool hwpmc_followers_add_locked(const struct hwpmc_target *target)
{
	const struct hwpmc_thread *thread;
	unsigned int looks;

	lockdep_assert_held(&hwpmc_lock);
	lockdep_assert_held(&hwpmc_targets_lock);
	looks = max(target->nthreads, 1u);
	if (all_follow || looks > looks_left) {
		all_follow = true;
		return false;
	}
	looks_left -= looks;
	smp_mb();	/* D: pairs with that of the scheduler, see above */
	if (target->only)
		add_thread_locked(target->only);
	list_for_each_entry(thread, &target->threads, node)
		add_thread_locked(thread);
	return true;
}

void hwpmc_followers_pmc_locked(const struct hwpmc_pmc *pmc)
{
	const struct hwpmc_link *link;

	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_followers_begin();
	list_for_each_entry(link, &pmc->process.links, node)
		if (!hwpmc_followers_add_locked(link->target))
			return;
}

void hwpmc_followers_call(smp_call_func_t fn, void *arg)
{
	lockdep_assert_held(&hwpmc_lock);
	if (all_follow)
		on_each_cpu(fn, arg, 1);
	else if (!cpumask_empty(&followers))
		on_each_cpu_mask(&followers, fn, arg, true);
}
