/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * callchain.h - the call chain of a sample, taken in the NMI: kernel frames by the
 * kernel's unwinder, user frames by unwind tables or by frame pointers.
 */
#ifndef HWPMC_CALLCHAIN_H
#define HWPMC_CALLCHAIN_H

#include <linux/types.h>

struct hwpmc_pmc;
struct pt_regs;

/* Entries that a chain can have beyond its depth: HWPMC_PC_USER. */
#define HWPMC_CALLCHAIN_MARKS	1

/*
 * Fill pc[] for a sample of the PMC at regs (NULL: at the caller of this module, in
 * the kernel): 1 to max frames, among them, with HWPMC_F_TABLES, HWPMC_PC_FP and
 * HWPMC_PC_END(); and where max is more than 1 HWPMC_PC_USER between kernel and user
 * frames. *flags gets HWPMC_SAMPLE_*. Returns the number of entries, at most
 * max + HWPMC_CALLCHAIN_MARKS. NMI, or interrupts off.
 */
unsigned int hwpmc_callchain_nmi(const struct hwpmc_pmc *pmc,
				 struct pt_regs *regs, u64 *pc,
				 unsigned int max, u8 *flags);

#endif /* HWPMC_CALLCHAIN_H */
