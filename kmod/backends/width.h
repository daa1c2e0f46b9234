/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * width.h - arithmetic of counters that are narrower than 64 bits. Pure; inline,
 * because the context switch calls it for every row.
 *
 * A counter that counts is never written, only read at both ends of a slice. The
 * difference modulo its width is exact as long as the counter does not pass its own
 * starting value within the slice.
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
 * How often a slice must be harvested, in ms: half the time in which a counter could
 * wrap at 2^35 events a second, which is more than a core can retire; at least 1. 0: it
 * never wraps.
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
