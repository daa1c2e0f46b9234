// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * unwind_table.c - checks a table that a program has made, and makes its index. Pure.
 */
#include "unwind_table.h"

#ifdef __KERNEL__
#include <linux/sched.h>
#else
#define cond_resched()	do { } while (0)
#endif

/* Rows between two offers to give way: the caller sleeps anyway. */
#define STRIDE	0xffff

static bool is_valid_other(u32 rule)
{
	u32 used;

	switch (HWPMC_UNWIND_REG(rule)) {
	case HWPMC_UNWIND_REG_AT_BP:
		/* rbp is in one place only. */
		return !(rule & HWPMC_UNWIND_BP_SAVED && rule & HWPMC_UNWIND_BP_AT_BP);
	case HWPMC_UNWIND_REG_UNKNOWN:
		used = 0x1e7;
		break;
	default:
		used = 0xffdfffefu;
	}
	return !(rule & ~used);
}

/* Bits that a rule of the kind may have. */
static bool is_valid_rule(u32 rule)
{
	static const u32 used[] = {
		[HWPMC_UNWIND_NONE] = 0x7,
		[HWPMC_UNWIND_SP] = 0xffffffef,
		[HWPMC_UNWIND_BP] = 0xffffffef,
		[HWPMC_UNWIND_PLT] = 0x1e7,
		[HWPMC_UNWIND_SIGNAL] = 0x7,
		[HWPMC_UNWIND_END] = 0x7,
		[HWPMC_UNWIND_AT_SP] = 0xffffffef,
		[HWPMC_UNWIND_OTHER] = 0xffffffff,
	};
	unsigned int kind = HWPMC_UNWIND_KIND(rule);

	if (rule & ~used[kind])
		return false;
	if (!(rule & HWPMC_UNWIND_BP_SAVED) && HWPMC_UNWIND_SAVED(rule))
		return false;
	return kind != HWPMC_UNWIND_OTHER || is_valid_other(rule);
}

u32 hwpmc_unwind_check(const struct hwpmc_unwind_row *row, u32 nrow)
{
	u32 i;

	for (i = 0; i < nrow; i++) {
		if (!is_valid_rule(row[i].rule) || (i && row[i].at <= row[i - 1].at))
			break;
		if (!(i & STRIDE))
			cond_resched();
	}
	return i;
}

u32 hwpmc_unwind_pages(const struct hwpmc_unwind_row *row, u32 nrow)
{
	return (row[nrow - 1].at >> UNWIND_PAGE_SHIFT) -
	       (row[0].at >> UNWIND_PAGE_SHIFT) + 2;
}

void hwpmc_unwind_index(struct hwpmc_unwind_table *t, const struct hwpmc_unwind_row *row,
			u32 nrow, u32 *page)
{
	u32 i, at = 0;

	t->row = row;
	t->page = page;
	t->nrow = nrow;
	t->first_page = row[0].at >> UNWIND_PAGE_SHIFT;
	t->npage = hwpmc_unwind_pages(row, nrow) - 1;
	for (i = 0; i < t->npage; i++) {
		while (at + 1 < nrow &&
		       row[at + 1].at <= (u64)(t->first_page + i) << UNWIND_PAGE_SHIFT)
			at++;
		page[i] = at;
		if (!(i & STRIDE))
			cond_resched();
	}
	page[i] = nrow - 1;
}
