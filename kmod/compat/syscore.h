/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * syscore.h - callbacks at suspend and resume of the machine: on the last CPU
 * that is up, interrupts off, after all devices and other CPUs are down.
 * One pair of callbacks for the whole module.
 */
#ifndef HWPMC_COMPAT_SYSCORE_H
#define HWPMC_COMPAT_SYSCORE_H

/* The first returns 0, or an errno, which stops the machine from suspending. */
void hwpmc_syscore_register(int (*suspend)(void), void (*resume)(void));
void hwpmc_syscore_unregister(void);

#endif /* HWPMC_COMPAT_SYSCORE_H */
