// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * sched_hook.c - registers the sched_switch probe while threads are pending or programs may
 * use RDPMC. Registration sleeps: process context, hwpmc_lock.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/stop_machine.h>

#include "../compat/tracepoints.h"
#include "../core/class.h"
#include "../core/work.h"
#include "rdpmc_switch.h"
#include "switch.h"
#include "target.h"
#include "sched_hook.h"

/* So long the probe waits for pending threads; then stop_machine() hooks the rest. */
#define HOOK_PENDING_DELAY	(HZ / 5)

static struct tracepoint *tp_switch;
static bool switches_watched;		/* hwpmc_lock */

static void hook_pending_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(hook_pending, hook_pending_work);

HWPMC_PROBE_SCHED_SWITCH(probe_switch, prev, next)
{
	hwpmc_switch_pending_irqoff(prev, next);
	if (unlikely(READ_ONCE(hwpmc_rdpmc_users)))
		hwpmc_rdpmc_switch_irqoff(next);
}

int hwpmc_watch_rdpmc(void)
{
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	if (!switches_watched)
		ret = hwpmc_probe_register(tp_switch, probe_switch);
	switches_watched = !ret;
	return ret;
}

void hwpmc_unwatch_rdpmc(void)
{
	lockdep_assert_held(&hwpmc_lock);
	hwpmc_work_later(&hook_pending, HOOK_PENDING_DELAY);
}

int hwpmc_watch_switches(void)
{
	int ret = hwpmc_watch_rdpmc();

	lockdep_assert_held(&hwpmc_lock);
	if (!ret)
		hwpmc_work_later(&hook_pending, HOOK_PENDING_DELAY);
	return ret;
}

void hwpmc_watch_end(void)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!switches_watched || hwpmc_rdpmc_users)
		return;
	hwpmc_probe_unregister(tp_switch, probe_switch);
	switches_watched = false;
}

/*
 * In stop_machine() only the stopper threads run: every other thread is switched out,
 * its events are in the totals, and no code walks its list of notifiers.
 */
static int settle_stopped(void *unused)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	hwpmc_threads_settle_locked();
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	return 0;
}

void hwpmc_watch_settle(void)
{
	stop_machine(settle_stopped, NULL, NULL);
}

/* One batch, so that operations of others come between two. True: more are pending. */
static bool hook_some_pending(void)
{
	bool more;

	mutex_lock(&hwpmc_lock);
	if (READ_ONCE(hwpmc_npending))
		hwpmc_watch_settle();
	/* Only an attach makes threads pending, under hwpmc_lock. */
	more = READ_ONCE(hwpmc_npending);
	if (!more)
		hwpmc_watch_end();
	hwpmc_unhooked_free();
	mutex_unlock(&hwpmc_lock);
	return more;
}

/* Do not wait for sleepers; the probe would tax every switch. */
static void hook_pending_work(struct work_struct *work)
{
	while (hook_some_pending())
		cond_resched();
}

int hwpmc_watch_init(void)
{
	return hwpmc_tracepoint_get("sched_switch", &tp_switch);
}

void hwpmc_watch_exit(void)
{
	cancel_delayed_work_sync(&hook_pending);
}
