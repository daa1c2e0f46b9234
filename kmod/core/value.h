/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * value.h - arithmetic of counters that are narrower than 64 bits. Pure; the
 * functions are inline because the context switch calls them for every row.
 *
 * A counter is never written, only read at the two ends of a slice: what it
 * counted is the difference modulo its width, right as long as it wraps less
 * than once in a slice.
 */
#ifndef HWPMC_VALUE_H
#define HWPMC_VALUE_H

#include "types.h"

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

#endif /* HWPMC_VALUE_H */
