// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * end.c - the end of a log, whatever its cause: close, CONFIGURELOG -1, exec or exit of its
 * process, REVOKE. Process context.
 *
 * A user can make the reader of a log and the release of its file as slow as it likes.
 * Therefore only the drain thread waits for them, and each log has its own. What ends the
 * log is a work item that looks at the thread: when it is gone, and each second as long as
 * it is not. Only the process of the owner waits for the item, and REVOKE for a second.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../debug/trace.h"
#include "../sampling/log_object.h"
#include "../task/system.h"
#include "drain.h"
#include "end.h"
#include "cpu_kinds.h"
#include "limits.h"
#include "loss.h"
#include "records.h"
#include "rings.h"

/* ---- references ----------------------------------------------------------- */

/*
 * The last user's: nothing finds the log any more, and no writer is left. A flush can have
 * queued the wake-up after log_silence() had waited for writers; on a real-time kernel a
 * thread executes it.
 */
static void log_destroy(struct hwpmc_log *log)
{
	struct hwpmc_owner *owner = log->owner;

	if (log->cpus)
		hwpmc_rings_wake_no_more(log);
	hwpmc_rings_free(log);
	/* Only of a log that was never published: the drain thread puts it otherwise. */
	if (log->file)
		fput(log->file);
	hwpmc_limits_put(log);
	put_cred(log->cred);
	kfree(log);
	hwpmc_owner_put(owner);
}

struct hwpmc_log *hwpmc_log_get(struct hwpmc_owner *owner)
{
	struct hwpmc_log *log;

	rcu_read_lock();
	log = READ_ONCE(owner->log);
	if (log && !refcount_inc_not_zero(&log->users))
		log = NULL;
	rcu_read_unlock();
	return log;
}

void hwpmc_log_put(struct hwpmc_log *log)
{
	if (refcount_dec_and_test(&log->users))
		log_destroy(log);
}

/* ---- close, and detach from the owner --------------------------------------- */

/* A stop looks, too; a CPU that is offline has looked before. */
static void look_at_pmc(struct hwpmc_pmc *pmc)
{
	if (hwpmc_pmc_is_system(pmc))
		(void)hwpmc_cpu_call(pmc->cpu, hwpmc_system_look_irqoff, pmc);
	else
		hwpmc_doubt_look(pmc);
}

/* PMCs that only count go on without the log, which has their losses up to now. */
static void stop_pmcs(const struct hwpmc_log *log)
{
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(pmc, &log->owner->pmcs, owner_node) {
		if (pmc->state != HWPMC_STATE_RUNNING)
			continue;
		if (hwpmc_pmc_needs_log(pmc))
			hwpmc_pmc_halt(pmc);
		else if (log->open)
			look_at_pmc(pmc);
		hwpmc_log_losses(pmc);
	}
}

void hwpmc_log_close_locked(struct hwpmc_log *log)
{
	lockdep_assert_held(&hwpmc_lock);
	stop_pmcs(log);
	WRITE_ONCE(log->open, false);
}

/*
 * Without hwpmc_lock: no other operation may wait while RCU waits for the whole machine.
 * Any number of callers, at the same time too.
 */
void hwpmc_log_write_end(struct hwpmc_log *log)
{
	synchronize_rcu();	/* writers that saw it open */
	WRITE_ONCE(log->closing, true);
	if (log->mapped)
		hwpmc_records_end(log);
	/* Pairs with has_ended(). */
	smp_store_release(&log->quiet, true);
	wake_up(&log->owner->log_wait);
}

struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return NULL;
	/* log_silence() writes the records that end it, unless CLOSELOG of another thread has
	 * written them. */
	log->unclosed = log->open ? !discard : log->mapped && !smp_load_acquire(&log->quiet);
	hwpmc_log_close_locked(log);
	hwpmc_log_kinds_end(log);
	WRITE_ONCE(owner->log, NULL);
	return log;
}

/* ---- the work item ---------------------------------------------------------- */

/* The time between two looks at a drain thread that is not gone. */
#define PATIENCE	HZ

/* Items wait for grace periods, and for no user. */
static struct workqueue_struct *ends_wq;
static DEFINE_SPINLOCK(ends_lock);
static LIST_HEAD(ends);			/* logs that end; ends_lock */
static DECLARE_WAIT_QUEUE_HEAD(one_ended);

