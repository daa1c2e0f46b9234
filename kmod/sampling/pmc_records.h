/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pmc_records.h - what counting PMCs with LOG_PROCCSW and LOG_PROCEXIT write: what a
 * thread counted from switch-in to switch-out, and what a process counted in
 * its life as a target.
 */
#ifndef HWPMC_PMC_RECORDS_H
#define HWPMC_PMC_RECORDS_H

#include "../core/cpu.h"

struct hwpmc_link;
struct hwpmc_target;
struct pid;
struct task_struct;

/* A slice of current has ended: row[].slice events. Interrupts off, maybe with
 * the run queue's lock. */
void hwpmc_pmc_record_slice_irqoff(struct hwpmc_row_cpu *rc, const struct hwpmc_pmc *pmc);

/* The same of a thread that does not run, of what happened to it at rest. Under
 * hwpmc_targets_lock. */
void hwpmc_pmc_record_value_locked(struct hwpmc_link *link, struct task_struct *task,
				   u64 value);

/* The last thread of a target is gone: its links' PROCEXIT records. Under
 * hwpmc_targets_lock. */
void hwpmc_pmc_record_exit_locked(struct hwpmc_target *target);

/* A PMC was attached to a process, or detached: nothing happens where its owner has no
 * log. Process context, hwpmc_lock. */
void hwpmc_log_attached(struct hwpmc_pmc *pmc, struct pid *tgid);
void hwpmc_log_detached(struct hwpmc_pmc *pmc, struct pid *tgid);

#endif /* HWPMC_PMC_RECORDS_H */
