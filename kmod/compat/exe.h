/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * exe.h - the path of the program that a process runs. Process context.
 */
#ifndef HWPMC_COMPAT_EXE_H
#define HWPMC_COMPAT_EXE_H

#include <linux/types.h>

struct task_struct;

/* Into buf, from its end as d_path() does; "" where it has none. */
const char *hwpmc_task_exe_path(struct task_struct *task, char *buf, size_t size);

#endif /* HWPMC_COMPAT_EXE_H */
