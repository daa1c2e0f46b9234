// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.12: leave_mm() has no argument; it was the CPU's number, and not used. */
#include <linux/mmu_context.h>
#include <asm/mmu.h>

void probe(void);

void probe(void)
{
	leave_mm();
}
