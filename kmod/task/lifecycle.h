/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lifecycle.h - what fork, exec and exit do to targets. Called by the probes, in the
 * process concerned; nothing here sleeps but hwpmc_lifecycle_unload(). */
#ifndef HWPMC_LIFECYCLE_H
#define HWPMC_LIFECYCLE_H

#include <linux/types.h>

struct linux_binprm;
struct task_struct;

/* current has created a thread of its group, or a process; the child has not run yet. */
void hwpmc_lifecycle_newthread(struct task_struct *child);
void hwpmc_lifecycle_newprocess(struct task_struct *child);
/* current has executed another program. */
void hwpmc_lifecycle_exec(const struct linux_binprm *bprm);
/* The thread current is exiting. */
void hwpmc_lifecycle_exit(void);
/* After the last probe has ended. Sleeps. */
void hwpmc_lifecycle_unload(void);

#endif /* HWPMC_LIFECYCLE_H */
