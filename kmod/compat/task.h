/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task.h - fields of a task that are in different structures on different kernels.
 * Process context.
 */
#ifndef HWPMC_COMPAT_TASK_H
#define HWPMC_COMPAT_TASK_H

#include <linux/types.h>

struct task_struct;

/*
 * Is the task dumpable by its user, or has current CAP_SYS_PTRACE in the task's user
 * namespace? The caller has read the task's credentials before.
 */
bool hwpmc_task_is_dumpable(struct task_struct *task);
/* Of the current program, which has an mm; capabilities do not count. Any context but NMI. */
bool hwpmc_current_is_dumpable(void);

#endif /* HWPMC_COMPAT_TASK_H */
