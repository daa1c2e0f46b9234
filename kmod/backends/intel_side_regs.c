// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_side_regs.c - registers beside the counters, as others have left them, that would make
 * counters stand still or not interrupt: DEBUGCTL can freeze all at the first interrupt,
 * PEBS_ENABLE has an overflow write a record to the memory that DS_AREA names, and no
 * interrupt. They are cleared at the claim and given back as found. On the CPU concerned,
 * interrupts off.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "../compat/msr.h"
#include "intel.h"
#include "intel_regs.h"

/* In the order in which they are cleared: what writes records before where to. */
static const struct {
	u32 msr;
	u64 clear;
} regs[] = {
	{ INTEL_DEBUGCTL, INTEL_DEBUGCTL_FREEZE | INTEL_DEBUGCTL_BTS },
	{ INTEL_PEBS_ENABLE, ~0ULL },
	{ INTEL_DS_AREA, ~0ULL },
};

/* By CPU: what was cleared of each, and whether that has been done. */
static DEFINE_PER_CPU(u64 [ARRAY_SIZE(regs)], intel_found);
static DEFINE_PER_CPU(bool, cleared);

/* A hypervisor may not have the register: then nothing is left in it either. */
void hwpmc_intel_found_clear_irqoff(void)
{
	unsigned int i;
	u64 value;

	if (__this_cpu_read(cleared))
		return;
	__this_cpu_write(cleared, true);
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		if (hwpmc_rdmsr_safe(regs[i].msr, &value))
			value = 0;
		__this_cpu_write(intel_found[i], value & regs[i].clear);
		if (value & regs[i].clear)
			hwpmc_wrmsr_safe(regs[i].msr, value & ~regs[i].clear);
	}
}

/* A bit that was set there meanwhile is another driver's, and stays. */
static void give_back_irqoff(unsigned int i)
{
	u64 value, back = __this_cpu_read(intel_found[i]);

	if (back && !hwpmc_rdmsr_safe(regs[i].msr, &value) && !(value & regs[i].clear))
		hwpmc_wrmsr_safe(regs[i].msr, value | back);
}

void hwpmc_intel_found_restore_irqoff(void)
{
	unsigned int i;

	if (!__this_cpu_read(cleared))
		return;
	for (i = ARRAY_SIZE(regs); i--;)
		give_back_irqoff(i);
	__this_cpu_write(cleared, false);
}
