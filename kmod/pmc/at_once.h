/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* at_once.h - how many counters a CPU can have at a time, where a hypervisor gives fewer. */
#ifndef HWPMC_AT_ONCE_H
#define HWPMC_AT_ONCE_H

#include <linux/types.h>

/*
 * May a PMC have the row as well, by what the trial of the claim has found? cpu: of system
 * scope, else HWPMC_CPU_ANY. hwpmc_lock.
 */
bool hwpmc_at_once_admits(unsigned int nr, u32 cpu, bool pair);

#endif /* HWPMC_AT_ONCE_H */
