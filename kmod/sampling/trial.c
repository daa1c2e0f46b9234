// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * trial.c - see trial.h.
 *
 * A hypervisor can have a counter of the machine's for itself, filter an event, or not deliver
 * the interrupt: all of that looks like a 0. Each counter is tried with an event that certainly
 * happens, in kernel mode, for some hundred instructions that are known to run. One counter at a
 * time: those that a hypervisor makes of its own host's may be fewer than it lists. A counter that
 * seems to stand still is tried again, for it may have been taken away for a moment.
 *
 * Each step has interrupts off for about a thousand instructions, that of an overflow that does not
 * come for five thousand, and leaves the row stopped as it found it; no PMC has the row then.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "../backends/width.h"
#include "../backends/x86_pmi.h"
#include "log.h"
#include "trial.h"

#define TURNS		256	/* of the loop: two instructions and one branch each */
#define ATTEMPTS	3
#define ARMED		256	/* events until the overflow, a multiple of every model's unit */
/*
 * Times the loop, at most, until the overflow: reference cycles may be no more than 50 of one.
 * All of them are run where nothing is counted, with interrupts off.
 */
#define OVERFLOW_TURNS	8
#define WAIT_NS		(10 * NSEC_PER_MSEC)
#define WAIT_POLLS	100000	/* and so many: the time may have been another machine's */

/* Instructions that certainly run. */
static noinline void trial_work(void)
{
	unsigned long n = TURNS;

	asm volatile("1:	decq %0\n"
		     "	jnz 1b" : "+r"(n) : : "cc");
}

struct trial_step {
	struct hwpmc_class *cls;
	unsigned int ri;
	unsigned int cpu;
	struct hwpmc_select select;
	u64 counted;
	bool overflowed;
};

/* ---- counting -------------------------------------------------------------- */

static void count_irqoff(void *arg)
{
	struct trial_step *t = arg;
	const struct hwpmc_row *row = &hwpmc_rows[t->cls->first + t->ri];
	u64 begin;

	t->cls->ops->program_irqoff(t->cls, t->ri, &t->select);
	begin = hwpmc_row_read_irqoff(row);
	trial_work();
	t->counted = hwpmc_width_delta(begin, hwpmc_row_read_irqoff(row), row->mask);
	t->cls->ops->stop_nmi(t->cls, t->ri);
}

/* An event of the class's list, in kernel mode. false: the list has no more. */
static bool encode_trial(const struct hwpmc_class *cls, unsigned int n, unsigned int cpu,
			 u32 mode, struct hwpmc_encoding *enc)
{
	struct hwpmc_request req = {
		.caps = HWPMC_CAP_SYSTEM, .flags = HWPMC_F_EV_PMU, .mode = mode,
		.cpu = HWPMC_CPU_ANY, .cpu_kind = per_cpu_ptr(hwpmc_cpus, cpu)->kind,
	};

	if (n >= HWPMC_TRIAL_EVENTS || !cls->ops->trial->config[n])
		return false;
	req.config = cls->ops->trial->config[n];
	/* The model may not have the event, or not on these counters. */
	if (cls->ops->encode(cls, &req, enc))
		enc->rows = 0;
	return true;
}

/* Also true if it could not be tried, which proves nothing. */
static bool row_counts(struct hwpmc_class *cls, unsigned int ri, unsigned int cpu,
		       const struct hwpmc_select *select)
{
	struct trial_step t = { .cls = cls, .ri = ri, .select = *select };
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++)
		if (hwpmc_cpu_call(cpu, count_irqoff, &t) || t.counted ||
		    hwpmc_class_msr_fault(cls))
			return true;
	return false;
}

/* The counters of this kind of core, of the class. */
static u64 rows_here(const struct hwpmc_class *cls, unsigned int cpu)
{
	return (per_cpu_ptr(hwpmc_cpus, cpu)->rows & hwpmc_class_rows(cls)) >> cls->first;
}

/* Adds to *counts each counter on which the event counts, until one does, or of all. */
static u64 rows_that_count(struct hwpmc_class *cls, unsigned int cpu,
			   const struct hwpmc_encoding *enc, u64 rows, bool all)
{
	u64 counts = 0;
	unsigned int ri;

	rows &= enc->rows;
	for (ri = 0; ri < cls->num && (all || !counts); ri++)
		if (rows & BIT_ULL(ri) && row_counts(cls, ri, cpu, &enc->select))
			counts |= BIT_ULL(ri);
	return counts;
}

static void note_filtered(struct hwpmc_class *cls, unsigned int n)
{
	cls->filtered |= BIT(n);
	hwpmc_class_note(cls, HWPMC_WHY_EVENT_FILTERED, (s32)cls->ops->trial->config[n], 0);
}

/*
 * Which counters count anything? Each event of the list is tried on the counters that have
 * counted nothing so far; once all count, on any one. An event that counts on none of those that
 * count others is filtered.
 */
static void try_class(struct hwpmc_class *cls, unsigned int cpu)
{
	u64 here = rows_here(cls, cpu), tried = 0, counts = 0, events = 0, dead = 0;
	struct hwpmc_encoding enc;
	unsigned int n;

	for (n = 0; encode_trial(cls, n, cpu, HWPMC_MODE_SC, &enc); n++) {
		u64 rows = enc.rows & here, found;

		if (!rows)
			continue;
		found = rows_that_count(cls, cpu, &enc, rows & ~counts, true);
		if (!found)
			found = rows_that_count(cls, cpu, &enc, rows & counts, false);
		tried |= rows;
		counts |= found;
		if (found)
			events |= BIT(n);
		else
			dead |= BIT(n);
	}
	/* Fixed counters count one event each: which of the two it is cannot be told. */
	for (n = 0; events && cls->ops->trial->event_bits && n < HWPMC_TRIAL_EVENTS; n++)
		if (dead & BIT(n))
			note_filtered(cls, n);
	cls->still = tried & ~counts;
	if (cls->still)
		hwpmc_class_note(cls, HWPMC_WHY_ROW_STILL, hweight64(cls->still),
				 (u32)cls->still);
}

