// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_firmware.c - see x86_reserve.h. Programmable counters go on from the values that they had;
 * of the fixed counters the control alone is kept, since their values go on anyway.
 */
#include <linux/percpu.h>
#include <linux/smp.h>

#include "x86_reserve.h"

#define COUNTERS	18	/* the most of any bank: Netburst's */

struct taken {
	bool any;
	u64 sel[COUNTERS], ctr[COUNTERS];	/* sel 0: it did not run */
	u64 fixed_ctrl, global_ctrl;
};

static DEFINE_PER_CPU(struct taken, taken);
/* Of some CPU: a release without it sends no IPI. */
static bool some_taken;

static u64 read_or_0(u32 msr)
{
	u64 value;

	return msr && !hwpmc_rdmsr_safe(msr, &value) ? value : 0;
}

void hwpmc_x86_take_irqoff(const struct hwpmc_x86_bank *bank)
{
	struct taken *t = this_cpu_ptr(&taken);
	unsigned int i;

	*t = (struct taken){ .any = true };
	WRITE_ONCE(some_taken, true);
	for (i = 0; i < bank->num; i++) {
		u64 sel = read_or_0(hwpmc_x86_sel(bank, i));

		if (!(sel & bank->sel_runs))
			continue;
		t->sel[i] = sel;
		t->ctr[i] = read_or_0(hwpmc_x86_ctr(bank, i));
	}
	t->fixed_ctrl = read_or_0(bank->fixed_ctrl);
	t->global_ctrl = read_or_0(bank->global_ctrl);
}

static void put_back_ipi(void *arg)
{
	const struct hwpmc_x86_bank *bank = arg;
	struct taken *t = this_cpu_ptr(&taken);
	unsigned int i;

	if (!t->any)
		return;
	for (i = 0; i < bank->num; i++) {
		if (!t->sel[i])
			continue;
		hwpmc_x86_wrmsr_nmi(hwpmc_x86_ctr(bank, i), t->ctr[i]);
		hwpmc_x86_wrmsr_nmi(hwpmc_x86_sel(bank, i), t->sel[i]);
	}
	if (t->fixed_ctrl)
		hwpmc_x86_wrmsr_nmi(bank->fixed_ctrl, t->fixed_ctrl);
	if (bank->global_ctrl)
		hwpmc_x86_wrmsr_nmi(bank->global_ctrl, t->global_ctrl);
	t->any = false;
}

void hwpmc_x86_put_back(const struct hwpmc_x86_bank *bank)
{
	int cpu;

	if (!READ_ONCE(some_taken))
		return;
	some_taken = false;
	on_each_cpu(put_back_ipi, (void *)bank, 1);
	/* One that is offline has forgotten them; it comes back without. */
	for_each_possible_cpu(cpu)
		per_cpu(taken, cpu).any = false;
}
