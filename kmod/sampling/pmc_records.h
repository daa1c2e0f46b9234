/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pmc_records.h - records of values: PROCCSW, what a thread counted from switch-in to
 * switch-out; PROCEXIT, what a process counted while it was a target. And PMCATTACH
 * and PMCDETACH.
 */
#ifndef HWPMC_PMC_RECORDS_H
#define HWPMC_PMC_RECORDS_H

#include "../core/cpu.h"

struct hwpmc_link;
struct hwpmc_target;
struct pid;
struct task_struct;

/* A slice of current has ended with rc->count.counted events. Interrupts off, possibly with
 * the run queue lock held. */
void hwpmc_pmc_record_slice_irqoff(struct hwpmc_row_cpu *rc, const struct hwpmc_pmc *pmc);

/* `value` events of a thread that does not run, which happened while it did not.
 * hwpmc_targets_lock. */
void hwpmc_pmc_record_value_locked(struct hwpmc_link *link, struct task_struct *task,
				   u64 value);

/* The last thread of a target has exited: PROCEXIT for each of its links.
 * hwpmc_targets_lock. */
void hwpmc_pmc_record_exit_locked(struct hwpmc_target *target);

/* A PMC was attached to a process, or detached; nothing is written where the owner
 * has no log. Process context, hwpmc_lock. */
void hwpmc_log_attached(struct hwpmc_pmc *pmc, struct pid *tgid, const char *path);
void hwpmc_log_detached(struct hwpmc_pmc *pmc, struct pid *tgid);

#endif /* HWPMC_PMC_RECORDS_H */
