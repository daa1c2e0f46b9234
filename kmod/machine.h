/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* machine.h - classes of counters that this machine has. */
#ifndef HWPMC_MACHINE_H
#define HWPMC_MACHINE_H

struct hwpmc_machine;

/*
 * Probe the backends in a fixed order (TSC first), fill *m, and log the classes found
 * in one line. -ENODEV: none. Process context, at load.
 */
int hwpmc_machine_probe(struct hwpmc_machine *m);

#endif /* HWPMC_MACHINE_H */