void hwpmc_trial_counters(struct hwpmc_class *cls)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!cls->ops->trial || cls->in_order || !boot_cpu_has(X86_FEATURE_HYPERVISOR) ||
	    hwpmc_class_msr_fault(cls))
		return;
	hwpmc_class_forget_notes(cls, HWPMC_WHY_EVENT_FILTERED);
	hwpmc_class_forget_notes(cls, HWPMC_WHY_ROW_STILL);
	try_class(cls, raw_smp_processor_id());
	cls->in_order = !cls->still && !cls->filtered && !hwpmc_class_msr_fault(cls);
}

bool hwpmc_trial_is_filtered(const struct hwpmc_class *cls, const struct hwpmc_select *s)
{
	const struct hwpmc_trial *t = cls->ops->trial;
	unsigned int n;

	for (n = 0; cls->filtered && n < HWPMC_TRIAL_EVENTS; n++)
		if (cls->filtered & BIT(n) && !((s->sel ^ t->config[n]) & t->event_bits))
			return true;
	return false;
}

void hwpmc_trial_forget(struct hwpmc_class *cls)
{
	cls->still = 0;
	cls->filtered = 0;
}

/* ---- the interrupt --------------------------------------------------------- */

static bool has_overflowed_nmi(const struct hwpmc_row *row)
{
	return !(hwpmc_rdpmc(row->rdpmc) & (row->mask ^ row->mask >> 1));
}

bool hwpmc_trial_came_nmi(struct hwpmc_cpu *c)
{
	const struct hwpmc_row *row = c->trial;

	if (c->trial_came)
		return false;
	/* A former attempt's that is late is ours as well. */
	if (!has_overflowed_nmi(row)) {
		if (!c->trial_late)
			return false;
		c->trial_late = false;
		hwpmc_pmi_open_nmi();
		return true;
	}
	row->cls->ops->stop_nmi(row->cls, row->ri);
	if (row->cls->ops->ack_nmi)
		row->cls->ops->ack_nmi(row->cls, BIT_ULL(row->ri));
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
	t->cls->ops->write_nmi(t->cls, t->ri, -(u64)ARMED);
	t->cls->ops->program_irqoff(t->cls, t->ri, &t->select);
	for (i = 0; i < OVERFLOW_TURNS && !t->overflowed; i++) {
		trial_work();
		t->overflowed = READ_ONCE(c->trial_came) || has_overflowed_nmi(c->trial);
	}
}

static void disarm_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);

	t->cls->ops->stop_nmi(t->cls, t->ri);
	if (t->cls->ops->ack_nmi)
		t->cls->ops->ack_nmi(t->cls, BIT_ULL(t->ri));
	/* It may come yet, or while this is written. */
	c->nmi_expected = hwpmc_log_time_nmi();
	WRITE_ONCE(c->trial, NULL);
	t->counted = READ_ONCE(c->trial_came);
	if (t->counted)
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

/* Also true if there was no overflow to wait for. */
static bool interrupt_comes(struct trial_step *t)
{
	unsigned int i;

	for (i = 0; i < ATTEMPTS; i++) {
		t->overflowed = false;
		if (hwpmc_cpu_call(t->cpu, arm_irqoff, t))
			return true;
		if (t->overflowed)
			await_interrupt(per_cpu_ptr(hwpmc_cpus, t->cpu));
		if (hwpmc_cpu_call(t->cpu, disarm_irqoff, t) || !t->overflowed || t->counted)
			return true;
	}
	return false;
}

int hwpmc_trial_interrupt(unsigned int nr, unsigned int cpu)
{
	struct hwpmc_class *cls = hwpmc_rows[nr].cls;
	struct trial_step t = { .cls = cls, .ri = hwpmc_rows[nr].ri, .cpu = cpu };
	static bool in_order;	/* an interrupt has come; hwpmc_lock */
	struct hwpmc_encoding enc;
	unsigned int n;

	lockdep_assert_held(&hwpmc_lock);
	if (in_order || !cls->ops->trial || !boot_cpu_has(X86_FEATURE_HYPERVISOR) ||
	    hwpmc_class_msr_fault(cls) || hwpmc_rows[nr].users ||
	    !(rows_here(cls, cpu) & BIT_ULL(t.ri)))
		return 0;
	for (n = 0; encode_trial(cls, n, cpu, HWPMC_MODE_SS, &enc); n++)
		if (enc.rows & BIT_ULL(t.ri) && !(cls->filtered & BIT(n)))
			break;
	if (n >= HWPMC_TRIAL_EVENTS || !cls->ops->trial->config[n])
		return 0;
	t.select = enc.select;
	hwpmc_class_forget_notes(cls, HWPMC_WHY_NO_INTERRUPT);
	if (!interrupt_comes(&t)) {
		hwpmc_class_note(cls, HWPMC_WHY_NO_INTERRUPT, 0, 0);
		return -EOPNOTSUPP;
	}
	in_order = t.overflowed && t.counted;
	return 0;
}
