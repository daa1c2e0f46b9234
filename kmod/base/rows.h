/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* rows.h - sets of rows, a bit a row; and modes, by which rows are shared out. Pure. */
#ifndef HWPMC_ROWS_H
#define HWPMC_ROWS_H

#include "../compat/types.h"
#include "hwpmc.h"		/* uapi */

/* Number of the lowest bit that is set; x is not 0. */
static inline int hwpmc_lowest_bit(u64 x)
{
#ifdef __KERNEL__
	return __ffs64(x);
#else
	return __builtin_ctzll(x);
#endif
}

/* Each row of a set, read once, from the lowest up. */
#define for_each_row(nr, set)						\
	for (u64 nr##_set = (set);					\
	     nr##_set && ((nr) = hwpmc_lowest_bit(nr##_set), true);	\
	     nr##_set &= nr##_set - 1)

/* The lowest `num` bits. num may come from CPUID and have any value. */
static inline u64 hwpmc_first_rows(u32 num)
{
	if (num >= 64)
		return ~0ULL;
	return num ? ~0ULL >> (64 - num) : 0;
}

static inline bool hwpmc_mode_is_system(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_SC;
}

static inline bool hwpmc_mode_is_sampling(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS;
}

#endif /* HWPMC_ROWS_H */
