/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * debug.h - the tunable debugflags: which tracepoints of the module write into the
 * kernel's trace buffer. What was switched on through tracefs is left alone.
 */
#ifndef HWPMC_DEBUG_H
#define HWPMC_DEBUG_H

#include "../compat/sysctl.h"

/* At load: what the parameter says. */
void hwpmc_debug_init(void);
/* All that it has switched on goes off. */
void hwpmc_debug_exit(void);

/* The sysctl. A text that is not understood is -EINVAL and changes nothing. */
int hwpmc_debug_sysctl(hwpmc_ctl_table *table, int write, void *buffer,
		       size_t *len, loff_t *pos);

#endif /* HWPMC_DEBUG_H */
