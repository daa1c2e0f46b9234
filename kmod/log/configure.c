// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * configure.c - life of a log: made, published, closed; its states are in configure.h, its
 * end is in end.c. Process context. A log is made without hwpmc_lock: its memory takes
 * long to allocate.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "../core/owner.h"
#include "../core/pmc.h"
#include "../debug/trace.h"
#include "../sampling/log_object.h"
#include "../task/start_stop.h"
#include "../task/migrations.h"
#include "../task/switch.h"
#include "configure.h"
#include "drain.h"
#include "end.h"
#include "cpu_kinds.h"
#include "limits.h"
#include "records.h"
#include "rings.h"

/* ---- new ------------------------------------------------------------------ */

/* Logs of an owner that have ended, but whose reader or file takes its time. */
#define UNFINISHED_MOST	16

/* An ERR_PTR with the reason in op. */
static struct hwpmc_log *log_new(struct hwpmc_owner *owner,
				 struct hwpmc_op_configurelog *op)
{
	struct hwpmc_log *log = kzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!log)
		return ERR_PTR(hwpmc_refuse(&op->hdr, -ENOMEM,
					    HWPMC_WHY_NO_MEMORY, 0));
	refcount_inc(&owner->users);
	log->owner = owner;
	log->mapped = op->flags & HWPMC_LOG_F_MAPPED;
	log->privileged = perfmon_capable();
	log->cred = get_current_cred();
	hwpmc_limits_get(log);
	refcount_set(&log->users, 1);
	init_waitqueue_head(&log->flushers);
	mutex_init(&log->end_lock);
	mutex_init(&log->snapshot_lock);
	ret = hwpmc_rings_alloc(log, op);
	if (ret) {
		hwpmc_log_put(log);
		return ERR_PTR(ret);
	}
	return log;
}

/* ---- configure, close ------------------------------------------------------ */

/* Publishes the log last: a refusal leaves nothing behind. */
static int begin_locked(struct hwpmc_log *log, struct hwpmc_op_configurelog *op)
{
	struct hwpmc_owner *owner = log->owner;

	lockdep_assert_held(&hwpmc_lock);
	if (owner->log || atomic_read(&owner->unfinished) >= UNFINISHED_MOST)
		return hwpmc_refuse(&op->hdr, -EBUSY, HWPMC_WHY_LOG_EXISTS, 0);
	hwpmc_records_begin(log);
	if (log->file && hwpmc_drain_start(log))
		return hwpmc_refuse(&op->hdr, -EAGAIN, HWPMC_WHY_NO_MEMORY, 0);
	op->ring_size = log->ring_size;
	log->open = true;
	if (log->mapped) {
		atomic_inc(&owner->mapped_logs);
		WRITE_ONCE(owner->had_mapped_log, true);
	}
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
		hwpmc_log_put(log);
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
	hwpmc_log_end_later(log, true);
	hwpmc_log_ends_await(owner);
	return 0;
}

static int close_locked(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	if (!log->open)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_LOG_CLOSED, 0);
	hwpmc_log_close_locked(log);
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
	hwpmc_log_write_end(log);
	hwpmc_log_put(log);
	return 0;
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
	return ret ?: hwpmc_owner_check_samples(owner, hdr);
}
