/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* lifecycle.h - what fork, exec and exit do to targets; called by the probes. */
#ifndef HWPMC_LIFECYCLE_H
#define HWPMC_LIFECYCLE_H

#include <linux/types.h>

struct linux_binprm;
struct task_struct;

/* current made a thread of its own group, or a process. It has not run yet. */
void hwpmc_lifecycle_newthread(struct task_struct *child);
void hwpmc_lifecycle_newprocess(struct task_struct *child);
/* current executes another program. */
void hwpmc_lifecycle_exec(const struct linux_binprm *bprm);
/* current, a single thread, is exiting. */
void hwpmc_lifecycle_exit(void);
/* No probe runs any more. Sleeps. */
void hwpmc_lifecycle_unload(void);

#endif /* HWPMC_LIFECYCLE_H */
