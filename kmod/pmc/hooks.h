/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hooks.h - the module's hooks into the scheduler, there only while needed:
 * each costs every process of the machine something.
 */
#ifndef HWPMC_HOOKS_H
#define HWPMC_HOOKS_H

#include <linux/types.h>

int hwpmc_hooks_init(void);
void hwpmc_hooks_exit(void);

/* What a PMC needs to hear of. */
#define HWPMC_HOOKS_OWNER	1u	/* exec: any PMC */
#define HWPMC_HOOKS_PROCESS	2u	/* fork, exit, switches */
#define HWPMC_HOOKS_RECORDS	4u	/* mappings, names, modules: for its log */

/* One more PMC that needs them, one less. */
int hwpmc_hooks_get(unsigned int which);
void hwpmc_hooks_put(unsigned int which);

#endif /* HWPMC_HOOKS_H */
