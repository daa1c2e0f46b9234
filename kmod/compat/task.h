/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task.h - fields of a task that are in different structures on different kernels, or not
 * in all. Process context.
 */
#ifndef HWPMC_COMPAT_TASK_H
#define HWPMC_COMPAT_TASK_H

#include <linux/sched.h>
#include <linux/types.h>

/*
 * Is the task dumpable by its user, or has current CAP_SYS_PTRACE in the task's user
 * namespace? The caller has read the task's credentials before.
 */
bool hwpmc_task_is_dumpable(struct task_struct *task);
/* Of the current program, which has an mm; capabilities do not count. Any context but NMI. */
bool hwpmc_current_is_dumpable(void);

/*
 * The CPU that the task runs on or waits for, or -1: it sleeps. The reads are in this
 * order for task/loaded_cpus.c. The caller keeps the task.
 */
static inline int hwpmc_task_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	bool queued = READ_ONCE(task->on_rq);

	smp_rmb();	/* on_rq before on_cpu: see task/loaded_cpus.c */
	/* Acquire: all that it counted has been added before. */
	if (!queued && !smp_load_acquire(&task->on_cpu))
		return -1;
	smp_rmb();	/* both before the CPU, which a task has before it is queued there */
#endif
	return task_cpu(task);
}

#endif /* HWPMC_COMPAT_TASK_H */
