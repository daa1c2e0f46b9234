// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs.c - AMD's instruction-based sampling of ops, as far as the kernel's driver needs it to
 * raise NMIs (option ibs=on): after MaxCnt instructions the first one of the next block is
 * tagged; when its block is over the sample is valid and an NMI is raised, as entry 1 of the
 * APIC's extended LVT says. Of a sample there is its address alone.
 */
#include <string.h>

#include "vpmu.h"

#define FETCH_CTL	0xc0011030
#define OP_CTL		0xc0011033
#define IBSCTL		0xc001103a
#define LAST		0xc001103d

#define EN		(1ULL << 17)
#define VAL		(1ULL << 18)
#define CUR_SHIFT	32
#define CUR_MASK	0x7ffffffULL
#define ENTRY		1

_Static_assert(LAST - FETCH_CTL < IBS_REGS, "each register has a place");

static uint64_t *reg_of(struct vcpu *v, uint32_t msr)
{
	return cfg.ibs && msr >= FETCH_CTL && msr <= LAST ? &v->ibs[msr - FETCH_CTL] : NULL;
}

static uint64_t max_of(uint64_t ctl)
{
	return (ctl & 0xffff) << 4 | (ctl >> 20 & 0x7f) << 20;
}

static bool counts(uint64_t ctl)
{
	return ctl & EN && !(ctl & VAL);
}

enum access ibs_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	uint64_t *r = reg_of(v, msr), cur;

	if (!r)
		return NATIVE;
	*x = *r;
	if (msr == IBSCTL)
		*x = 1 << 8 | ENTRY;
	if (msr == OP_CTL && counts(*r)) {
		cur = (retired_all(v, board_of(v)) - v->ibs_from) & CUR_MASK;
		*x = (*r & ~(CUR_MASK << CUR_SHIFT)) | cur << CUR_SHIFT;
	}
	return DONE;
}

enum access ibs_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	uint64_t *r = reg_of(v, msr);

	if (!r)
		return NATIVE;
	*r = x;
	if (msr != OP_CTL)
		return DONE;
	v->ibs_from = retired_all(v, board_of(v)) - (x >> CUR_SHIFT & CUR_MASK);
	v->ibs_tagged = false;
	return DONE;
}

/* Instructions after which there is something to do; FAR: nothing. */
uint64_t ibs_until(struct vcpu *v, struct board *b)
{
	uint64_t ctl = v->ibs[OP_CTL - FETCH_CTL], now, due;

	if (!cfg.ibs || !counts(ctl))
		return FAR;
	now = retired_all(v, b);
	due = v->ibs_from + max_of(ctl);
	return v->ibs_tagged || now >= due ? 0 : due - now;
}

/* At a block's start. True: an interrupt is now pending. */
bool ibs_fire(struct vcpu *v, struct board *b, uint64_t pc)
{
	uint64_t *ctl = &v->ibs[OP_CTL - FETCH_CTL];

	if (ibs_until(v, b))
		return false;
	if (!v->ibs_tagged) {
		v->ibs_tagged = true;
		memset(ctl + 1, 0, 6 * sizeof(*ctl));
		ctl[1] = pc;
		return false;
	}
	if ((v->eilvt[ENTRY] & 0x10700) != 0x400)	/* not an NMI, or masked */
		return false;
	v->ibs_tagged = false;
	v->ibs_random = v->ibs_random * 6364136223846793005ULL + 1442695040888963407ULL;
	*ctl = (*ctl & ~(CUR_MASK << CUR_SHIFT)) | VAL | (v->ibs_random >> 57) << CUR_SHIFT;
	v->n_ibs++;
	return pmi_raise_nmi(v);
}
