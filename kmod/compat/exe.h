/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * exe.h - path of a process's executable. Process context.
 */
#ifndef HWPMC_COMPAT_EXE_H
#define HWPMC_COMPAT_EXE_H

#include <linux/types.h>

struct task_struct;

/* Stored at the end of buf, as by d_path(). "": the process has no executable. */
const char *hwpmc_task_exe_path(struct task_struct *task, char *buf, size_t size);

#endif /* HWPMC_COMPAT_EXE_H */
