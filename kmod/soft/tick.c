// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * tick.c - adds an event to the rows of this CPU that count it, and handles their
 * overflow. Any context of the kernel, NMI included; interrupts off.
 */
#include <linux/hardirq.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <asm/unwind.h>

#include "../core/cpu.h"
#include "../sampling/sample.h"
#include "soft.h"

struct hwpmc_soft_cpu __percpu *hwpmc_soft_cpus;
struct hwpmc_class *hwpmc_soft_class;

/*
 * Returns the registers of what the running interrupt has interrupted, or NULL. Modules have
 * no access to the kernel's own pointer to them: find them with the unwinder.
 */
static struct pt_regs *interrupted_regs_nmi(void)
{
	struct unwind_state state;
	struct pt_regs *regs;
	bool partial;

	for (unwind_start(&state, current, NULL, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		regs = unwind_get_entry_regs(&state, &partial);
		if (regs && !partial)
			return regs;
	}
	return NULL;
}

static void find_regs_nmi(struct hwpmc_soft_hit *hit)
{
	if (hit->known)
		return;
	if (hit->interrupt)
		hit->regs = interrupted_regs_nmi();
	hit->known = true;
}

static bool is_counted_nmi(struct hwpmc_soft_hit *hit, u64 sel)
{
	u64 modes = sel & HWPMC_SOFT_MODES;

	if (sel & HWPMC_SOFT_OFF_CPU)
		return false;
	if (modes == HWPMC_SOFT_MODES)
		return true;
	find_regs_nmi(hit);
	return modes == (hit->regs && user_mode(hit->regs) ?
			 HWPMC_SOFT_USER : HWPMC_SOFT_SYSTEM);
}

/*
 * An armed counter has reached 0 or `overshoot`. In NMI no sample is written: the next
 * event outside finds the counter overflowed still.
 */
static void handle_soft_overflow_nmi(struct hwpmc_soft_hit *hit, unsigned int ri,
				u64 overshoot)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr = hwpmc_soft_class->first + ri;

	if (in_nmi() || !(c->ticking & BIT_ULL(nr)))
		return;
	find_regs_nmi(hit);
	hwpmc_sample_overflow_irqoff(c, nr, hit->regs, overshoot);
}

static void tick_row_nmi(struct hwpmc_soft_hit *hit, unsigned int ri, u64 n)
{
	u64 counter = this_cpu_add_return(hwpmc_soft_cpus->counter[ri], n);

	if (!(counter >> 63))
		handle_soft_overflow_nmi(hit, ri, counter);
}

void hwpmc_soft_hit_nmi(struct hwpmc_soft_hit *hit)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);
	bool outside = !in_nmi();
	unsigned int ri;

	/* Handling an event may cause events, which are not the program's. */
	if (outside && s->busy)
		return;
	if (outside)
		s->busy = true;
	for_each_row(ri, READ_ONCE(s->rows))
		if ((u32)s->sel[ri] == hit->ev && is_counted_nmi(hit, s->sel[ri]))
			tick_row_nmi(hit, ri, hit->n);
	if (outside)
		s->busy = false;
}

void hwpmc_soft_add_irqoff(struct hwpmc_class *cls, unsigned int ri, u64 n)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);
	struct hwpmc_soft_hit hit = { .n = n, .known = true };

	lockdep_assert_irqs_disabled();
	s->busy = true;
	tick_row_nmi(&hit, ri, n);
	s->busy = false;
}

bool hwpmc_soft_counts_irqoff(u32 ev)
{
	struct hwpmc_soft_cpu *s = this_cpu_ptr(hwpmc_soft_cpus);
	unsigned int ri;

	for_each_row(ri, s->rows)
		if ((u32)s->sel[ri] == ev)
			return true;
	return false;
}
