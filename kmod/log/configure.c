// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * configure.c - life of a log: made, published, closed, ended, freed; its states are
 * in configure.h. Process context. A log is made and freed without hwpmc_lock:
 * its memory takes long to allocate, and freeing it waits for a write to its file,
 * which a program can make last for ever.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../core/owner.h"
#include "../core/pmc.h"
#include "../debug/trace.h"
#include "../sampling/log_object.h"
#include "../task/count.h"
#include "../task/switch.h"
#include "../task/system.h"
#include "configure.h"
#include "drain.h"
#include "kinds.h"
#include "records.h"
#include "rings.h"

/* ---- new, references, free ----------------------------------------------- */

/* The last user's: nothing finds the log any more. */
static void log_destroy(struct hwpmc_log *log)
{
	hwpmc_rings_free(log);
	if (log->file)
		fput(log->file);
	put_cred(log->cred);
	kfree(log);
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

/* An ERR_PTR with the reason in op. */
static struct hwpmc_log *log_new(struct hwpmc_owner *owner,
				 struct hwpmc_op_configurelog *op)
{
	struct hwpmc_log *log = kzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!log)
		return ERR_PTR(hwpmc_refuse(&op->hdr, -ENOMEM,
					    HWPMC_WHY_NO_MEMORY, 0));
	log->owner = owner;
	log->mapped = op->flags & HWPMC_LOG_F_MAPPED;
	log->privileged = perfmon_capable();
	log->cred = get_current_cred();
	refcount_set(&log->users, 1);
	init_waitqueue_head(&log->flushers);
	mutex_init(&log->end_lock);
	mutex_init(&log->snapshot_lock);
	ret = hwpmc_rings_alloc(log, op);
	if (ret) {
		log_destroy(log);
		return ERR_PTR(ret);
	}
	return log;
}

/* ---- configure, close, end ----------------------------------------------- */

static void stop_pmcs(struct hwpmc_owner *owner)
{
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(pmc, &owner->pmcs, owner_node)
		if (hwpmc_pmc_needs_log(pmc))
			hwpmc_pmc_halt(pmc);
}

/* Publishes the log last: a refusal leaves nothing behind. */
static int begin_locked(struct hwpmc_log *log, struct hwpmc_op_configurelog *op)
{
	struct hwpmc_owner *owner = log->owner;

	lockdep_assert_held(&hwpmc_lock);
	if (owner->log)
		return hwpmc_refuse(&op->hdr, -EBUSY, HWPMC_WHY_LOG_EXISTS, 0);
	hwpmc_records_begin(log);
	if (log->file && hwpmc_drain_start(log))
		return hwpmc_refuse(&op->hdr, -EAGAIN, HWPMC_WHY_NO_MEMORY, 0);
	op->ring_size = log->ring_size;
	log->open = true;
	/* Pairs with READ_ONCE(owner->log): a reader finds the log complete. */
	smp_store_release(&owner->log, log);
	trace_hwpmc_logging_config(log->ring_size, 0);
	hwpmc_log_kinds_begin(log);
	hwpmc_records_pmcs(log);
	return 0;
}

int hwpmc_log_configure(struct hwpmc_owner *owner,
			struct hwpmc_op_configurelog *op, struct file *file)
{
	struct hwpmc_log *log = log_new(owner, op);
	int ret;

	if (IS_ERR(log)) {
		if (file)
			fput(file);
		return PTR_ERR(log);
	}
	log->file = file;
	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (!ret) {
		ret = begin_locked(log, op);
		mutex_unlock(&hwpmc_lock);
	}
	if (ret)
		log_destroy(log);
	return ret;
}

int hwpmc_log_unconfigure(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log;
	int ret;

	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	log = hwpmc_log_end(owner, true);
	mutex_unlock(&hwpmc_lock);
	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	hwpmc_log_free(log, true);
	return 0;
}

/* From here on only the records that end the log are written. */
static void close_begin_locked(struct hwpmc_log *log)
{
	lockdep_assert_held(&hwpmc_lock);
	stop_pmcs(log->owner);
	WRITE_ONCE(log->open, false);
}

/*
 * The records that end it; without hwpmc_lock: no other operation may wait while RCU
 * waits for the whole machine. Any number of callers, at the same time too.
 */
static void close_end(struct hwpmc_log *log)
{
	synchronize_rcu();	/* writers that saw it open */
	WRITE_ONCE(log->closing, true);
	if (log->mapped)
		hwpmc_records_end(log);
	wake_up(&log->owner->log_wait);
}

static int close_locked(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	if (!log->open)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_LOG_CLOSED, 0);
	close_begin_locked(log);
	refcount_inc(&log->users);
	return 0;
}

