// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * still.c - see still.h.
 *
 * A row goes on counting whatever runs on its CPU until it is stopped, so it need not be in use
 * by a thread at the moment. Instructions, branches and cycles of kernel mode are tried by a
 * loop. For all else the counter is compared with what it was some time ago: that it has not
 * moved is proof if the kernel's clock has found the CPU in user mode since, or if the row
 * counts the kernel. A counter that stands still moves a little, by instructions that the
 * hypervisor emulates, RDPMC among them.
 */
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <asm/cpufeature.h>

#include "../backends/width.h"
#include "still.h"

#define TURNS	32
#define LEAST	(TURNS / 2)	/* of cycles: a turn may be one operation */
#define MOVED	4
/*
 * A tick can be due while a look runs: it counts as user mode although no instruction was
 * executed since. Several ticks cannot.
 */
#define USER_LEAST	(4 * (u64)TICK_NSEC)
#define APART	NSEC_PER_MSEC	/* of two looks with the kernel in between */

/* State of a row at the last look, or as it was programmed. */
struct noted {
	u64 value, user_ns, time;
	u64 nmi_last;		/* of the CPU: interrupts write counters */
};

static DEFINE_PER_CPU(struct noted [HWPMC_ROW_MAX], noted);

/* Time in user mode, nested guests left out. */
static u64 user_ns(void)
{
	const u64 *stat = kcpustat_this_cpu->cpustat;

	return stat[CPUTIME_USER] + stat[CPUTIME_NICE] -
	       stat[CPUTIME_GUEST] - stat[CPUTIME_GUEST_NICE];
}

/* It counts nothing by intent, or its registers are in doubt. */
static bool is_off_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	return !READ_ONCE(c->row[nr].shadow.sel) || c->row[nr].kind == HWPMC_SLICE_ELSEWHERE ||
	       hwpmc_class_msr_fault(hwpmc_rows[nr].cls) ||
	       (c->throttled && c->sampling & BIT_ULL(nr));
}

/* HWPMC_CERTAIN_* of what the row is programmed with. */
static u32 certain_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	const struct hwpmc_trial *trial = row->cls->ops->trial;

	if (!boot_cpu_has(X86_FEATURE_HYPERVISOR) || !trial || !trial->certain ||
	    is_off_irqoff(c, nr))
		return 0;
	return trial->certain(row->ri, READ_ONCE(c->row[nr].shadow.sel));
}

static bool is_for_loop(u32 certain)
{
	return certain & HWPMC_CERTAIN_LOOP && certain & HWPMC_CERTAIN_KERNEL;
}

/* An NMI may stop the row in between, where sampling pauses, or write it. */
static enum hwpmc_still try_loop_irqoff(struct hwpmc_cpu *c, unsigned int nr, u32 certain)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	u64 nmi_last = READ_ONCE(c->nmi_last), before = hwpmc_row_read_irqoff(row);

	hwpmc_still_work_irqoff(TURNS);
	if (hwpmc_width_delta(before, hwpmc_row_read_irqoff(row), row->mask) >= LEAST)
		return HWPMC_STILL_COUNTS;
	return READ_ONCE(c->nmi_last) == nmi_last && certain_irqoff(c, nr) == certain ?
	       HWPMC_STILL : HWPMC_STILL_UNKNOWN;
}

static struct noted now_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	return (struct noted){
		.value = hwpmc_row_read_irqoff(&hwpmc_rows[nr]), .user_ns = user_ns(),
		.time = ktime_get_mono_fast_ns(), .nmi_last = READ_ONCE(c->nmi_last),
	};
}

static enum hwpmc_still compare_irqoff(struct hwpmc_cpu *c, unsigned int nr, u32 certain)
{
	struct noted *then = this_cpu_ptr(&noted[nr]);
	struct noted now = now_irqoff(c, nr);
	bool ran = (certain & HWPMC_CERTAIN_USER &&
		    now.user_ns - then->user_ns >= USER_LEAST) ||
		   (certain & HWPMC_CERTAIN_KERNEL && now.time - then->time > APART);
	enum hwpmc_still still = HWPMC_STILL_UNKNOWN;

	if (c->noted & BIT_ULL(nr) && ran) {
		if (hwpmc_width_delta(then->value, now.value, hwpmc_rows[nr].mask) >= MOVED)
			still = HWPMC_STILL_COUNTS;
		else if (now.nmi_last == then->nmi_last)
			still = HWPMC_STILL;
	}

	/* Where nothing ran the older one is worth more. */
	if (ran || !(c->noted & BIT_ULL(nr)))
		*then = now;
	c->noted |= BIT_ULL(nr);
	return still;
}

/*
 * A row that samples is programmed at each switch, and written. The loop needs no begin.
 */
void hwpmc_still_begin_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	u32 certain;

	lockdep_assert_irqs_disabled();
	c->noted &= ~BIT_ULL(nr);
	if (c->sampling & BIT_ULL(nr))
		return;
	certain = certain_irqoff(c, nr);
	if (!certain || is_for_loop(certain))
		return;
	*this_cpu_ptr(&noted[nr]) = now_irqoff(c, nr);
	c->noted |= BIT_ULL(nr);
}

enum hwpmc_still hwpmc_still_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	u32 certain = certain_irqoff(c, nr);

	lockdep_assert_irqs_disabled();
	if (!certain)
		return is_off_irqoff(c, nr) ? HWPMC_STILL_UNKNOWN : HWPMC_STILL_COUNTS;
	if (is_for_loop(certain))
		return try_loop_irqoff(c, nr, certain);
	return compare_irqoff(c, nr, certain);
}

unsigned int hwpmc_still_cost_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	u32 certain = certain_irqoff(c, nr);

	if (!certain)
		return 0;
	return is_for_loop(certain) ? 2 : 1;
}
