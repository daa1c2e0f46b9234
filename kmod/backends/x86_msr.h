/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_msr.h - writes to the registers of a bank. A fault is noted in hwpmc_msr_faulted. Any
 * context on the CPU concerned, NMI included.
 */
#ifndef HWPMC_X86_MSR_H
#define HWPMC_X86_MSR_H

#include "../compat/msr.h"

void hwpmc_x86_note_fault_nmi(u32 msr);

static inline void hwpmc_x86_wrmsr_nmi(u32 msr, u64 value)
{
	if (unlikely(hwpmc_wrmsr_safe(msr, value)))
		hwpmc_x86_note_fault_nmi(msr);
}

#endif /* HWPMC_X86_MSR_H */
