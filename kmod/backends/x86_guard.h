/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_guard.h - keeps perf away from counters whose addresses the kernel's table of
 * reservations does not have: Intel's perfmon 6. Process context, under hwpmc_lock, or at
 * load and unload.
 */
#ifndef HWPMC_X86_GUARD_H
#define HWPMC_X86_GUARD_H

#include "../compat/types.h"

/* At load and unload. Where the kernel cannot do it, hwpmc_x86_guard_asks() will say so. */
void hwpmc_x86_guard_init(void);
void hwpmc_x86_guard_exit(void);

/* Are there diversions? Without them, what is outside the table is open to all. */
bool hwpmc_x86_guard_works(void);

/* From now on reservations of addresses outside the table fail, or succeed as they did. */
void hwpmc_x86_guard_set(bool on);

/*
 * Opens an event of perf's that never counts. -EBUSY: perf has no counters, and gets none as
 * long as what keeps it out stays. 0: perf has events open. Other errors say nothing of it.
 */
int hwpmc_x86_guard_asks(void);

#endif /* HWPMC_X86_GUARD_H */
