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

/* One more PMC that needs exec (any) or fork, exit and switches (process). */
int hwpmc_hooks_get(bool process);
void hwpmc_hooks_put(bool process);

/* From here on every switch-in looks for pending threads, until none is left. */
int hwpmc_hooks_watch_switches(void);

#endif /* HWPMC_HOOKS_H */
