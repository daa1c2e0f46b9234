/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * divert.h - changes the argument of functions of the kernel, by the function tracer. While
 * it is in place the tracer cannot be switched off (FTRACE_OPS_FL_PERMANENT). Process
 * context.
 */
#ifndef HWPMC_COMPAT_DIVERT_H
#define HWPMC_COMPAT_DIVERT_H

#include <linux/errno.h>
#include <linux/types.h>

#include "have.h"

/*
 * From now on each call of the num functions gets what the last parameter makes of its
 * argument, a u32: it is called in the caller's context, and must not sleep. -EOPNOTSUPP: this
 * kernel cannot do it; other errors are the tracer's. One set of functions at a time.
 */
int hwpmc_divert(const unsigned long *function, unsigned int num, u32 (*argument)(u32));

/* Undone, and no call is on its way with a changed argument. Without hwpmc_divert(): nothing. */
void hwpmc_divert_end(void);

#endif /* HWPMC_COMPAT_DIVERT_H */
