/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* machine.h - which classes this machine has. */
#ifndef HWPMC_MACHINE_H
#define HWPMC_MACHINE_H

struct hwpmc_machine;

/*
 * Ask every backend in a fixed order (TSC first); fills *m, and says in one line of
 * the kernel's log what was found. -ENODEV: nothing. Process context, at load.
 */
int hwpmc_machine_probe(struct hwpmc_machine *m);

#endif /* HWPMC_MACHINE_H */
