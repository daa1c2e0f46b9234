/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * adapt.h - the next period of a PMC with HWPMC_F_FREQUENCY, from how long the last one
 * took. Pure; inline, for sample.c asks at each sample of such a PMC.
 *
 * One sample changes the period by at most a factor of HWPMC_ADAPT_STEP: an interval that an
 * interrupt or a hypervisor has stretched says little about the next one.
 */
#ifndef HWPMC_ADAPT_H
#define HWPMC_ADAPT_H

#include "../compat/types.h"

#define HWPMC_ADAPT_STEP	8
/* The longest period, and the bits of an interval: their product fits in 64 bits. */
#define HWPMC_ADAPT_MOST	BIT_ULL(40)
#define HWPMC_ADAPT_BITS	20

struct hwpmc_adapt {
	u64 interval;		/* wanted between samples, in ticks >> .shift; not 0 */
	unsigned int shift;
	u64 least;		/* the shortest period; not 0 */
};

static inline void hwpmc_adapt_init(struct hwpmc_adapt *a, u64 interval, u64 least)
{
	a->shift = 0;
	while (interval >> a->shift >> HWPMC_ADAPT_BITS)
		a->shift++;
	a->interval = interval >> a->shift ?: 1;
	a->least = least ?: 1;
}

/* `period` events took so many ticks: how many take the interval that is wanted? */
static inline u64 hwpmc_adapt_period(const struct hwpmc_adapt *a, u64 period, u64 ticks)
{
	u64 next;

	if (period > HWPMC_ADAPT_MOST)
		period = HWPMC_ADAPT_MOST;
	ticks >>= a->shift;
	next = period * a->interval / (ticks ?: 1);
	if (next > period * HWPMC_ADAPT_STEP)
		next = period * HWPMC_ADAPT_STEP;
	if (next < period / HWPMC_ADAPT_STEP)
		next = period / HWPMC_ADAPT_STEP;
	if (next > HWPMC_ADAPT_MOST)
		next = HWPMC_ADAPT_MOST;
	return next > a->least ? next : a->least;
}

#endif /* HWPMC_ADAPT_H */
