// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * nmi.c - the handler: is the NMI ours? All handlers of the machine are asked at
 * each NMI, so the answer no must be quick; and a yes too many would hide a real
 * fault of the machine, a yes too few makes the kernel report an unknown NMI.
 *
 * Counters are not stopped meanwhile: that would be two more MSR writes. One
 * that overflows while we look is either seen in the second look, or raises
 * the next NMI; if both, that NMI finds nothing and is expected to. One that
 * another device's NMI has found, or none at all, is known by Intel's mask only.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>

#include "../backends/x86_pmi.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "log.h"
#include "sample.h"
#include "throttle.h"

static bool registered;		/* hwpmc_lock */

/*
 * An NMI that was on its way when its overflow was dealt with arrives at once, or
 * within what delays it: the end of another NMI; a hypervisor, which may also take
 * the CPU away meanwhile, for hundreds of milliseconds where it has too few.
 */
static bool is_soon_nmi(u64 since, u64 now)
{
	unsigned int ms = boot_cpu_has(X86_FEATURE_HYPERVISOR) ? 1000 : 100;

	return since && now - since <= hwpmc_log_ticks(ms);
}

static bool is_expected_nmi(struct hwpmc_cpu *c, u64 now)
{
	if (!is_soon_nmi(c->nmi_expected, now))
		return false;
	c->nmi_expected = 0;
	return true;
}

/* Where registers fault nothing but the counter tells whose NMI it was. */
static unsigned int find_unstoppable_nmi(struct hwpmc_cpu *c)
{
	return likely(!c->unstoppable) ? 0 : hwpmc_sample_unstoppable_nmi(c);
}

/*
 * Nothing samples here. The counters' interrupt is ours as long as they are, and
 * where they were until just now: it was on its way when they were given back, or
 * when the CPU was about to go.
 */
static int idle_nmi(struct hwpmc_cpu *c)
{
	bool mine = c->on & hwpmc_classes_nmi ||
		    is_soon_nmi(c->nmi_last, hwpmc_log_time());

	if (!find_unstoppable_nmi(c) && !(mine && hwpmc_pmi_has_come_nmi()))
		return NMI_DONE;
	hwpmc_pmi_open_nmi();
	return NMI_HANDLED;
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int handled, strays, more;
	bool ours;
	u64 now;

	if (likely(!c->sampling && !c->nmi_expected))
		return idle_nmi(c);
	now = hwpmc_log_time();
	handled = hwpmc_sample_all_nmi(c, regs, now);
	strays = find_unstoppable_nmi(c);
	/* A foreign NMI may have found what this one was raised for. */
	ours = handled || strays || hwpmc_pmi_has_come_nmi();
	/* Else one that comes just now would lose the mask that it is known by. */
	if (likely(ours))
		hwpmc_pmi_open_nmi();
	else	/* before another one may be expected */
		ours = is_expected_nmi(c, now);
	/* Overflowed while the interrupt was masked: nobody would tell. */
	more = hwpmc_sample_all_nmi(c, regs, now);
	trace_hwpmc_sampling_intr(handled + more, ours);
	/* One NMI may have been raised for each; this was one of the first look. */
	if (unlikely(more || handled + strays > 1))
		c->nmi_expected = now;
	if (likely(handled + more)) {
		c->nmi_last = now;
		this_cpu_add(hwpmc_stats.intr_processed, handled + more);
		hwpmc_throttle_nmi(c, regs, now);
	}
	if (likely(ours))
		return NMI_HANDLED;
	hwpmc_stat_inc(intr_ignored);
	return NMI_DONE;
}

int hwpmc_nmi_register_once(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (registered)
		return 0;
	ret = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, "hwpmc");
	registered = !ret;
	return ret;
}

void hwpmc_nmi_exit(void)
{
	if (registered)
		unregister_nmi_handler(NMI_LOCAL, "hwpmc");
	registered = false;
}
