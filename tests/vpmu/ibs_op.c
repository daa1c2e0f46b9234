// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs_op.c - sampling of ops, one an instruction. The op with which MaxCnt instructions (or
 * cycles, as many) have retired is tagged, wherever in its block it is: the block that has it
 * is found before it starts, and what the op accesses is noted as it runs. At the start of
 * the next block the op has retired, and the sample is valid. If its block was left before it
 * (a fault, an emulated instruction) the tag is taken back, and another op has that count.
 */
#include "vpmu.h"

#define LONGEST		512		/* instructions of a block, by QEMU's own limit */

static bool counts(const struct vcpu *v)
{
	uint64_t ctl = v->ibs.reg[IBS_OP_CTL];

	return ctl & OP_EN && !(ctl & OP_VAL) && ibs_model_op_max(cfg.ibs_caps, ctl) &&
	       !(v->ibs.reg[IBS_OP_CTL2] & CTL2_DIS);
}

static uint64_t due_at(const struct vcpu *v)
{
	return v->ibs.op.from + ibs_model_op_max(cfg.ibs_caps, v->ibs.reg[IBS_OP_CTL]);
}

/* WRMSR to the control register, which has not retired yet, and does not count. */
void ibs_op_start(struct vcpu *v, struct board *b, uint64_t ctl)
{
	uint64_t mask = cfg.ibs_caps & CAP_CUR ? ibs_model_op_mask(cfg.ibs_caps) : 0;

	v->ibs.op.cur = ctl >> OP_CUR_SHIFT & mask;
	v->ibs.op.from = retired_all(v, b) + 1 - v->ibs.op.cur;
	v->ibs.op.tagged = false;
	v->ibs.op.slot = NULL;
}

/* WRMSR to the second one. */
void ibs_op_disable(struct vcpu *v, struct board *b, uint64_t ctl2)
{
	v->ibs.op.cur = ibs_op_cur(v, b);
	v->ibs.op.from = retired_all(v, b) + 1 - v->ibs.op.cur;
	v->ibs.op.tagged = false;
	v->ibs.op.slot = NULL;
	v->ibs.reg[IBS_OP_CTL2] = ctl2;
}

uint64_t ibs_op_cur(struct vcpu *v, struct board *b)
{
	if (!(cfg.ibs_caps & CAP_CUR))
		return 0;
	if (!counts(v))
		return v->ibs.op.cur;
	return (retired_all(v, b) - v->ibs.op.from) & ibs_model_op_mask(cfg.ibs_caps);
}

uint64_t ibs_op_until(struct vcpu *v, struct board *b)
{
	uint64_t due, now = retired_all(v, b);

	if (!counts(v))
		return FAR;
	due = due_at(v);
	return v->ibs.op.tagged || now + LONGEST >= due ? 0 : due - now - LONGEST;
}

/* A repeated string instruction that is entered again counts no more. */
static bool is_entered_again(struct vcpu *v, struct board *b, const struct block *blk)
{
	return v->rep && v->rep_mark == retired(v, b, blk->mode) &&
	       page_off(v->rep) == ((blk->start + blk->slot[0].off) & 0xfff);
}

/* Is the op that is due in this block, which is about to start? */
static void tag(struct vcpu *v, struct board *b, struct block *blk, uint64_t pc)
{
	uint64_t now = retired_all(v, b), due = due_at(v);
	unsigned int first = is_entered_again(v, b, blk);
	uint64_t i = first + (due > now ? due - now - 1 : 0);
	struct ibs_op *op = &v->ibs.op;

	if (i >= blk->n)
		return;
	op->tagged = true;
	op->slot = &blk->slot[i];
	op->at = now + 1 + i - first;
	op->rip = pc + blk->slot[i].off;
	op->flags = blk->slot[i].flags;
	op->after = pc + (i + 1u < blk->n ? blk->slot[i + 1].off : blk->size);
	op->left_for = 0;
	op->facts = (struct ibs_facts){ 0 };
}

/* A memory callback of the tagged op. Its first access is the one that is reported. */
void ibs_op_access(struct vcpu *v, const void *slot, uint32_t info, uint64_t addr)
{
	struct ibs_facts *f = &v->ibs.op.facts;
	struct qemu_plugin_hwaddr *hw;

	if (f->has_lin && f->lin != addr)
		return;
	if (qemu_plugin_mem_is_store(info))
		f->store = true;
	else
		f->load = true;
	if (f->has_lin)
		return;
	f->has_lin = true;
	f->lin = addr;
	f->width = qemu_plugin_mem_size_shift(info);
	hw = qemu_plugin_get_hwaddr(info, addr);
	if (!hw)
		return;
	f->io = qemu_plugin_hwaddr_is_io(hw);
	f->has_phys = true;
	f->phys = qemu_plugin_hwaddr_phys_addr(hw);
}

static bool has_retired(struct vcpu *v, struct board *b)
{
	return retired_all(v, b) >= v->ibs.op.at;
}

/* Where a branch went is where the interrupt after it came from. */
void ibs_op_left(struct vcpu *v, struct board *b, uint64_t from)
{
	struct ibs_op *op = &v->ibs.op;

	if (op->tagged && !op->left_for && has_retired(v, b) && !(op->flags & F_TRAP))
		op->left_for = from;
}

