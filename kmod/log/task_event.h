/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task_event.h - fork, exec, exit and names of processes and threads, written to the logs
 * concerned (task_logs.h). Called from probes, in the task concerned; does not sleep.
 */
#ifndef HWPMC_TASK_EVENT_H
#define HWPMC_TASK_EVENT_H

#include <linux/types.h>

struct hwpmc_owner;
struct task_struct;

void hwpmc_task_event_fork(struct task_struct *child);
void hwpmc_task_event_thread(struct task_struct *thread);
void hwpmc_task_event_exec(const char *path);
void hwpmc_task_event_exit(void);
void hwpmc_task_event_comm(struct task_struct *task, const char *comm);
/* One record about a task to one log; flags: HWPMC_LOG_SNAPSHOT or 0. */
void hwpmc_emit_task(struct hwpmc_owner *owner, u8 type, u8 flags,
		    struct task_struct *task, const char *comm);

#endif /* HWPMC_TASK_EVENT_H */
