/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * kgmon.h - histogram of the kernel addresses that system-scope samples with
 * HWPMC_F_KGMON hit. There is one for the whole machine. It collects while it is
 * switched on, and keeps its content after its PMCs are released until it is reset.
 */
#ifndef HWPMC_KGMON_H
#define HWPMC_KGMON_H

#include <linux/types.h>

#include "hwpmc.h"	/* uapi */

struct pt_regs;

/* One PMC more, or less, that feeds it. Process context, hwpmc_lock. */
int hwpmc_kgmon_get(void);
void hwpmc_kgmon_put(void);
/* At unload. */
void hwpmc_kgmon_exit(void);

/* One sample. NMI, or interrupts off. */
void hwpmc_kgmon_hit_nmi(const struct pt_regs *regs);
/* n samples of unknown address. NMI, or interrupts off. */
void hwpmc_kgmon_lost_nmi(u64 n);

/* Upper bound of the number of entries. */
u32 hwpmc_kgmon_most(void);

/* The ioctl; to: a kernel buffer for `room` entries. hwpmc_lock. */
int hwpmc_kgmon_op(struct hwpmc_op_kgmon *op, struct hwpmc_kgmon_entry *to,
		   u32 room);
/* Collect, or not. hwpmc_lock. */
void hwpmc_kgmon_switch(bool on);

#endif /* HWPMC_KGMON_H */
