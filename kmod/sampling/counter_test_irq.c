// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * counter_test_irq.c - see counter_test.h. A counter that stops shortly before its overflow makes one,
 * and its interrupt is waited for. Interrupts are off for about a thousand instructions, for three
 * thousand where no overflow comes.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <asm/cpufeature.h>

#include "../backends/x86_pmi.h"
#include "../compat/timekeeping.h"
#include "log.h"
#include "counter_test.h"

#define ATTEMPTS	3
#define ARMED		128	/* events until the overflow, a multiple of every model's unit */
/*
 * Turns of the loop, at most, until the overflow, which is looked for after each LOOK_TURNS:
 * reference cycles may be no more than one in five turns. All of them are run where nothing is
 * counted, with interrupts off. The looks are RDPMCs, fewer than ARMED, since a hypervisor may
 * have a counter count those alone.
 */
#define OVERFLOW_TURNS	1024
#define LOOK_TURNS	64
#define WAIT_NS		(10 * NSEC_PER_MSEC)
#define WAIT_POLLS	100000	/* and so many: the time may have been another machine's */

struct trial_step {
	struct hwpmc_class *cls;
	unsigned int ri;
	unsigned int cpu;
	struct hwpmc_select select;
	bool certain;		/* the loops make enough events for an overflow */
	bool overflowed, came;
};

/* CPUs where an interrupt has come. hwpmc_lock. */
static struct cpumask in_order;
static bool is_old;	/* .in_order; set in any context */
static u8 clock_seq;	/* changes with the kernel's clock source. hwpmc_lock */

/* Another clock is another machine, as far as can be seen. */
static void begin_again_if_old(void)
{
	u8 now = hwpmc_clock_changes();

	lockdep_assert_held(&hwpmc_lock);
	if (xchg(&is_old, false) || now != clock_seq)
		cpumask_clear(&in_order);
	clock_seq = now;
}

static bool test_has_overflowed_nmi(const struct hwpmc_row *row)
{
	return !(hwpmc_rdpmc(row->rdpmc) & (row->mask ^ row->mask >> 1));
}

bool hwpmc_trial_came_nmi(struct hwpmc_cpu *c)
{
	const struct hwpmc_row *row = c->trial;

	if (c->trial_came)
		return false;
	/* A former attempt's that is late is ours as well. */
	if (!test_has_overflowed_nmi(row)) {
		if (!c->trial_late)
			return false;
		c->trial_late = false;
		hwpmc_pmi_open_nmi();
		return true;
	}
	row->cls->ops->row.stop_nmi(row->cls, row->ri);
	if (row->cls->ops->interrupt.ack_nmi)
		row->cls->ops->interrupt.ack_nmi(row->cls, BIT_ULL(row->ri));
	hwpmc_pmi_open_nmi();
	WRITE_ONCE(c->trial_came, true);
	return true;
}

static void arm_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr = t->cls->first + t->ri, i;

	/* While one is expected the handler looks at rows that sample, and there are none. */
	c->trial_late = c->nmi_expected;
	c->nmi_expected = 0;
	c->trial_came = false;
	WRITE_ONCE(c->trial, &hwpmc_rows[nr]);
	c->dirty |= BIT_ULL(nr);
	t->cls->ops->row.write_nmi(t->cls, t->ri, -(u64)ARMED);
	t->cls->ops->row.program_irqoff(t->cls, t->ri, &t->select);
	for (i = 0; i < OVERFLOW_TURNS / LOOK_TURNS && !t->overflowed; i++) {
		hwpmc_still_work_irqoff(LOOK_TURNS);
		t->overflowed = READ_ONCE(c->trial_came) || test_has_overflowed_nmi(c->trial);
	}
}

static void disarm_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);

	t->cls->ops->row.stop_nmi(t->cls, t->ri);
	if (t->cls->ops->interrupt.ack_nmi)
		t->cls->ops->interrupt.ack_nmi(t->cls, BIT_ULL(t->ri));
	/* It may come yet, or while this is written. */
	c->nmi_expected = hwpmc_log_time_nmi();
	WRITE_ONCE(c->trial, NULL);
	t->came = READ_ONCE(c->trial_came);
	if (t->came)
		c->nmi_expected = 0;
}

static void await_interrupt(const struct hwpmc_cpu *c)
{
	ktime_t end = ktime_add_ns(ktime_get(), WAIT_NS);
	unsigned int polls;

	for (polls = 0; !READ_ONCE(c->trial_came); polls++) {
		if (polls > WAIT_POLLS && ktime_after(ktime_get(), end))
			return;
		cpu_relax();
		cond_resched();
	}
}

/* 0, or a reason. 0 too if an overflow was not certain, and there was none. */
static u32 try_interrupt(struct trial_step *t)
{
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++) {
		t->overflowed = false;
		t->came = false;
		if (hwpmc_cpu_call(t->cpu, arm_irqoff, t))
			return 0;
		if (t->overflowed)
			await_interrupt(per_cpu_ptr(hwpmc_cpus, t->cpu));
		if (hwpmc_cpu_call(t->cpu, disarm_irqoff, t) || hwpmc_class_msr_fault(t->cls) ||
		    t->came || (!t->overflowed && !t->certain))
			return 0;
	}
	return t->overflowed ? HWPMC_WHY_NO_INTERRUPT : HWPMC_WHY_ROW_STILL;
}

/* An event that counts on this row. */
static bool choose_event(struct trial_step *t)
{
	const struct hwpmc_trial *trial = t->cls->ops->trial;
	struct hwpmc_encoding enc;
	unsigned int n;

	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++) {
		hwpmc_trial_encode(t->cls, n, t->cpu, HWPMC_MODE_SS, &enc);
		if (!(enc.rows & BIT_ULL(t->ri)) || t->cls->found.filtered & BIT(n))
			continue;
		t->select = enc.select;
		t->certain = trial->event[n].kind != HWPMC_TRIAL_REFERENCE;
		return true;
	}
	return false;
}

int hwpmc_trial_interrupt(unsigned int nr, struct hwpmc_hdr *hdr)
{
	struct hwpmc_class *cls = hwpmc_rows[nr].cls;
	struct trial_step t = { .cls = cls, .ri = hwpmc_rows[nr].ri };
	u32 why;

	lockdep_assert_held(&hwpmc_lock);
	if (!cls->ops->trial || !boot_cpu_has(X86_FEATURE_HYPERVISOR) ||
	    hwpmc_class_msr_fault(cls) || hwpmc_rows[nr].users)
		return 0;
	hwpmc_class_forget_notes(cls, HWPMC_WHY_NO_INTERRUPT);
	begin_again_if_old();
	for_each_online_cpu(t.cpu) {
		if (cpumask_test_cpu(t.cpu, &in_order) || !hwpmc_cpu_is_admitted(t.cpu) ||
		    !(hwpmc_trial_rows(cls, t.cpu) & BIT_ULL(t.ri)) || !choose_event(&t))
			continue;
		why = try_interrupt(&t);
		if (t.came)
			cpumask_set_cpu(t.cpu, &in_order);
		if (!why)
			continue;
		if (why == HWPMC_WHY_NO_INTERRUPT)
			hwpmc_class_note(cls, why, 0, 0);
		return hwpmc_refuse(hdr, -EOPNOTSUPP, why, why == HWPMC_WHY_ROW_STILL);
	}
	return 0;
}

void hwpmc_trial_interrupt_forget(void)
{
	WRITE_ONCE(is_old, true);
}
