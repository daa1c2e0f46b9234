/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * width.h - arithmetic of counters that are narrower than 64 bits. Pure; the
 * functions are inline because the context switch calls them for every row.
 *
 * A counter is never written, only read at the two ends of a slice: what it
 * counted is the difference modulo its width, right as long as it wraps less
 * than once in a slice.
 */
#ifndef HWPMC_WIDTH_H
#define HWPMC_WIDTH_H

#include "../compat/types.h"

/* All bits of a counter that is `width` bits wide, 1 to 64. */
static inline u64 hwpmc_width_mask(unsigned int width)
{
	return ~0ULL >> (64 - width);
}

/* What was counted from `start` to `now`. Bits above the mask do not matter. */
static inline u64 hwpmc_width_delta(u64 start, u64 now, u64 mask)
{
	return (now - start) & mask;
}

/*
 * Milliseconds in which a counter cannot wrap; half of them, and no less than
 * one: an event that counts 2^35 times a second is beyond what a core can retire.
 * 0: it never wraps.
 */
static inline unsigned int hwpmc_width_wrap_ms(unsigned int width)
{
	u64 ms;

	if (width > 56)
		return 0;
	ms = width > 1 ? (1000ULL << (width - 1)) >> 35 : 0;
	if (ms < 1)
		return 1;
	return ms < 3600 * 1000 ? ms : 3600 * 1000;
}

#endif /* HWPMC_WIDTH_H */
