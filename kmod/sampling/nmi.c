// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * nmi.c - the NMI handler. The kernel calls all handlers of the machine at each NMI,
 * so a foreign NMI must be recognised quickly. Claiming one NMI too many hides a
 * fault of the machine; claiming one too few makes the kernel report an unknown NMI.
 * The decision is in nmi_decide.h.
 *
 * Counters are not stopped while the handler runs: that would cost two more MSR
 * writes. A counter that overflows meanwhile is found by the second look, or raises
 * the next NMI, or both; in the last case that NMI finds nothing and is expected.
 * The overflow may also be handled in another device's NMI; the NMI that the counter
 * raised is then recognised by the mask, and on AMD, whose APIC sets none, by what other
 * handlers claim (nmi_others.h).
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <asm/nmi.h>

#include "../backends/x86_pmi.h"
#include "../compat/irq_stat.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "expected_nmi.h"
#include "log.h"
#include "nmi_decide.h"
#include "nmi_others.h"
#include "sample.h"
#include "throttle.h"
#include "counter_test.h"

static bool nmi_registered;		/* hwpmc_lock */

/*
 * Has one of perf's handlers counted this NMI? It runs before this one, for it is registered
 * at boot. AMD's for instruction-based sampling counts its own NMIs alone. Intel's is run at
 * all while an event of Intel PT or BTS exists, which reserve no counter: it switches all
 * counters off, acknowledges their overflows, unmasks their interrupt, and switches them on
 * again only where perf has used the CPU's counters before. It counts NMIs with an overflow.
 */
static bool perf_has_come_nmi(struct hwpmc_cpu *c)
{
	unsigned int irqs = hwpmc_perf_irqs_nmi();

	if (likely(irqs == c->perf_irqs))
		return false;
	c->perf_irqs = irqs;
	return true;
}

/*
 * Since the other handler only NMIs have executed here: what user mode executes is counted
 * exactly. By a read of the register, where perf has been or nothing else explains the NMI.
 */
static void restore_controls_nmi(struct hwpmc_cpu *c)
{
	unsigned long on = c->on & hwpmc_classes_nmi;
	bool lost = false;
	unsigned int i;

	for_each_set_bit(i, &on, HWPMC_CLASS_MAX) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (cls->ops->control.restore_nmi)
			lost |= cls->ops->control.restore_nmi(cls);
	}
	if (unlikely(lost))
		hwpmc_stat_inc(restored);
}

/* MSRs that fault give no other evidence: read the counters. */
static unsigned int count_unstoppable_nmi(struct hwpmc_cpu *c)
{
	return likely(!c->unstoppable) ? 0 : hwpmc_sample_unstoppable_nmi(c);
}

/* perf: one of its handlers has counted it, and so claims it. */
static int leave_nmi(bool perf)
{
	if (!perf)
		hwpmc_nmi_others_leave_nmi(hwpmc_log_time_nmi());
	return NMI_DONE;
}

/*
 * No row is armed and no NMI expected. The counters' interrupt still belongs to the
 * module while it owns the hardware, and for a while after: it may have been raised
 * just before the hardware was given back or the CPU went offline.
 */
static int handle_idle_nmi(struct hwpmc_cpu *c, bool perf)
{
	struct hwpmc_nmi_facts f = { };

	if (unlikely(c->trial) && hwpmc_trial_came_nmi(c))
		return NMI_HANDLED;
	f.owned = c->on & hwpmc_classes_nmi ||
		  hwpmc_nmi_may_arrive_nmi(c->nmi_last, hwpmc_log_time_nmi());
	f.unstoppable = count_unstoppable_nmi(c);
	if (hwpmc_nmi_asks_masked(&f))
		f.masked = hwpmc_pmi_has_come_nmi();
	if (hwpmc_nmi_decide(&f) == HWPMC_NMI_FOREIGN)
		return leave_nmi(perf);
	hwpmc_pmi_open_nmi();
	return NMI_HANDLED;
}

/* Rows of classes with a struct hwpmc_sampler are no counters. No other context of this CPU finds
 * .sampling without them. */
static noinline unsigned int sample_both_nmi(struct hwpmc_cpu *c, struct pt_regs *regs, u64 now)
{
	u64 payloads = c->sampling & hwpmc_rows_sampler;
	unsigned int handled;

	c->sampling &= ~payloads;
	handled = hwpmc_sample_all_nmi(c, regs, now);
	c->sampling |= payloads;
	return handled + hwpmc_sample_payloads_nmi(c, payloads, regs, now);
}

static __always_inline unsigned int sample_rows_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
						    u64 now)
{
	if (static_branch_unlikely(&hwpmc_has_samplers))
		return sample_both_nmi(c, regs, now);
	return hwpmc_sample_all_nmi(c, regs, now);
}

