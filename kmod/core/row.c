// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * row.c - dispositions of a row. Pure: no kernel calls, no state. The counts are in
 * struct hwpmc_row, under hwpmc_lock.
 */
#include "row.h"

bool hwpmc_row_admits(s32 users, bool system)
{
	return system ? users <= 0 : users >= 0;
}

s32 hwpmc_row_added(s32 users, bool system)
{
	return system ? users - 1 : users + 1;
}

s32 hwpmc_row_removed(s32 users, bool system)
{
	return system ? users + 1 : users - 1;
}

u32 hwpmc_row_disp(s32 users)
{
	if (users > 0)
		return HWPMC_DISP_THREAD;
	return users < 0 ? HWPMC_DISP_STANDALONE : HWPMC_DISP_FREE;
}

/*
 * The row with fewer users: then two owners that measure the same process hold different
 * rows as long as there are any, and both can attach.
 */
bool hwpmc_row_better(s32 a, s32 b)
{
	return (a < 0 ? -a : a) < (b < 0 ? -b : b);
}
