/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c - from the ticks of a log to nanoseconds. CLOCK_MONOTONIC says how long a
 * tick is: the other clock may have been set in between. Logs are believed nothing:
 * what is beyond any time is the end of time, not undefined.
 */
#include "stat.h"

#define SECOND	1000000000ull

void clock_begin(struct log_clock *c, const struct hwpmc_log_initialize *r)
{
	c->tick0 = r->tick;
	c->mono0 = r->monotonic;
	c->real0 = r->realtime;
	c->at_boot = c->ns_per_tick = 1e6 / (r->khz ? r->khz : 1000000);
}

/*
 * The kernel measures the rate at boot, to a per mille. A rate that is far from it comes from
 * a machine that slept meanwhile with its TSC running (suspend to idle): CLOCK_MONOTONIC stood
 * still, and says nothing of the length of a tick.
 */
static bool is_near(double ns_per_tick, double at_boot)
{
	return ns_per_tick > at_boot * (1 - 1. / 64) && ns_per_tick < at_boot * (1 + 1. / 64);
}

void clock_again(struct log_clock *c, const struct hwpmc_log_clock *r)
{
	double measured;

	/* Over less than a second the kernel's own figure is the better one. */
	if (r->tick <= c->tick0 || r->monotonic <= c->mono0 ||
	    r->monotonic - c->mono0 <= SECOND)
		return;
	measured = (double)(r->monotonic - c->mono0) / (r->tick - c->tick0);
	if (is_near(measured, c->at_boot))
		c->ns_per_tick = measured;
}

int64_t clock_ns(const struct log_clock *c, uint64_t tick)
{
	double ns = (double)(int64_t)(tick - c->tick0) * c->ns_per_tick;

	if (ns >= 9.2e18)
		return INT64_MAX;
	return ns <= -9.2e18 ? INT64_MIN : (int64_t)ns;
}

void clock_bound(const struct log_clock *c, uint64_t end, struct images *set)
{
	int64_t ns = clock_ns(c, end);

	set->began = c->real0 <= INT64_MAX ? c->real0 : 0;
	/* A log that is not of this world bounds nothing. */
	set->ended = c->real0 && c->mono0 <= INT64_MAX / 2 && ns >= 0 && ns <= INT64_MAX / 2 ?
		     (int64_t)c->mono0 + ns : 0;
}
