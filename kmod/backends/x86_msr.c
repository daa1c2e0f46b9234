// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_msr.c - see x86_msr.h.
 */
#include "../compat/fault.h"
#include "x86_msr.h"

void hwpmc_x86_note_fault_nmi(u32 msr)
{
	cmpxchg(&hwpmc_msr_faulted, 0, msr);
}
