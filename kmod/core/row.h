/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * row.h - dispositions of a row: the scope that its counters are used for. Pure. The
 * rule is FreeBSD's: one signed count per row for the whole machine, +n for n
 * process-scope PMCs, -n for n system-scope PMCs and disabled CPUs; the two scopes
 * never share a row.
 */
#ifndef HWPMC_ROW_H
#define HWPMC_ROW_H

#include "../base/rows.h"

/* An id has 12 bits for the CPU. Those CPUs that system
 * scope can have, of n: the ids of others would be those of these. */
static inline u32 hwpmc_cpus_with_ids(u32 n)
{
	return n < HWPMC_ID_CPU(HWPMC_ID_INVALID) ? n : HWPMC_ID_CPU(HWPMC_ID_INVALID);
}

/* May one more use of this scope be added? */
bool hwpmc_row_admits(s32 users, bool system);
/* The count after one more use, or one less. */
s32 hwpmc_row_added(s32 users, bool system);
s32 hwpmc_row_removed(s32 users, bool system);
u32 hwpmc_row_disp(s32 users);
/* Of two rows that admit a use: is the one with count a preferred to that with b? */
bool hwpmc_row_better(s32 a, s32 b);

#endif /* HWPMC_ROW_H */
