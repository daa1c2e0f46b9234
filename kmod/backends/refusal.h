/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * refusal.h - how an encoder refuses a request, and checks that all encoders share.
 * Pure.
 */
#ifndef HWPMC_BACKENDS_REFUSAL_H
#define HWPMC_BACKENDS_REFUSAL_H

#include "backend.h"

static inline int hwpmc_encode_refuse(struct hwpmc_encoding *enc, int err, u32 why,
				      s32 detail)
{
	*enc = (struct hwpmc_encoding){ .why = why, .detail = detail };
	return err;
}

/* Number of the lowest bit that is set; x is not 0. */
static inline int hwpmc_lowest_bit(u64 x)
{
	return __builtin_ctzll(x);
}

static inline bool hwpmc_mode_samples(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS;
}

static inline bool hwpmc_mode_system(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_SC;
}

/* The lowest `num` bits. num may come from CPUID and have any value. */
static inline u64 hwpmc_first_rows(u32 num)
{
	if (num >= 64)
		return ~0ULL;
	return num ? ~0ULL >> (64 - num) : 0;
}

#endif /* HWPMC_BACKENDS_REFUSAL_H */
