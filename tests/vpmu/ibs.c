// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs.c - AMD's instruction-based sampling (option ibs=): its registers, as far as the model
 * has them, its interrupt by an entry of the APIC's extended LVT, which both samplers share,
 * and what the guest may ask about it. A reserved bit of a control register, a register that
 * the model lacks and a write to IBSCTL fault.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vpmu.h"

/* Callbacks that are placed in translated code, of all blocks so far. */
static atomic_ulong placed;

/* "on": as the model; or the capabilities, in hexadecimal. */
bool ibs_option(const char *val)
{
	char *end;

	cfg.ibs = strcmp(val, "off");
	if (!cfg.ibs || !strcmp(val, "on"))
		return true;
	cfg.ibs_caps = strtoul(val, &end, 16);
	return cfg.ibs_caps && !*end;
}

/* False: there is no such PMU. Without a known model it is Zen 3. */
bool ibs_settle(void)
{
	if (!cfg.ibs)
		return true;
	if (!cfg.ibs_caps)
		cfg.ibs_caps = cfg.family ? ibs_model_caps(cfg.family, cfg.model) : 0x3ff;
	return cfg.amd && cfg.ibs_caps;
}

/* Firmware assigns the entry. */
static uint64_t ibsctl(void)
{
	return cfg.ibs_entry < EILVTS ? 1 << 8 | cfg.ibs_entry : 0;
}

static bool reg_of(uint32_t msr, unsigned int *reg)
{
	*reg = msr - IBS_FIRST;
	return cfg.ibs && *reg < IBS_REGS;
}

enum access ibs_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	struct board *b = board_of(v);
	unsigned int reg;

	if (!reg_of(msr, &reg))
		return NATIVE;
	if (!ibs_model_has(cfg.ibs_caps, reg))
		return FAULT;
	v->ibs.seen[VPMU_IBS_RDMSR]++;
	*x = v->ibs.reg[reg];
	if (reg == IBS_CTL)
		*x = ibsctl();
	else if (reg == IBS_OP_CTL)
		*x |= ibs_op_cur(v, b) << OP_CUR_SHIFT;
	else if (reg == IBS_FETCH_CTL)
		*x |= ibs_fetch_cur(v, b) >> 4 << FETCH_CUR_SHIFT;
	return DONE;
}

struct sampler {
	uint64_t en, val, max;
};

static struct sampler sampler_of(unsigned int reg)
{
	if (reg == IBS_OP_CTL)
		return (struct sampler){ OP_EN, OP_VAL, OP_MAX | OP_MAX_EXT };
	return (struct sampler){ FETCH_EN, FETCH_VAL, FETCH_MAX };
}

/* KNOB_IBS_LATE, KNOB_IBS_STUCK: what comes after the write that disables a sampler. */
static void disabled(struct vcpu *v, struct board *b, unsigned int reg, uint64_t before,
		     uint64_t x)
{
	uint32_t late = v->knob[KNOB_IBS_LATE], stuck = v->knob[KNOB_IBS_STUCK];
	struct sampler s = sampler_of(reg);
	uint64_t now = retired_all(v, b) + 1;

	if (v->ibs.late_reg == reg && x & s.en && !(x & s.max))
		v->ibs.stuck_due = 0;
	if (!(before & s.en) || x & s.en)
		return;
	v->ibs.late_reg = reg;
	if (late)
		v->ibs.late_due = now + late;
	if (stuck && before & s.max)
		v->ibs.stuck_due = now + stuck;
}

/* Has the second register disabled it? */
static bool is_disabled(const struct vcpu *v, unsigned int reg)
{
	return v->ibs.reg[reg == IBS_OP_CTL ? IBS_OP_CTL2 : IBS_FETCH_CTL2] & CTL2_DIS;
}

/* The bit that disables is seen as a write that clears the enable bit. */
static enum access write_control2(struct vcpu *v, unsigned int reg, uint64_t x)
{
	unsigned int first = reg == IBS_OP_CTL2 ? IBS_OP_CTL : IBS_FETCH_CTL;
	uint64_t ctl = v->ibs.reg[first], was = v->ibs.reg[reg];
	struct sampler s = sampler_of(first);
	struct board *b = board_of(v);

	if (x & ~ibs_model_ctl2_bits(cfg.ibs_caps, reg))
		return FAULT;
	if (x & ~was & CTL2_DIS)
		disabled(v, b, first, ctl, ctl & ~s.en);
	if (reg == IBS_OP_CTL2)
		ibs_op_disable(v, b, x);
	else
		ibs_fetch_disable(v, b, x);
	return DONE;
}

static enum access write_control(struct vcpu *v, unsigned int reg, uint64_t x)
{
	uint64_t before = v->ibs.reg[reg];
	struct sampler s = sampler_of(reg);
	struct board *b = board_of(v);

	if (x & ~(reg == IBS_OP_CTL ? ibs_model_op_bits(cfg.ibs_caps) :
				      ibs_model_fetch_bits(cfg.ibs_caps)))
		return FAULT;
	v->ibs.seen[VPMU_IBS_ENDLESS] += x & s.en && !(x & s.max);
	if (!is_disabled(v, reg))
		disabled(v, b, reg, before, x);
	if (reg == IBS_OP_CTL) {
		ibs_op_start(v, b, x);
		v->ibs.reg[reg] = x & ~(ibs_model_op_mask(cfg.ibs_caps) << OP_CUR_SHIFT);
	} else {
		ibs_fetch_start(v, b, before, x);
		v->ibs.reg[reg] = x & ~(FETCH_RESULT | FETCH_MAX << FETCH_CUR_SHIFT);
	}
	return DONE;
}

