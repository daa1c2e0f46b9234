/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * kgmon.h - the histogram of the kernel: where system-scope samples with
 * HWPMC_F_KGMON hit. One for the whole machine, kept after its PMCs are gone until
 * it is reset; it collects while it is switched on.
 */
#ifndef HWPMC_KGMON_H
#define HWPMC_KGMON_H

#include <linux/types.h>

#include "hwpmc.h"	/* uapi */

struct pt_regs;

/* One more PMC drives it, or one less. Process context, hwpmc_lock. */
int hwpmc_kgmon_get(void);
void hwpmc_kgmon_put(void);
void hwpmc_kgmon_exit(void);

void hwpmc_kgmon_hit_nmi(const struct pt_regs *regs);
/* Samples of which nobody knows where they hit. */
void hwpmc_kgmon_late_nmi(u64 n);

/* So many entries there are at most. */
u32 hwpmc_kgmon_most(void);

/* The operation, entries to a place of the kernel. hwpmc_lock. */
int hwpmc_kgmon_op(struct hwpmc_op_kgmon *op, struct hwpmc_kgmon_entry *to,
		   u32 room);
void hwpmc_kgmon_switch(bool on);

#endif /* HWPMC_KGMON_H */