static void log_silence(struct hwpmc_log *log)
{
	if (log->unclosed)
		hwpmc_log_write_end(log);
	else
		synchronize_rcu();	/* writers, and hwpmc_log_get() */
	/* For poll(): let_owner_go() wakes it only after the last log that ends. */
	if (log->mapped) {
		atomic_dec(&log->owner->mapped_logs);
		wake_up_all(&log->owner->log_wait);
	}
	wake_up_all(&log->flushers);
}

/* The owner's process waits no longer. Once. */
static void let_owner_go(struct hwpmc_log *log)
{
	if (log->owner_waits && atomic_dec_and_test(&log->owner->ending))
		wake_up_all(&log->owner->log_wait);
	log->owner_waits = false;
}

static void end_finish(struct hwpmc_log *log)
{
	trace_hwpmc_logging_release(log->progress, log->error);
	wake_up_all(&log->flushers);
	atomic_dec(&log->owner->unfinished);
	let_owner_go(log);
	spin_lock(&ends_lock);
	list_del(&log->end_node);
	spin_unlock(&ends_lock);
	/*
	 * The item may have been queued again, and nothing queues it any more: whoever ends the
	 * log and a REVOKE do so under ends_lock while the log is in the list, and the drain
	 * thread before its exit, which has been waited for.
	 */
	cancel_delayed_work(&log->end);
	hwpmc_log_put(log);
	wake_up_all(&one_ended);
}

static void end_work(struct work_struct *work)
{
	struct hwpmc_log *log = container_of(to_delayed_work(work), struct hwpmc_log, end);

	if (!log->silent) {
		log_silence(log);
		log->silent = true;
	}
	if (!log->drainer || hwpmc_drain_is_gone(log)) {
		end_finish(log);
		return;
	}
	if (!hwpmc_drain_urge(log))
		let_owner_go(log);
	/* It stays as it is if the thread is gone meanwhile: at once. */
	queue_delayed_work(ends_wq, &log->end, PATIENCE);
}

void hwpmc_log_end_later(struct hwpmc_log *log, bool discard)
{
	if (!log)
		return;
	if (discard)
		WRITE_ONCE(log->discard, true);
	log->owner_waits = true;
	atomic_inc(&log->owner->ending);
	atomic_inc(&log->owner->unfinished);
	INIT_DELAYED_WORK(&log->end, end_work);
	/*
	 * The drain thread or a REVOKE may queue the item, too. It frees the log, but takes
	 * the log from the list before: not until the last use of the log here.
	 */
	spin_lock(&ends_lock);
	list_add_tail(&log->end_node, &ends);
	/* Pairs with hwpmc_log_drainer_gone(): one of the two sees the other. */
	smp_store_mb(log->ending, true);
	queue_delayed_work(ends_wq, &log->end, 0);
	spin_unlock(&ends_lock);
}

void hwpmc_log_drainer_gone(struct hwpmc_log *log)
{
	/* Pairs with hwpmc_log_end_later(): one of the two sees the other. */
	smp_store_mb(log->gone, true);
	if (READ_ONCE(log->ending))
		mod_delayed_work(ends_wq, &log->end, 0);
}

/* ---- who waits for it ---------------------------------------------------------- */

void hwpmc_log_ends_await(struct hwpmc_owner *owner)
{
	(void)wait_event_killable(owner->log_wait, !atomic_read(&owner->ending));
}

static bool none_ends(void)
{
	bool none;

	spin_lock(&ends_lock);
	none = list_empty(&ends);
	spin_unlock(&ends_lock);
	return none;
}

void hwpmc_log_ends_discard(void)
{
	struct hwpmc_log *log;

	spin_lock(&ends_lock);
	list_for_each_entry(log, &ends, end_node) {
		if (log->owner->tgid == task_tgid(current))
			continue;
		WRITE_ONCE(log->discard, true);
		mod_delayed_work(ends_wq, &log->end, 0);
	}
	spin_unlock(&ends_lock);
	(void)wait_event_killable_timeout(one_ended, none_ends(), PATIENCE);
}

int hwpmc_log_ends_init(void)
{
	ends_wq = alloc_workqueue("hwpmc_log", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return ends_wq ? 0 : -ENOMEM;
}

void hwpmc_log_ends_exit(void)
{
	wait_event(one_ended, none_ends());
	destroy_workqueue(ends_wq);
}
