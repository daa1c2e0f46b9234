// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_v6_regs.c - registers that perfmon 6 gives a counter beside its select: which counters
 * reload it, and its value and PEBS record then. perf leaves them set when it stops, and takes
 * them to be as it left them when it counts again. The module counts with 0, so it keeps what
 * they held and writes that back at release.
 *
 * On the CPU concerned, interrupts off.
 */
#include <linux/percpu.h>

#include "intel.h"
#include "intel_regs.h"
#include "x86_reserve.h"

/* What they held before the claim; touched on the CPU itself. */
struct kept {
	u64 gp[HWPMC_INTEL_GP_MAX][2], fixed[HWPMC_INTEL_FIXED_MAX][2];
};

static DEFINE_PER_CPU(struct kept, kept);

static void clear_register(u32 msr, u64 *was)
{
	u64 value;

	if (hwpmc_rdmsr_safe(msr, &value)) {
		hwpmc_x86_note_fault_nmi(msr);
		return;
	}
	if (!value)
		return;
	*was = value;
	hwpmc_x86_wrmsr_nmi(msr, 0);
}

static void restore_register(u32 msr, u64 *was)
{
	if (*was)
		hwpmc_x86_wrmsr_nmi(msr, *was);
	*was = 0;
}

/* reload, config: of which counters the two registers exist, from `first` four apart. */
static void reset_registers(u32 reload, u32 config, u32 first, u64 (*was)[2], bool on)
{
	void (*reset)(u32, u64 *) = on ? clear_register : restore_register;
	unsigned int i;

	for (i = 0; (reload | config) >> i; i++) {
		if (reload >> i & 1)
			reset(first + 4 * i, &was[i][0]);
		if (config >> i & 1)
			reset(first + 4 * i + 1, &was[i][1]);
	}
}

void hwpmc_intel_more_gp_irqoff(const struct hwpmc_intel_pmu *here, bool on)
{
	reset_registers(here->reload_gp, here->reload_gp | here->pebs_gp, INTEL_PMC_RELOAD(0),
			this_cpu_ptr(&kept)->gp, on);
}

void hwpmc_intel_more_fixed_irqoff(const struct hwpmc_intel_pmu *here, bool on)
{
	reset_registers(here->reload_fixed, here->reload_fixed | here->pebs_fixed,
			INTEL_FIXED_RELOAD(0), this_cpu_ptr(&kept)->fixed, on);
}
