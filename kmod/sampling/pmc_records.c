// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pmc_records.c - records of values. The PROCCSW values of a PMC and process add up
 * to its PROCEXIT value, and those to the PMC's total: each slice is added to all
 * three.
 */
#include <linux/sched.h>

#include "../core/owner.h"
#include "../task/target.h"
#include "log.h"
#include "pmc_records.h"

static void write_value_record(const struct hwpmc_pmc *pmc, u8 type, s32 pid, s32 tid,
			       u64 value)
{
	struct hwpmc_log_value *r;

	r = hwpmc_log_reserve(pmc->owner->log, type, sizeof(*r));
	if (!r)
		return;
	r->hdr.id = pmc->id;
	r->pid = pid;
	r->tid = tid;
	r->cpu = smp_processor_id();
	r->__reserved = 0;
	r->value = value;
	hwpmc_log_commit(pmc->owner->log);
}

/* task: a thread of the link's process. */
static void add_value(struct hwpmc_link *link, const struct hwpmc_pmc *pmc,
		      struct task_struct *task, u64 value)
{
	atomic64_add(value, &link->total);
	if (pmc->flags & HWPMC_F_LOG_PROCCSW)
		write_value_record(pmc, HWPMC_LOG_PROCCSW,
				   hwpmc_owner_tgid_nr(pmc->owner, task),
				   hwpmc_owner_tid_nr(pmc->owner, task), value);
}

void hwpmc_pmc_record_slice_irqoff(struct hwpmc_row_cpu *rc, const struct hwpmc_pmc *pmc)
{
	add_value(rc->count.link, pmc, current, rc->count.counted);
}

void hwpmc_pmc_record_value_locked(struct hwpmc_link *link, struct task_struct *task,
				   u64 value)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	add_value(link, link->pmc, task, value);
}

void hwpmc_pmc_record_exit_locked(struct hwpmc_target *target)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->rows & target->slow_path) {
		struct hwpmc_link *link = &target->link[nr];
		struct hwpmc_pmc *pmc = link->pmc;

		if (pmc->flags & HWPMC_F_LOG_PROCEXIT && pmc->owner->log)
			write_value_record(pmc, HWPMC_LOG_PROCEXIT,
					   pid_nr_ns(target->pid, pmc->owner->pid_ns),
					   0, atomic64_read(&link->total));
	}
}

/* ---- attach and detach --------------------------------------------------- */

static void write_attach_record(struct hwpmc_log *log, u8 type,
				const struct hwpmc_pmc *pmc, struct pid *tgid,
				const char *path)
{
	size_t len = strlen(path) + 1;
	struct hwpmc_log_attach *r;

	preempt_disable();
	r = hwpmc_log_reserve(log, type, sizeof(*r) + len);
	if (r) {
		r->hdr.id = pmc->id;
		r->pid = pid_nr_ns(tgid, pmc->owner->pid_ns);
		r->__reserved = 0;
		memcpy(r->path, path, len);
		hwpmc_log_commit(log);
	}
	preempt_enable();
}

void hwpmc_log_attached(struct hwpmc_pmc *pmc, struct pid *tgid, const char *path)
{
	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_log_is_open(pmc->owner))
		write_attach_record(pmc->owner->log, HWPMC_LOG_PMCATTACH, pmc, tgid, path);
}

void hwpmc_log_detached(struct hwpmc_pmc *pmc, struct pid *tgid)
{
	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_log_is_open(pmc->owner))
		write_attach_record(pmc->owner->log, HWPMC_LOG_PMCDETACH, pmc, tgid, "");
}