static void learn(struct ibs_op *op, uint64_t pc)
{
	struct ibs_facts *f = &op->facts;

	f->microcode = op->flags & (F_REP | F_SITE);
	f->branch = op->flags & F_BRANCH;
	f->ret = op->flags & F_RETURN;
	f->target = op->left_for ? op->left_for : pc;
	f->taken = f->branch && f->target != op->after;
}

static bool each(struct vcpu *v, int knob, uint64_t n)
{
	return v->knob[knob] && n % v->knob[knob] == 0;
}

static void fill(struct vcpu *v, const struct ibs_op *op, const struct ibs_words *w)
{
	uint64_t *r = v->ibs.reg, *seen = v->ibs.seen;
	const struct ibs_facts *f = &op->facts;

	r[IBS_OP_RIP] = op->rip;
	r[IBS_OP_DATA] = w->data;
	r[IBS_OP_DATA2] = w->data2;
	r[IBS_OP_DATA3] = w->data3;
	r[IBS_DC_LIN] = f->has_lin ? f->lin : 0;
	r[IBS_DC_PHYS] = f->has_phys ? f->phys : 0;
	r[IBS_TARGET] = f->taken && cfg.ibs_caps & CAP_TARGET ? f->target : 0;
	r[IBS_OP_DATA4] = 0;
	if (v->knob[KNOB_IBS_DATA2] && w->data3 & (DATA3_NO_MAB | 1 << 21))
		r[IBS_OP_DATA2] = DATA2_WRONG;
	if (cfg.ibs_caps & CAP_RIP_INVALID &&
	    each(v, KNOB_IBS_RIP_INVALID, seen[VPMU_IBS_OP] + 1)) {
		r[IBS_OP_RIP] = 0;
		r[IBS_OP_DATA] |= DATA_NO_RIP;
	}
}

static void note(struct vcpu *v, const struct ibs_facts *f)
{
	uint64_t *r = v->ibs.reg, *seen = v->ibs.seen;
	bool invalid = r[IBS_OP_DATA] & DATA_NO_RIP;

	seen[VPMU_IBS_OP]++;
	seen[VPMU_IBS_OP_INVALID] += invalid;
	seen[VPMU_IBS_OP_USER] += !invalid && !(r[IBS_OP_RIP] >> 63);
	seen[VPMU_IBS_OP_RIP] += r[IBS_OP_RIP];
	seen[VPMU_IBS_OP_LOAD] += f->load;
	seen[VPMU_IBS_OP_STORE] += f->store;
	seen[VPMU_IBS_OP_BRANCH] += f->branch;
	seen[VPMU_IBS_OP_DATA] += r[IBS_OP_DATA];
	seen[VPMU_IBS_OP_DATA2] += r[IBS_OP_DATA2];
	seen[VPMU_IBS_OP_DATA3] += r[IBS_OP_DATA3];
	seen[VPMU_IBS_OP_LIN] += r[IBS_DC_LIN];
	seen[VPMU_IBS_OP_PHYS] += r[IBS_DC_PHYS];
	seen[VPMU_IBS_OP_TARGET] += r[IBS_TARGET];
	trace(v, "IBS op rip=%" PRIx64 " data=%" PRIx64 " data2=%" PRIx64 " data3=%" PRIx64
	      " lin=%" PRIx64 " phys=%" PRIx64 " target=%" PRIx64, r[IBS_OP_RIP],
	      r[IBS_OP_DATA], r[IBS_OP_DATA2], r[IBS_OP_DATA3], r[IBS_DC_LIN], r[IBS_DC_PHYS],
	      r[IBS_TARGET]);
}

/* After each tag the count begins at random where it counts ops, with 0 where cycles. */
static uint64_t first_count(uint64_t ctl, uint64_t dice)
{
	return ctl & OP_CNT_CTL ? dice >> 57 & OP_RANDOM : 0;
}

static bool finish(struct vcpu *v, uint64_t pc)
{
	uint64_t *ctl = &v->ibs.reg[IBS_OP_CTL];
	struct ibs_op *op = &v->ibs.op;
	uint64_t dice = ibs_dice(v->index, op->n++);
	struct ibs_words w;

	op->tagged = false;
	op->slot = NULL;
	learn(op, pc);
	ibs_op_words(&op->facts, dice, cfg.ibs_caps, cfg.family == 0 || cfg.family >= 0x17, &w);
	op->cur = first_count(*ctl, dice);
	op->from = op->at - op->cur;
	if (!ibs_op_passes(*ctl, &w, cfg.ibs_caps, cfg.family == 0x1a && !(cfg.ibs_caps & CAP_DIS)) ||
	    !ibs_op_passes2(v->ibs.reg[IBS_OP_CTL2], &w, op->rip)) {
		v->ibs.seen[VPMU_IBS_OP_FILTERED]++;
		return false;
	}
	*ctl |= OP_VAL;
	fill(v, op, &w);
	note(v, &op->facts);
	return true;
}

/* At a block's start. */
bool ibs_op_fire(struct vcpu *v, struct board *b, struct block *blk, uint64_t pc)
{
	struct ibs_op *op = &v->ibs.op;
	bool valid = op->tagged && has_retired(v, b) && finish(v, pc);

	op->tagged = false;
	op->slot = NULL;
	if (counts(v))
		tag(v, b, blk, pc);
	return valid;
}
