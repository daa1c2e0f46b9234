// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs_fetch.c - sampling of fetches. Each block that begins is one. The block with which
 * MaxCnt of them have begun is tagged; at the start of the next one the sample is valid.
 */
#include "vpmu.h"

#define RANDOM		0xfULL		/* bits of the count with the enable bit of randomness */

static bool counts(const struct vcpu *v)
{
	uint64_t ctl = v->ibs.reg[IBS_FETCH_CTL];

	return ctl & FETCH_EN && !(ctl & FETCH_VAL) && ctl & FETCH_MAX &&
	       !(v->ibs.reg[IBS_FETCH_CTL2] & CTL2_DIS);
}

static uint64_t due_at(const struct vcpu *v)
{
	return v->ibs.fetch.from + ((v->ibs.reg[IBS_FETCH_CTL] & FETCH_MAX) << 4);
}

static uint64_t random_bits(struct vcpu *v, uint64_t ctl)
{
	return ctl & FETCH_RAND ? ibs_dice(v->index, ~v->ibs.fetch.n) & RANDOM : 0;
}

/* WRMSR to the control register. */
void ibs_fetch_start(struct vcpu *v, struct board *b, uint64_t before, uint64_t ctl)
{
	struct ibs_fetch *f = &v->ibs.fetch;

	f->tagged = false;
	if (v->knob[KNOB_IBS_FETCH_KEEP] && before & FETCH_EN)
		return;
	f->cur = (ctl >> FETCH_CUR_SHIFT & FETCH_MAX) << 4 | random_bits(v, ctl);
	f->from = b->fetch - f->cur;
}

/* WRMSR to the second one. */
void ibs_fetch_disable(struct vcpu *v, struct board *b, uint64_t ctl2)
{
	v->ibs.fetch.cur = ibs_fetch_cur(v, b);
	v->ibs.fetch.from = b->fetch - v->ibs.fetch.cur;
	v->ibs.fetch.tagged = false;
	v->ibs.reg[IBS_FETCH_CTL2] = ctl2;
}

uint64_t ibs_fetch_cur(struct vcpu *v, struct board *b)
{
	if (!counts(v))
		return v->ibs.fetch.cur;
	return (b->fetch - v->ibs.fetch.from) & (FETCH_MAX << 4 | 0xf);
}

/* In instructions: a block has at least one. */
uint64_t ibs_fetch_until(struct vcpu *v, struct board *b)
{
	uint64_t due, now = b->fetch;

	if (!counts(v))
		return FAR;
	due = due_at(v);
	return v->ibs.fetch.tagged || now + 1 >= due ? 0 : due - now - 1;
}

static void note(struct vcpu *v)
{
	uint64_t *r = v->ibs.reg, *seen = v->ibs.seen;

	seen[VPMU_IBS_FETCH]++;
	seen[VPMU_IBS_FETCH_USER] += r[IBS_FETCH_LIN] && !(r[IBS_FETCH_LIN] >> 63);
	seen[VPMU_IBS_FETCH_LIN] += r[IBS_FETCH_LIN];
	seen[VPMU_IBS_FETCH_PHYS] += r[IBS_FETCH_PHYS];
	trace(v, "IBS fetch lin=%" PRIx64 " phys=%" PRIx64 " ctl=%" PRIx64, r[IBS_FETCH_LIN],
	      r[IBS_FETCH_PHYS], r[IBS_FETCH_CTL]);
}

static bool finish(struct vcpu *v)
{
	uint64_t *r = v->ibs.reg, extd, phys, result;
	struct ibs_fetch *f = &v->ibs.fetch;

	result = ibs_fetch_result(ibs_dice(v->index, ~f->n++), cfg.ibs_caps, &extd);
	/* Until it is written the register has the count that was reached. */
	f->cur = (r[IBS_FETCH_CTL] & FETCH_MAX) << 4;
	f->from = board_of(v)->fetch - random_bits(v, r[IBS_FETCH_CTL]);
	if (!ibs_fetch_passes(r[IBS_FETCH_CTL], result) ||
	    !ibs_fetch_passes2(r[IBS_FETCH_CTL2], result, f->lin)) {
		v->ibs.seen[VPMU_IBS_FETCH_FILTERED]++;
		return false;
	}
	r[IBS_FETCH_LIN] = f->lin;
	r[IBS_FETCH_PHYS] = 0;
	if (virt_to_phys(f->lin, &phys)) {
		r[IBS_FETCH_PHYS] = phys;
		result |= FETCH_PHYS_OK;
	}
	if (v->knob[KNOB_IBS_FETCH_ZERO] &&
	    (v->ibs.seen[VPMU_IBS_FETCH] + 1) % v->knob[KNOB_IBS_FETCH_ZERO] == 0)
		r[IBS_FETCH_LIN] = 0;
	r[IBS_FETCH_EXTD] = extd;
	r[IBS_FETCH_CTL] |= FETCH_VAL | result;
	note(v);
	return true;
}

/* At a block's start, which has not been counted yet. */
bool ibs_fetch_fire(struct vcpu *v, struct board *b, uint64_t pc)
{
	struct ibs_fetch *f = &v->ibs.fetch;
	bool valid = f->tagged && b->fetch >= due_at(v) && finish(v);

	f->tagged = counts(v) && b->fetch + 1 >= due_at(v);
	f->lin = pc;
	return valid;
}
