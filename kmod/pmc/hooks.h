/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hooks.h - the module's hooks into the scheduler. Each costs every process of the
 * machine time, so each is registered only while a PMC needs it.
 */
#ifndef HWPMC_HOOKS_H
#define HWPMC_HOOKS_H

#include <linux/types.h>

int hwpmc_hooks_init(void);
void hwpmc_hooks_exit(void);

/* The events that a PMC has to see. */
#define HWPMC_HOOKS_OWNER	1u	/* exec: any PMC; owners with a log or tables */
#define HWPMC_HOOKS_PROCESS	2u	/* fork, exit, switches */
#define HWPMC_HOOKS_RECORDS	4u	/* mappings, names, modules: for its log */

/* One more PMC or owner needs these, or one less. hwpmc_lock. */
int hwpmc_hooks_get(unsigned int which);
void hwpmc_hooks_put(unsigned int which);

#endif /* HWPMC_HOOKS_H */
