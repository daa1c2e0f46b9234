/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * debug.h - the tunable debugflags, which chooses the tracepoints of the module that
 * write into the kernel's trace buffer. It does not switch off events that were
 * switched on through tracefs.
 */
#ifndef HWPMC_DEBUG_H
#define HWPMC_DEBUG_H

#include "../compat/sysctl.h"

/* At load: apply the parameter. */
void hwpmc_debug_init(void);
/* Switch off all events that debugflags has switched on. */
void hwpmc_debug_exit(void);

/* The sysctl. -EINVAL, and nothing changes, if the text is not understood. */
int hwpmc_debug_sysctl(hwpmc_ctl_table *table, int write, void *buffer,
		       size_t *len, loff_t *pos);

#endif /* HWPMC_DEBUG_H */