/* Each overflow of a row with a struct hwpmc_sampler raises an NMI of its own. */
static __always_inline bool any_overflow_nmi(struct hwpmc_cpu *c)
{
	u64 all = c->sampling;
	bool any;

	if (!static_branch_unlikely(&hwpmc_has_samplers))
		return hwpmc_sample_any_nmi(c);
	c->sampling = all & ~hwpmc_rows_sampler;
	any = hwpmc_sample_any_nmi(c);
	c->sampling = all;
	return any;
}

/* The first look; it writes the samples of the rows that it finds. */
static __always_inline enum hwpmc_nmi_verdict
decide_nmi(struct hwpmc_cpu *c, struct pt_regs *regs, struct hwpmc_nmi_facts *f, u64 now)
{
	f->overflows = sample_rows_nmi(c, regs, now);
	f->unstoppable = count_unstoppable_nmi(c);
	if (hwpmc_nmi_asks_masked(f))
		f->masked = hwpmc_pmi_has_come_nmi();
	if (hwpmc_nmi_asks_expected(f))
		f->expected = hwpmc_nmi_may_arrive_nmi(c->nmi_expected, now);
	return hwpmc_nmi_decide(f);
}

/* Inline twice: where perf has not come, as mostly, nothing is decided by that. */
static __always_inline int handle_armed_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
					    const bool perf)
{
	struct hwpmc_nmi_facts f = {
		.owned = true, .others = perf && !hwpmc_pmi_merges_nmi(),
	};
	enum hwpmc_nmi_verdict verdict;
	u64 began = hwpmc_cpu_time_nmi(), now = hwpmc_log_time_at_nmi(began);
	unsigned int second_look = 0, to_come;

	verdict = decide_nmi(c, regs, &f, now);
	if (unlikely(perf || !hwpmc_nmi_found(&f)))
		restore_controls_nmi(c);
	/*
	 * A foreign NMI leaves the mask alone: the counters' interrupt may have set it
	 * just now, with its own NMI pending, which is recognised by nothing else.
	 */
	if (likely(verdict == HWPMC_NMI_RAISED))
		hwpmc_pmi_open_nmi();
	/* Before the second look adds to it. */
	if (unlikely(verdict != HWPMC_NMI_FOREIGN && !hwpmc_nmi_found(&f)))
		hwpmc_expected_spend_nmi(c);
	/* The APIC has dropped the interrupt of what overflowed while it was masked. */
	if (unlikely(any_overflow_nmi(c)))
		second_look = sample_rows_nmi(c, regs, now);
	trace_hwpmc_sampling_intr(f.overflows + second_look,
				  verdict != HWPMC_NMI_FOREIGN);
	to_come = hwpmc_nmi_to_come(&f, second_look);
	if (unlikely(to_come))
		hwpmc_expected_add_nmi(c, to_come, now);
	if (likely(f.overflows + second_look)) {
		c->nmi_last = now;
		this_cpu_add(hwpmc_stats.intr_processed, f.overflows + second_look);
		hwpmc_throttle_nmi(c, regs, began);
	}
	if (likely(verdict != HWPMC_NMI_FOREIGN))
		return NMI_HANDLED;
	hwpmc_stat_inc(intr_ignored);
	return leave_nmi(perf);
}

static noinline int handle_beside_perf_nmi(struct hwpmc_cpu *c, struct pt_regs *regs)
{
	return handle_armed_nmi(c, regs, true);
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	bool perf = perf_has_come_nmi(c);

	hwpmc_nmi_others_begin_nmi();
	/* hwpmc_sample_unload_irqoff() sets .nmi_expected before it clears a row's bit
	 * in .sampling: an NMI in between is not taken for idle. */
	if (likely(!c->sampling && !c->nmi_expected)) {
		restore_controls_nmi(c);
		return handle_idle_nmi(c, perf);
	}
	if (unlikely(perf))
		return handle_beside_perf_nmi(c, regs);
	return handle_armed_nmi(c, regs, false);
}

int hwpmc_nmi_register_once(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (nmi_registered)
		return 0;
	ret = hwpmc_nmi_others_register();
	if (ret)
		return ret;
	ret = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, "hwpmc");
	nmi_registered = !ret;
	if (ret)
		hwpmc_nmi_others_exit();
	return ret;
}

/* At unload: nothing samples any more. */
void hwpmc_nmi_exit(void)
{
	if (nmi_registered)
		unregister_nmi_handler(NMI_LOCAL, "hwpmc");
	nmi_registered = false;
	hwpmc_nmi_others_exit();
}
