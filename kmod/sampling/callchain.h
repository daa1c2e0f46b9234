/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * callchain.h - where a sample hit and how the program came there. In the NMI, at
 * once: kernel frames by the kernel's unwinder, user frames by frame pointers.
 */
#ifndef HWPMC_CALLCHAIN_H
#define HWPMC_CALLCHAIN_H

#include <linux/types.h>

struct hwpmc_pmc;
struct pt_regs;

/*
 * Fill pc[] for a sample of the PMC that hit regs, or, where that is NULL, the
 * kernel that called into this module: one frame at least and max at most, and
 * where max is more than one, a mark among them. *flags gets HWPMC_SAMPLE_*.
 * Returns the number of entries. NMI, or interrupts off.
 */
unsigned int hwpmc_callchain_nmi(const struct hwpmc_pmc *pmc,
				 struct pt_regs *regs, u64 *pc,
				 unsigned int max, u8 *flags);

#endif /* HWPMC_CALLCHAIN_H */
