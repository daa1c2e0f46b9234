/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * width.h - arithmetic of counters that are narrower than 64 bits. Pure; inline,
 * because the context switch calls it for every row.
 *
 * A counter that counts is never written, only read at both ends of a slice. The
 * difference modulo its width is exact as long as it is less than half of the range: one
 * above is that of a counter that went back (hwpmc_cpu_delta_irqoff()).
 */
#ifndef HWPMC_WIDTH_H
#define HWPMC_WIDTH_H

#include "../compat/types.h"

/* All bits of a counter that is `width` bits wide, 1 to 64. */
static inline u64 hwpmc_width_mask(unsigned int width)
{
	return ~0ULL >> (64 - width);
}

/* Events from `start` to `now`. Bits above the mask are ignored. */
static inline u64 hwpmc_width_delta(u64 start, u64 now, u64 mask)
{
	return (now - start) & mask;
}

/*
 * The most events a second, as a power of two. A core retires less than 2^35. Processors with
 * counters of 48 bits add up to 64 in a cycle of events that are no instructions: requests that
 * are outstanding, slots, floating-point operations.
 */
static inline unsigned int hwpmc_width_rate(unsigned int width)
{
	return width < 48 ? 35 : 39;
}

/*
 * How often a slice must be harvested, in ms: half the time in which a counter could count
 * half of its range; at least 1. 0: it never does.
 */
static inline unsigned int hwpmc_width_wrap_ms(unsigned int width)
{
	u64 ms;

	if (width > 56)
		return 0;
	ms = width > 2 ? (1000ULL << (width - 2)) >> hwpmc_width_rate(width) : 0;
	return ms ?: 1;
}

#endif /* HWPMC_WIDTH_H */
