// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* nmi_others.c - see nmi_others.h. */
#include <linux/ptrace.h>
#include <asm/nmi.h>

#include "../backends/x86_pmi.h"
#include "../core/cpu.h"
#include "expected_nmi.h"
#include "log.h"
#include "nmi_others.h"

DEFINE_PER_CPU(struct hwpmc_nmi_others, hwpmc_nmi_others);
static bool registered;		/* hwpmc_lock */

void hwpmc_nmi_others_leave_nmi(u64 now)
{
	/* Where NMIs are merged the mask marks those of the counters. */
	if (!hwpmc_pmi_merges_nmi())
		this_cpu_write(hwpmc_nmi_others.left, now);
}

void hwpmc_nmi_others_claimed_nmi(struct hwpmc_nmi_others *o)
{
	if (!hwpmc_nmi_may_arrive_nmi(o->claimed, o->left))
		o->credit = 0;
	if (o->credit < HWPMC_NMI_MOST)
		o->credit++;
	o->claimed = o->left;
	o->left = 0;
}

/* found: the time of the last overflow that was found here. */
static bool is_counters_nmi(struct hwpmc_nmi_others *o, u64 found, u64 now)
{
	if (!hwpmc_nmi_may_arrive_nmi(found, now) || found == o->answered)
		return false;
	if (!o->credit || !hwpmc_nmi_may_arrive_nmi(o->claimed, now))
		return false;
	o->credit--;
	o->answered = found;
	return true;
}

/* Nobody has claimed it. */
static int handle_unknown_nmi(unsigned int type, struct pt_regs *regs)
{
	struct hwpmc_nmi_others *o = this_cpu_ptr(&hwpmc_nmi_others);
	u64 now = o->left;

	o->left = 0;
	if (!now || !is_counters_nmi(o, this_cpu_read(hwpmc_cpus->nmi_last), now))
		return NMI_DONE;
	return NMI_HANDLED;
}

int hwpmc_nmi_others_register(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_pmi_merges_nmi())
		return 0;
	ret = register_nmi_handler(NMI_UNKNOWN, handle_unknown_nmi, 0, "hwpmc");
	registered = !ret;
	return ret;
}

/* At unload. */
void hwpmc_nmi_others_exit(void)
{
	if (registered)
		unregister_nmi_handler(NMI_UNKNOWN, "hwpmc");
	registered = false;
}
