// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * claim.c - claims the hardware of a class while PMCs need it, and gives it back. Process
 * context, hwpmc_lock.
 */
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>

#include "../core/cpu.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "../sampling/sample.h"
#include "../sampling/trial.h"
#include "../task/rdpmc.h"
#include "claim.h"
#include "wrap.h"

/* By class: its PMCs. The hardware is claimed while this is not 0, or stays so. hwpmc_lock. */
static unsigned int class_users[HWPMC_CLASS_MAX];

/* Has an access to a register of the class faulted? */
static int check_msr_fault(const struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	u32 msr = hwpmc_class_fault(cls);

	if (likely(!msr))
		return 0;
	*why = HWPMC_WHY_PMU_REFUSED;
	*detail = msr;
	return -EIO;
}

/* taken_times() at the last claim. hwpmc_lock. */
static u64 times_before;

/* perf has released the counters: its RDPMC permissions and its counts are void. */
static void claim_generation_begin(const struct hwpmc_class *cls)
{
	u64 times = cls->ops->taken_times ? cls->ops->taken_times(cls) : 0;

	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(hwpmc_claim_generation, hwpmc_claim_generation + 1);
	hwpmc_rdpmc_take_all(!times || times != times_before);
	times_before = times;
}

/* What the NMI handler could not say. */
static void report_restored(void)
{
	static u64 reported;	/* hwpmc_lock */
	struct hwpmc_stats sum;

	hwpmc_stats_sum(&sum);
	if (sum.restored == reported)
		return;
	pr_info_ratelimited("perf switched the counters off in %llu NMIs (it does while Intel PT or BTS is in use): hwpmc switched them on again, and counts of kernel mode lack what was executed in these NMIs\n",
			    sum.restored - reported);
	reported = sum.restored;
}

static void class_unclaim(struct hwpmc_class *cls)
{
	lockdep_assert_held(&hwpmc_lock);
	report_restored();
	clear_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
	hwpmc_trial_forget(cls);
	hwpmc_cpus_class_off(cls);
	cls->ops->release(cls);
}

static int class_claim(struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	u32 msr;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!cls->ops->claim) {
		WRITE_ONCE(cls->read_fault, 0);
		set_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
		hwpmc_wrap_begin();
		return 0;
	}
	/* Also where nothing samples: it switches counters on again that perf's handler has
	 * switched off. */
	if (cls->ops->restore_control_nmi && hwpmc_nmi_register_once()) {
		*why = HWPMC_WHY_NO_MEMORY;
		return -ENOMEM;
	}
	ret = cls->ops->claim(cls, why, detail);
	trace_hwpmc_md_init(cls->id, ret);
	if (ret)
		return ret;
	if (cls->nmi && !(hwpmc_claimed_classes & hwpmc_classes_nmi))
		claim_generation_begin(cls);
	set_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
	msr = hwpmc_cpus_class_on(cls);
	if (msr) {
		class_unclaim(cls);
		pr_info_ratelimited("a counter runs that nobody has reserved (MSR %#x): firmware, a hypervisor or the kernel before the last reboot\n",
				    msr);
		*why = HWPMC_WHY_PMU_RUNNING;
		*detail = msr;
		return -EBUSY;
	}
	hwpmc_wrap_begin();
	hwpmc_trial_counters(cls);
	return 0;
}

int hwpmc_class_get(struct hwpmc_class *cls, u32 *why, s32 *detail)
{
	unsigned int i = cls - hwpmc_machine.cls;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (unlikely(READ_ONCE(hwpmc_leaving))) {
		*why = HWPMC_WHY_LEAVING;
		*detail = 0;
		return -EBUSY;
	}
	ret = test_bit(i, &hwpmc_claimed_classes) ? 0 : class_claim(cls, why, detail);
	if (ret)
		return ret;
	class_users[i]++;
	ret = check_msr_fault(cls, why, detail);
	if (ret)
		hwpmc_class_put(cls);
	return ret;
}

void hwpmc_class_put(struct hwpmc_class *cls)
{
	unsigned int i = cls - hwpmc_machine.cls;

	lockdep_assert_held(&hwpmc_lock);
	if (WARN_ON_ONCE(!class_users[i]) || --class_users[i])
		return;
	if (!cls->ops->claim) {
		clear_bit(i, &hwpmc_claimed_classes);
		return;
	}
	/* Off and on would interrupt all CPUs. */
	if (cls->stays_on)
		return;
	class_unclaim(cls);
	trace_hwpmc_md_exit(cls->id, 0);
}
