// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* doubt.c - see doubt.h. */
#include <linux/ktime.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "doubt.h"
#include "still.h"

/* ---- findings -------------------------------------------------------------- */

static void note_loss_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 doubt)
{
	struct hwpmc_loss *loss = &c->loss[nr];

	raw_write_seqcount_begin(&loss->seq);
	/* Until it counts again it is the same loss. */
	if (!loss->found || loss->sound > loss->found)
		loss->since = loss->sound;
	loss->found = ktime_get_mono_fast_ns();
	loss->doubt = doubt;
	raw_write_seqcount_end(&loss->seq);
}

static void note_sound_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_loss *loss = &c->loss[nr];

	raw_write_seqcount_begin(&loss->seq);
	loss->sound = ktime_get_mono_fast_ns();
	raw_write_seqcount_end(&loss->seq);
}

void hwpmc_doubt_last(unsigned int cpu, unsigned int nr, struct hwpmc_loss *loss)
{
	const struct hwpmc_loss *of = &per_cpu_ptr(hwpmc_cpus, cpu)->loss[nr];
	unsigned int seq;

	do {
		seq = raw_read_seqcount_begin(&of->seq);
		*loss = *of;
	} while (read_seqcount_retry(&of->seq, seq));
}

/*
 * The row of this CPU has not counted all that it should: `why` is an enum hwpmc_reason.
 * All PMCs of processes that run with the row are concerned: their threads may have been on
 * this CPU.
 */
static void doubt_row_irqoff(struct hwpmc_cpu *c, unsigned int nr, u32 why, s32 detail)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	u64 doubt = (u64)why << 32 | (u32)detail;

	lockdep_assert_irqs_disabled();
	note_loss_irqoff(c, nr, doubt);
	/* The reason first, for whoever sees the number. */
	WRITE_ONCE(row->doubt, doubt);
	smp_wmb();	/* pairs with smp_rmb() of hwpmc_pmc_doubts() */
	WRITE_ONCE(c->doubts[nr], c->doubts[nr] + 1);
	atomic_inc(&row->doubts);
	WRITE_ONCE(hwpmc_unreliable.doubts, 1);
}

u64 hwpmc_cpu_stepped_back_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	/* An RDPMC that faults reads 0, and has a reason of its own. */
	if (!hwpmc_class_fault(hwpmc_rows[nr].cls))
		doubt_row_irqoff(c, nr, HWPMC_WHY_COUNTER_BACK, nr);
	return 0;
}

/* ---- comparing ------------------------------------------------------------- */

/*
 * A sampling row may be stopped by an NMI before its shadow says so, where sampling pauses
 * or registers fault.
 */
static bool may_differ_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	return (c->throttled && c->sampling & BIT_ULL(nr)) ||
	       hwpmc_class_msr_fault(hwpmc_rows[nr].cls);
}

/*
 * Returns the register that differs from its program, or 0. An NMI may change both concurrently.
 */
static u32 changed_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	const struct hwpmc_class_ops *ops = row->cls->ops;
	struct hwpmc_select select;
	u32 msr;

	if (!ops->row.changed_irqoff)
		return 0;
	do {
		select.sel = READ_ONCE(c->row[nr].shadow.sel);
		select.extra = READ_ONCE(c->row[nr].shadow.extra);
		msr = select.sel ? ops->row.changed_irqoff(row->cls, row->ri, &select) : 0;
	} while (msr && READ_ONCE(c->row[nr].shadow.sel) != select.sel);
	return msr && !may_differ_irqoff(c, nr) ? msr : 0;
}

static u32 control_changed_irqoff(const struct hwpmc_class *cls)
{
	return cls->ops->control.changed_irqoff ? cls->ops->control.changed_irqoff(cls) : 0;
}

static u32 look_irqoff(struct hwpmc_cpu *c, unsigned int nr, u32 control)
{
	u32 msr = control;

	lockdep_assert_irqs_disabled();
	if (!c->row[nr].shadow.sel)
		return 0;
	if (!msr)
		msr = changed_irqoff(c, nr);
	if (msr)
		doubt_row_irqoff(c, nr, HWPMC_WHY_REGISTER_CHANGED, (s32)msr);
	return msr;
}

/* The register of one that stands still need not differ. */
static bool look_whole_irqoff(struct hwpmc_cpu *c, unsigned int nr, u32 control)
{
	enum hwpmc_still still;

	if (look_irqoff(c, nr, control))
		return true;
	still = hwpmc_still_irqoff(c, nr);
	if (still == HWPMC_STILL_COUNTS)
		note_sound_irqoff(c, nr);
	if (still != HWPMC_STILL)
		return false;
	doubt_row_irqoff(c, nr, HWPMC_WHY_COUNTER_TAKEN, nr);
	return true;
}

bool hwpmc_doubt_look_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	if (!c->row[nr].shadow.sel)
		return false;
	return look_whole_irqoff(c, nr, control_changed_irqoff(hwpmc_rows[nr].cls));
}

bool hwpmc_doubt_look_row_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	return look_whole_irqoff(c, nr, 0);
}

u32 hwpmc_doubt_look_control_irqoff(struct hwpmc_cpu *c, struct hwpmc_class *cls, u64 *stopped)
{
	u64 rows = hwpmc_cpu_programmed_rows(c) & hwpmc_class_rows(cls), concerned;
	unsigned int nr;
	u32 msr;

	if (!rows)
		return 0;
	msr = control_changed_irqoff(cls);
	if (!msr && cls->ops->control.follow_irqoff) {
		msr = cls->ops->control.follow_irqoff(cls, &concerned);
		rows &= concerned << cls->first;
	}
	*stopped |= msr ? rows : 0;
	for_each_row(nr, msr ? rows : 0)
		doubt_row_irqoff(c, nr, HWPMC_WHY_REGISTER_CHANGED, (s32)msr);
	return msr;
}

