/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task_logs.h - the logs that get the events of a task: those of owners with a system-scope
 * PMC that samples, and of owners whose PMCs at the task's target sample or log values.
 * Called from probes; does not sleep.
 */
#ifndef HWPMC_TASK_LOGS_H
#define HWPMC_TASK_LOGS_H

#include <linux/types.h>

struct hwpmc_owner;
struct task_struct;

/* Called for each owner whose log gets the task's events. RCU, preemption off. */
typedef void hwpmc_task_logs_fn(struct hwpmc_owner *owner, void *arg);
void hwpmc_task_logs_each(struct task_struct *task, hwpmc_task_logs_fn *fn, void *arg);

/* Returns true if any log gets the task's events. */
bool hwpmc_task_logs_any(struct task_struct *task);

#endif /* HWPMC_TASK_LOGS_H */