enum access ibs_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	unsigned int reg;
	enum access a = DONE;

	if (!reg_of(msr, &reg))
		return NATIVE;
	if (!ibs_model_has(cfg.ibs_caps, reg) || reg == IBS_CTL)
		return FAULT;
	if (reg == IBS_OP_CTL || reg == IBS_FETCH_CTL)
		a = write_control(v, reg, x);
	else if (reg == IBS_OP_CTL2 || reg == IBS_FETCH_CTL2)
		a = write_control2(v, reg, x);
	else
		v->ibs.reg[reg] = x;
	if (a == DONE)
		v->ibs.seen[VPMU_IBS_WRMSR]++;
	return a;
}

static uint64_t due_in(uint64_t due, uint64_t now)
{
	return !due ? FAR : due > now ? due - now : 0;
}

/* Instructions after which there may be something to do; FAR: nothing. */
uint64_t ibs_until(struct vcpu *v, struct board *b)
{
	uint64_t now = retired_all(v, b), left = MIN(ibs_op_until(v, b), ibs_fetch_until(v, b));

	return MIN(left, MIN(due_in(v->ibs.late_due, now), due_in(v->ibs.stuck_due, now)));
}

static bool interrupt(struct vcpu *v)
{
	if (cfg.ibs_entry >= EILVTS || !pmi_raise_entry(v, v->eilvt[cfg.ibs_entry])) {
		v->ibs.seen[VPMU_IBS_MASKED]++;
		return false;
	}
	v->ibs.seen[VPMU_IBS_NMI]++;
	return true;
}

/* The NMIs of the knobs. */
static bool knobs_fire(struct vcpu *v, struct board *b)
{
	uint64_t now = retired_all(v, b), *ctl = &v->ibs.reg[v->ibs.late_reg];
	struct sampler s = sampler_of(v->ibs.late_reg);
	bool raised = false;

	if (v->ibs.late_due && now >= v->ibs.late_due) {
		v->ibs.late_due = 0;
		v->ibs.seen[VPMU_IBS_LATE]++;
		if (v->knob[KNOB_IBS_LATE] & VPMU_IBS_LATE_VAL && !(*ctl & s.en))
			*ctl |= s.val;
		raised = true;
	}
	if (v->ibs.stuck_due && now >= v->ibs.stuck_due) {
		v->ibs.stuck_due = v->knob[KNOB_IBS_STUCK] ? now + v->knob[KNOB_IBS_STUCK] : 0;
		v->ibs.seen[VPMU_IBS_STUCK]++;
		*ctl |= s.val;
		raised = true;
	}
	return raised;
}

/* At a block's start. True: an interrupt is now pending. */
bool ibs_fire(struct vcpu *v, struct board *b, struct block *blk, uint64_t pc)
{
	bool op = ibs_op_fire(v, b, blk, pc), fetch = ibs_fetch_fire(v, b, pc);
	bool knob = knobs_fire(v, b);

	return (op || fetch || knob) && interrupt(v);
}

static void on_access(unsigned int index, uint32_t info, uint64_t addr, void *data)
{
	struct vcpu *v = vcpu_of(index);

	if (v->ibs.op.slot == data)
		ibs_op_access(v, data, info, addr);
}

/* What any op accesses, since any can be tagged. */
void ibs_watch_insn(struct qemu_plugin_insn *in, struct slot *slot)
{
	placed++;
	qemu_plugin_register_vcpu_mem_cb(in, on_access, CB_NO_REGS, MEM_R | MEM_W, slot);
}

/* Each block is a fetch. (With all vCPUs on one thread translate.c counts them.) */
void ibs_watch_block(struct qemu_plugin_tb *tb)
{
	placed++;
	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, OP_ADD, FIELD(fetch), 1);
}

/* An interrupt or exception was delivered, which came before the instruction at `from`. */
void ibs_left(struct vcpu *v, struct board *b, uint64_t from)
{
	if (cfg.ibs)
		ibs_op_left(v, b, from);
}

/* The code cache is emptied. */
void ibs_forget(struct vcpu *v)
{
	v->ibs.op.slot = NULL;
}

static uint64_t seen_by(uint32_t what, uint64_t arg)
{
	uint64_t sum = 0;

	for (int i = 0; i < vcpus_seen; i++)
		if (arg == VPMU_ALL_VCPUS || arg == (uint64_t)i)
			sum += vcpus[i].ibs.seen[what];
	return sum;
}

uint64_t ibs_leaf(uint32_t what, uint64_t arg)
{
	if (what < VPMU_IBS_ITEMS)
		return seen_by(what, arg);
	if (what == VPMU_IBS_CAPS)
		return cfg.ibs_caps;
	if (what == VPMU_IBS_PLACED)
		return placed;
	if (arg >= (uint64_t)vcpus_seen)
		return 0;
	if (what == VPMU_IBS_ENTRY)
		return cfg.ibs_entry < EILVTS ? vcpus[arg].eilvt[cfg.ibs_entry] : 0;
	if (what - VPMU_IBS_REG < IBS_REGS)
		return vcpus[arg].ibs.reg[what - VPMU_IBS_REG];
	return 0;
}
