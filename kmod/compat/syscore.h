/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * syscore.h - callbacks at suspend and resume of the machine, one pair for the module.
 * They run on the last CPU online, interrupts off, with all devices suspended.
 */
#ifndef HWPMC_COMPAT_SYSCORE_H
#define HWPMC_COMPAT_SYSCORE_H

/* The first returns 0, or an errno, which stops the machine from suspending. */
void hwpmc_syscore_register(int (*suspend)(void), void (*resume)(void));
void hwpmc_syscore_unregister(void);

#endif /* HWPMC_COMPAT_SYSCORE_H */
