/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_mediated.h - KVM's mediated PMU (Linux 7): a guest has the counters themselves while it
 * runs, and asks no reservation. While the module has the counters no such guest begins, and
 * while there is one the module does not get them. Process context, under hwpmc_lock, or at
 * load and unload. doc/decisions/guests.md
 */
#ifndef HWPMC_X86_MEDIATED_H
#define HWPMC_X86_MEDIATED_H

#include "../compat/types.h"

void hwpmc_x86_mediated_init(void);
void hwpmc_x86_mediated_exit(void);

/* From now on guests that want the counters are refused. False: there is one that has them,
 * and none is refused. Before the counters are reserved. */
bool hwpmc_x86_mediated_keep_out(void);
/* They may have them again. */
void hwpmc_x86_mediated_let_in(void);

#endif /* HWPMC_X86_MEDIATED_H */