u32 hwpmc_doubt_look_class_irqoff(struct hwpmc_cpu *c, const struct hwpmc_class *cls)
{
	u64 programmed = hwpmc_cpu_programmed_rows(c) & hwpmc_class_rows(cls);
	u32 control, msr, first = 0;
	unsigned int nr;

	if (!programmed)
		return 0;
	control = control_changed_irqoff(cls);
	for_each_row(nr, programmed) {
		msr = look_irqoff(c, nr, control);
		first = first ?: msr;
	}
	return first;
}

static bool has_programmed(int cpu, void *arg)
{
	const struct hwpmc_pmc *pmc = arg;
	const struct hwpmc_select *shadow = &per_cpu_ptr(hwpmc_cpus, cpu)->row[pmc->row].shadow;

	return READ_ONCE(shadow->sel) == pmc->select.sel &&
	       READ_ONCE(shadow->extra) == pmc->select.extra;
}

static void doubt_look_ipi(void *arg)
{
	const struct hwpmc_pmc *pmc = arg;

	hwpmc_doubt_look_irqoff(this_cpu_ptr(hwpmc_cpus), pmc->row);
}

void hwpmc_doubt_look(const struct hwpmc_pmc *pmc)
{
	if (hwpmc_rows[pmc->row].cls->ops->row.changed_irqoff)
		on_each_cpu_cond(has_programmed, doubt_look_ipi, (void *)pmc, true);
}

/* ---- of a PMC -------------------------------------------------------------- */

static u32 doubts_of_row(const struct hwpmc_pmc *pmc)
{
	if (hwpmc_pmc_is_system(pmc))
		return READ_ONCE(per_cpu_ptr(hwpmc_cpus, pmc->cpu)->doubts[pmc->row]);
	return atomic_read(&hwpmc_rows[pmc->row].doubts);
}

/*
 * No target is left, and all CPUs have looked since: what comes on the row concerns others.
 * Each PMC of process scope that runs was attached.
 */
static bool is_final(const struct hwpmc_pmc *pmc)
{
	u32 attaches = READ_ONCE(pmc->process.attaches);

	/* Pairs with hwpmc_doubt_look_finally(). */
	return attaches && smp_load_acquire(&pmc->looked) == attaches && list_empty(&pmc->process.links);
}

u32 hwpmc_pmc_doubts(const struct hwpmc_pmc *pmc)
{
	u32 doubts = 0, seen;

	if (READ_ONCE(pmc->state) == HWPMC_STATE_RUNNING && !is_final(pmc)) {
		seen = READ_ONCE(pmc->doubts_seen);
		doubts = doubts_of_row(pmc) - seen;
	}
	/* Pairs with settle_account(): the sum is at least as new as .doubts_seen. */
	smp_rmb();
	doubts += READ_ONCE(pmc->doubts);
	smp_rmb();	/* the reason is at least as new: doubt_row_irqoff() */
	return doubts;
}

/* Of all PMCs: .doubts, .doubts_seen and .looked, for writers. */
static DEFINE_RAW_SPINLOCK(account_lock);

/* Adds what came since it was started, or since the last time. */
static void settle_account(struct hwpmc_pmc *pmc)
{
	u32 seen = doubts_of_row(pmc);

	lockdep_assert_held(&account_lock);
	if (READ_ONCE(pmc->state) != HWPMC_STATE_RUNNING)
		return;
	if (!is_final(pmc))
		WRITE_ONCE(pmc->doubts, pmc->doubts + seen - pmc->doubts_seen);
	smp_wmb();	/* pairs with hwpmc_pmc_doubts() */
	WRITE_ONCE(pmc->doubts_seen, seen);
}

void hwpmc_doubt_look_finally(struct hwpmc_pmc *pmc)
{
	u32 attaches = READ_ONCE(pmc->process.attaches);

	if (READ_ONCE(pmc->looked) == attaches || READ_ONCE(pmc->state) != HWPMC_STATE_RUNNING)
		return;
	hwpmc_doubt_look(pmc);
	raw_spin_lock(&account_lock);
	settle_account(pmc);
	/* The doubts before it: pairs with is_final(). */
	smp_store_release(&pmc->looked, attaches);
	raw_spin_unlock(&account_lock);
}

bool hwpmc_doubt_is_final(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	/* In system scope nothing is ever attached. */
	if (!list_empty(&pmc->process.links))
		return false;
	hwpmc_doubt_look_finally(pmc);
	return is_final(pmc);
}

void hwpmc_doubt_attach(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock(&account_lock);
	settle_account(pmc);
	/* The doubts before it: pairs with the first barrier of hwpmc_pmc_doubts(). */
	smp_store_release(&pmc->process.attaches, pmc->process.attaches + 1);
	pmc->logged_all = false;
	raw_spin_unlock(&account_lock);
}

void hwpmc_doubt_begin(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock(&account_lock);
	/* A log has the samples that there are, whatever was before. */
	if (hwpmc_pmc_samples(pmc))
		WRITE_ONCE(pmc->doubts, 0);
	WRITE_ONCE(pmc->doubts_seen, doubts_of_row(pmc));
	raw_spin_unlock(&account_lock);
	pmc->began = ktime_get_mono_fast_ns();
}

void hwpmc_doubt_end(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock(&account_lock);
	settle_account(pmc);
	WRITE_ONCE(pmc->state, HWPMC_STATE_STOPPED);
	raw_spin_unlock(&account_lock);
}

void hwpmc_doubt_forget(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	raw_spin_lock(&account_lock);
	WRITE_ONCE(pmc->doubts, 0);
	raw_spin_unlock(&account_lock);
}
