// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * clock.c - CLOCK.HARD, CLOCK.STAT and CLOCK.PROF: a timer of each CPU where a row
 * counts them. It ticks at the same moments whenever it was begun, so that many
 * short slices see as much of it as one long one.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/unwind.h>

#include "../compat/hrtimer.h"
#include "soft.h"

/* Ticks a second. The third beats with nothing of the kernel's. */
static const unsigned int rates[HWPMC_SOFT_CLOCKS] = { 1000, 127, 8128 };

bool hwpmc_soft_is_clock(u32 ev)
{
	return ev - HWPMC_EV_SOFT_CLOCK_HARD < HWPMC_SOFT_CLOCKS;
}

/*
 * The kernel keeps the registers of what it interrupted where modules cannot look
 * them up; its unwinder comes by.
 */
struct pt_regs *hwpmc_soft_interrupted_irqoff(void)
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

static enum hrtimer_restart clock_tick(struct hrtimer *timer)
{
	struct hwpmc_soft_clock *clock =
		container_of(timer, struct hwpmc_soft_clock, timer);
	struct hwpmc_soft_hit hit = { .ev = clock->ev, .interrupt = true };

	/* Not where it was moved to because its CPU went away. */
	if (smp_processor_id() != clock->cpu ||
	    !hwpmc_soft_counts_irqoff(clock->ev))
		return HRTIMER_NORESTART;
	hit.n = hrtimer_forward_now(timer, ns_to_ktime(clock->interval));
	hwpmc_soft_hit_irqoff(&hit);
	return HRTIMER_RESTART;
}

void hwpmc_soft_clocks_init(struct hwpmc_soft_cpu *s, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < HWPMC_SOFT_CLOCKS; i++) {
		struct hwpmc_soft_clock *clock = &s->clock[i];

		clock->ev = HWPMC_EV_SOFT_CLOCK_HARD + i;
		clock->cpu = cpu;
		clock->interval = NSEC_PER_SEC / rates[i];
		hrtimer_setup(&clock->timer, clock_tick, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
	}
}

/* CPUs tick one after the other. */
static u64 next_tick(const struct hwpmc_soft_clock *clock)
{
	u64 now = ktime_get_ns(), phase, since;

	phase = div_u64(clock->interval * clock->cpu, nr_cpu_ids);
	div64_u64_rem(now + clock->interval - phase, clock->interval, &since);
	return now - since + clock->interval;
}

void hwpmc_soft_clock_begin_irqoff(struct hwpmc_soft_cpu *s, u32 ev)
{
	struct hwpmc_soft_clock *clock =
		&s->clock[ev - HWPMC_EV_SOFT_CLOCK_HARD];

	if (!hrtimer_active(&clock->timer))
		hrtimer_start(&clock->timer, ns_to_ktime(next_tick(clock)),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* On its own CPU with interrupts off it does not run now. */
void hwpmc_soft_clocks_end_irqoff(struct hwpmc_soft_cpu *s)
{
	unsigned int i;

	for (i = 0; i < HWPMC_SOFT_CLOCKS; i++)
		hrtimer_try_to_cancel(&s->clock[i].timer);
}
