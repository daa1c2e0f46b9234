// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * clock.c - CLOCK.HARD, CLOCK.STAT and CLOCK.PROF: a timer on each CPU that has a row
 * counting them. It ticks at fixed times, whenever it was started: so many short
 * slices count as many ticks as one long slice.
 */
#include <linux/ktime.h>
#include <linux/smp.h>

#include "../compat/hrtimer.h"
#include "soft.h"

/* Ticks a second. The third has no common period with the kernel's own timers. */
static const unsigned int rates[HWPMC_SOFT_CLOCKS] = { 1000, 127, 8128 };

bool hwpmc_soft_is_clock(u32 ev)
{
	return ev - HWPMC_EV_SOFT_CLOCK_HARD < HWPMC_SOFT_CLOCKS;
}

static enum hrtimer_restart clock_tick_irqoff(struct hrtimer *timer)
{
	struct hwpmc_soft_clock *clock =
		container_of(timer, struct hwpmc_soft_clock, timer);
	struct hwpmc_soft_hit hit = { .ev = clock->ev, .interrupt = true };

	/* Its CPU went offline and the kernel has moved the timer to another. */
	if (smp_processor_id() != clock->cpu ||
	    !hwpmc_soft_counts_irqoff(clock->ev))
		return HRTIMER_NORESTART;
	hit.n = hrtimer_forward_now(timer, ns_to_ktime(clock->interval));
	hwpmc_soft_hit_nmi(&hit);
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
		hrtimer_setup(&clock->timer, clock_tick_irqoff, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
	}
}

/* The ticks of the CPUs are spread over the interval. */
static u64 next_tick(const struct hwpmc_soft_clock *clock)
{
	u64 now = ktime_get_ns(), phase, since;

	phase = div_u64(clock->interval * clock->cpu, nr_cpu_ids);
	div64_u64_rem(now + clock->interval - phase, clock->interval, &since);
	return now - since + clock->interval;
}

void hwpmc_soft_clock_start_irqoff(struct hwpmc_soft_cpu *s, u32 ev)
{
	struct hwpmc_soft_clock *clock =
		&s->clock[ev - HWPMC_EV_SOFT_CLOCK_HARD];

	if (!hrtimer_active(&clock->timer))
		hrtimer_start(&clock->timer, ns_to_ktime(next_tick(clock)),
			      HRTIMER_MODE_ABS_PINNED_HARD);
}

/* This CPU's timer cannot be running now: interrupts are off. */
void hwpmc_soft_clocks_stop_irqoff(struct hwpmc_soft_cpu *s)
{
	unsigned int i;

	for (i = 0; i < HWPMC_SOFT_CLOCKS; i++)
		hrtimer_try_to_cancel(&s->clock[i].timer);
}
