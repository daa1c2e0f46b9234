// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * open.c - allocates a PMC for a process, on a row that no other PMC has there, and attaches
 * it. A process has one PMC a row, whoever has attached it, and an id holds its row: so the
 * row is chosen again, with another id, until the attach succeeds. Process context,
 * hwpmc_lock.
 */
#include "../core/owner.h"
#include "../task/attach.h"
#include "allocate.h"
#include "open.h"

/*
 * On one of *rows. Where all that can count the event are taken, on any: the attach then says
 * by whom.
 */
static int open_allocate_on(struct hwpmc_owner *owner, struct hwpmc_op_pmcopen *op, u64 *rows)
{
	struct hwpmc_op_pmcallocate *allocate = &op->allocate.op;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = hwpmc_pmc_allocate(owner, allocate, op->allocate.name, *rows);
	if (!ret || allocate->hdr.reason != HWPMC_WHY_ROWS_BUSY || *rows == ~0ULL)
		return ret;
	*rows = ~0ULL;
	allocate->hdr = (struct hwpmc_hdr){};
	return hwpmc_pmc_allocate(owner, allocate, op->allocate.name, *rows);
}

/* 1: another PMC has the row in the process, or in one of its descendants. */
static int attach_or_release(struct hwpmc_owner *owner, struct hwpmc_op_pmcopen *op, u64 *rows)
{
	struct hwpmc_hdr *hdr = &op->allocate.op.hdr;
	struct hwpmc_pmc *pmc = hwpmc_owner_find(owner, op->allocate.op.pmcid);
	int ret = hwpmc_attach(pmc, op->pid, hdr);

	lockdep_assert_held(&hwpmc_lock);
	if (!ret)
		return 0;
	if (ret == -EBUSY && hdr->reason == HWPMC_WHY_TARGET_ROW && *rows != ~0ULL) {
		*rows &= ~BIT_ULL(pmc->row);
		ret = 1;
	}
	hwpmc_pmc_release(pmc);
	return ret;
}

static u64 taken_rows(struct hwpmc_owner *owner, const struct hwpmc_op_pmcopen *op)
{
	if (op->allocate.op.flags & HWPMC_F_THREAD)
		return hwpmc_attach_taken_rows_of_thread(owner, op->pid);
	return hwpmc_attach_taken_rows(owner, op->pid);
}

int hwpmc_pmc_open(struct hwpmc_owner *owner, struct hwpmc_op_pmcopen *op)
{
	struct hwpmc_op_pmcallocate *allocate = &op->allocate.op;
	u64 count = allocate->count, rows;
	u32 id = allocate->pmcid;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_mode_is_system(allocate->mode))
		return hwpmc_refuse(&allocate->hdr, -EINVAL, HWPMC_WHY_SYSTEM_SCOPE, 0);
	/* Never all of them: that means that the last try has begun. */
	rows = ~(taken_rows(owner, op) | BIT_ULL(HWPMC_ROW_MAX - 1));
	do {
		allocate->hdr = (struct hwpmc_hdr){};
		allocate->count = count;
		ret = open_allocate_on(owner, op, &rows) ?: attach_or_release(owner, op, &rows);
	} while (ret > 0);
	/* A refusal changes no argument. */
	if (ret) {
		allocate->pmcid = id;
		allocate->count = count;
	}
	return ret;
}