int hwpmc_log_close(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log;
	int ret;

	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	log = owner->log;
	ret = close_locked(owner, hdr);
	mutex_unlock(&hwpmc_lock);
	if (ret)
		return ret;
	close_end(log);
	hwpmc_log_put(log);
	return 0;
}

struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return NULL;
	/* An open log gets the records that end it in hwpmc_log_free(). */
	log->unclosed = !discard && log->open;
	close_begin_locked(log);
	hwpmc_log_kinds_end(log);
	WRITE_ONCE(owner->log, NULL);
	return log;
}

void hwpmc_log_free(struct hwpmc_log *log, bool discard)
{
	if (!log)
		return;
	trace_hwpmc_logging_release(log->progress, log->error);
	if (log->unclosed)
		close_end(log);
	else
		synchronize_rcu();	/* writers, and hwpmc_log_get() */
	/* The owner goes before the log if a mapping holds that: no wake-up later. */
	hwpmc_rings_wake_no_more(log);
	if (log->drainer)
		hwpmc_drain_stop(log, discard);
	wake_up_all(&log->flushers);
	hwpmc_log_put(log);
}

/* ---- ends after an exec --------------------------------------------------- */

/* A queue of their own, as each waits for the reader of its log. */
static struct workqueue_struct *ends;

static void free_work(struct work_struct *work)
{
	struct hwpmc_log *log = container_of(work, struct hwpmc_log, end);
	struct hwpmc_owner *owner = log->owner;

	hwpmc_log_free(log, false);
	if (atomic_dec_and_test(&owner->ending))
		wake_up_all(&owner->log_wait);
	hwpmc_owner_put(owner);
}

void hwpmc_log_free_later(struct hwpmc_log *log)
{
	lockdep_assert_held(&hwpmc_lock);
	refcount_inc(&log->owner->users);
	atomic_inc(&log->owner->ending);
	INIT_WORK(&log->end, free_work);
	queue_work(ends, &log->end);
}

int hwpmc_log_ends_init(void)
{
	ends = alloc_workqueue("hwpmc_log", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return ends ? 0 : -ENOMEM;
}

void hwpmc_log_ends_exit(void)
{
	destroy_workqueue(ends);
}

/* ---- use ------------------------------------------------------------------ */

int hwpmc_log_write(struct hwpmc_owner *owner, u32 userdata,
		    struct hwpmc_hdr *hdr)
{
	struct hwpmc_log_hdr *r;

	lockdep_assert_held(&hwpmc_lock);
	if (!owner->log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	if (!owner->log->open)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_LOG_CLOSED, 0);
	preempt_disable();
	r = hwpmc_log_reserve(owner->log, HWPMC_LOG_USERDATA, sizeof(*r));
	if (r) {
		r->id = userdata;
		hwpmc_log_commit(owner->log);
	}
	preempt_enable();
	return r ? 0 : hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
}

/* ---- flush ---------------------------------------------------------------- */

static bool is_logging_slices(const struct hwpmc_pmc *pmc)
{
	return pmc->flags & HWPMC_F_LOG_PROCCSW &&
	       READ_ONCE(pmc->state) == HWPMC_STATE_RUNNING;
}

static bool has_slices(struct hwpmc_owner *owner)
{
	struct hwpmc_pmc *pmc;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(pmc, &owner->pmcs, owner_node)
		found |= is_logging_slices(pmc);
	rcu_read_unlock();
	return found;
}

/* A reader that has all records then has all that was counted before the call, also by
 * threads that run on. */
static int log_slices(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_pmc *pmc;
	int ret;

	if (!has_slices(owner))
		return 0;
	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	list_for_each_entry(pmc, &owner->pmcs, owner_node) {
		if (!is_logging_slices(pmc))
			continue;
		hwpmc_pmc_take_migrations(pmc);
		hwpmc_switch_flush_slices(pmc);
	}
	mutex_unlock(&hwpmc_lock);
	return 0;
}

static int log_flush(struct hwpmc_log *log)
{
	if (!log->mapped)
		return hwpmc_drain_flush(log);
	if (READ_ONCE(log->closing)) {
		hwpmc_records_end(log);
	} else {
		hwpmc_log_declare_all(log);
		hwpmc_records_clock(log);
	}
	/* Another thread may wait for records in poll(). */
	wake_up(&log->owner->log_wait);
	return 0;
}

int hwpmc_log_flush(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log = hwpmc_log_get(owner);
	int ret;

	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	ret = log_slices(owner, hdr);
	ret = ret ?: log_flush(log);
	trace_hwpmc_logging_flush(0, ret);
	if (ret && ret == READ_ONCE(log->error))
		hwpmc_refuse(hdr, ret, HWPMC_WHY_LOG_ERROR, -ret);
	hwpmc_log_put(log);
	return ret ?: hwpmc_owner_msr_fault(owner, hdr);
}
