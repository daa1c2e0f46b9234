/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task.h - who may look at whom, asked the way the kernel asks but with what it
 * exports. Process context; hwpmc_exec_gained() also in the exec probe.
 */
#ifndef HWPMC_COMPAT_TASK_H
#define HWPMC_COMPAT_TASK_H

#include <linux/types.h>

struct linux_binprm;
struct task_struct;

/*
 * May current measure this task? Yes for its own thread group, for a holder of
 * CAP_PERFMON (or CAP_SYS_ADMIN), and for a task with the caller's own real
 * uid and gid in every place, that may also dump core. Security modules cannot
 * be asked from a module, so CAP_SYS_PTRACE alone does not open the door to
 * other users' tasks.
 */
bool hwpmc_task_readable(struct task_struct *task);

/*
 * Has the program that current just started more rights than the one before it
 * (set-id, file capabilities), or may its memory not be read?
 */
bool hwpmc_exec_gained(const struct linux_binprm *bprm);

#endif /* HWPMC_COMPAT_TASK_H */
