// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * amd_side_regs.c - what others have left beside AMD's counters: with a bit of DEBUGCTL all stand
 * still from the first overflow on, until a bit of the global status is acknowledged. Neither
 * perf nor the module uses it. It is cleared at the claim and given back as found. On the CPU
 * concerned, interrupts off.
 */
#include <linux/percpu.h>

#include "../compat/msr.h"
#include "amd_side_regs.h"
#include "amd_regs.h"

/* By CPU: the bit was set, and has been cleared. */
static DEFINE_PER_CPU(bool, amd_found);

void hwpmc_amd_found_clear_irqoff(void)
{
	u64 value;

	if (hwpmc_rdmsr_safe(AMD_DEBUGCTL, &value) || !(value & AMD_DEBUGCTL_FREEZE))
		return;
	__this_cpu_write(amd_found, true);
	hwpmc_wrmsr_safe(AMD_DEBUGCTL, value & ~AMD_DEBUGCTL_FREEZE);
}

void hwpmc_amd_found_restore_irqoff(void)
{
	u64 value;

	if (!__this_cpu_read(amd_found))
		return;
	__this_cpu_write(amd_found, false);
	if (!hwpmc_rdmsr_safe(AMD_DEBUGCTL, &value))
		hwpmc_wrmsr_safe(AMD_DEBUGCTL, value | AMD_DEBUGCTL_FREEZE);
}
