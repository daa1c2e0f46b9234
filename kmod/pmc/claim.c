// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * claim.c - claims the hardware of a class while PMCs need it, and gives it back. Process
 * context, hwpmc_lock.
 */
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <asm/cpufeature.h>

#include "../core/cpu.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "../sampling/sample.h"
#include "../sampling/counter_test.h"
#include "../task/rdpmc.h"
#include "claim.h"
#include "look.h"
#include "wrap.h"

u64 hwpmc_claims;

/* By class: its PMCs. The hardware is claimed while this is not 0, or stays so. hwpmc_lock. */
static unsigned int class_users[HWPMC_CLASS_MAX];

/* Has an access to a register of the class faulted? */
static int check_msr_fault(const struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	u32 msr = hwpmc_class_fault(cls);

	return likely(!msr) ? 0 : hwpmc_refuse(hdr, -EIO, HWPMC_WHY_PMU_REFUSED, msr);
}

/* taken_times() at the last claim. hwpmc_lock. */
static u64 times_before;

/* perf has released the counters: its RDPMC permissions and its counts are void. */
static void claim_generation_begin(const struct hwpmc_class *cls)
{
	u64 times = cls->ops->hardware.taken_times ? cls->ops->hardware.taken_times(cls) : 0;

	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(hwpmc_claim_generation, hwpmc_claim_generation + 1);
	hwpmc_rdpmc_take_all(!times || times != times_before);
	times_before = times;
}

static u64 restored_reported;		/* hwpmc_lock */

/* Report the NMIs in which the handler, which cannot print, has restored controls. */
static void report_restored(void)
{
	struct hwpmc_stats sum;

	hwpmc_stats_sum(&sum);
	if (sum.restored == restored_reported)
		return;
	pr_info_ratelimited("perf switched the counters off in %llu NMIs (it does while Intel PT or BTS is in use): hwpmc switched them on again, and counts of kernel mode lack the events of these NMIs\n",
			    sum.restored - restored_reported);
	restored_reported = sum.restored;
}

static void class_unclaim(struct hwpmc_class *cls)
{
	lockdep_assert_held(&hwpmc_lock);
	report_restored();
	clear_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
	hwpmc_cpus_class_off(cls);
	cls->ops->hardware.release(cls);
	if (cls->ops->interrupt.sampler)
		static_branch_dec(&hwpmc_has_samplers);
}

/* Switches the class on, everywhere, for the first PMC or for a trial. */
static int class_take(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	u32 msr;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	/* Also where nothing samples: it switches counters on again that perf's handler has
	 * switched off. */
	if (cls->ops->control.restore_nmi && hwpmc_nmi_register_once())
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = cls->ops->hardware.claim(cls, hdr);
	if (ret)
		return ret;
	hwpmc_claims++;
	if (cls->ops->interrupt.sampler)
		static_branch_inc(&hwpmc_has_samplers);
	else if (cls->nmi && !(hwpmc_claimed_classes & hwpmc_classes_nmi))
		claim_generation_begin(cls);
	set_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
	msr = hwpmc_cpus_class_on(cls);
	if (!msr)
		return 0;
	class_unclaim(cls);
	return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_PMU_RUNNING, msr);
}

/* The other class that is claimed by the same reservation, or NULL. */
static struct hwpmc_class *mate_of(const struct hwpmc_class *cls)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *other = &hwpmc_machine.cls[i];

		if (other != cls && other->ops->trial && other->ops->hardware.claim == cls->ops->hardware.claim)
			return other;
	}
	return NULL;
}

static bool is_claimed(const struct hwpmc_class *cls)
{
	return cls && class_users[cls - hwpmc_machine.cls];
}

/* Tries a row again that stood still when its class was tried. Returns true if it came back. */
static bool row_try_again(struct hwpmc_row *row)
{
	struct hwpmc_class *cls = row->cls, *mate = mate_of(cls);
	bool off = mate && !is_claimed(mate);
	struct hwpmc_hdr unused;

	if (row->users || row->halves || !hwpmc_trial_row(cls, row->ri))
		return false;
	/* Both have their counters of the same host, and one limit. */
	if (off && class_take(mate, &unused))
		return false;
	hwpmc_trial_row_came_back(cls, row->ri, mate);
	if (off)
		class_unclaim(mate);
	return true;
}

static unsigned int next_try;		/* a row, modulo hwpmc_nrows; hwpmc_lock */

bool hwpmc_class_try_again(bool *tried)
{
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	*tried = false;
	for (i = 0; i < hwpmc_nrows; i++) {
		struct hwpmc_row *row = &hwpmc_rows[next_try++ % hwpmc_nrows];

		if (!is_claimed(row->cls) || !(row->cls->found.still & BIT_ULL(row->ri)))
			continue;
		*tried = true;
		return row_try_again(row);
	}
	return false;
}

/* While the other class is claimed all rows cannot be tried: those are that stood still. */
static void class_try_still(struct hwpmc_class *cls)
{
	unsigned int ri;

	for (ri = 0; ri < cls->num; ri++)
		if (cls->found.still & BIT_ULL(ri))
			row_try_again(&hwpmc_rows[cls->first + ri]);
}

/*
 * Under a hypervisor two classes take their counters of the same host: the first that is claimed
 * is tried together with the other.
 */
static void class_try(struct hwpmc_class *cls)
{
	struct hwpmc_class *mate = mate_of(cls);
	struct hwpmc_hdr unused;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR)) {
		hwpmc_trial_counters(cls, NULL);
		return;
	}
	if (is_claimed(mate)) {
		class_try_still(cls);
		return;
	}
	if (mate && class_take(mate, &unused))
		mate = NULL;
	hwpmc_trial_counters(cls, mate);
	if (mate)
		class_unclaim(mate);
}

static void class_forget(struct hwpmc_class *cls)
{
	struct hwpmc_class *mate = mate_of(cls);

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR)) {
		hwpmc_trial_forget(cls);
		return;
	}
	if (is_claimed(mate))
		return;
	hwpmc_trial_forget(cls);
	if (mate)
		hwpmc_trial_forget(mate);
}

static int class_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(cls->read_fault, 0);
	if (!cls->ops->hardware.claim) {
		set_bit(cls - hwpmc_machine.cls, &hwpmc_claimed_classes);
		hwpmc_wrap_begin();
		return 0;
	}
	ret = class_take(cls, hdr);
	trace_hwpmc_md_init(cls->id, ret);
	if (ret && hdr->reason == HWPMC_WHY_PMU_RUNNING)
		pr_info_ratelimited("a counter runs without a reservation (MSR %#x): firmware, a hypervisor or the previous kernel left it running\n",
				    hdr->detail);
	if (ret)
		return ret;
	hwpmc_wrap_begin();
	hwpmc_look_begin();
	class_try(cls);
	return 0;
}

int hwpmc_class_get(struct hwpmc_class *cls, struct hwpmc_hdr *hdr)
{
	unsigned int i = cls - hwpmc_machine.cls;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (unlikely(READ_ONCE(hwpmc_leaving)))
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_LEAVING, 0);
	ret = test_bit(i, &hwpmc_claimed_classes) ? 0 : class_claim(cls, hdr);
	if (ret)
		return ret;
	class_users[i]++;
	ret = check_msr_fault(cls, hdr);
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
	if (!cls->ops->hardware.claim) {
		clear_bit(i, &hwpmc_claimed_classes);
		return;
	}
	/* Off and on would interrupt all CPUs. */
	if (cls->stays_on)
		return;
	class_unclaim(cls);
	class_forget(cls);
	trace_hwpmc_md_exit(cls->id, 0);
}
