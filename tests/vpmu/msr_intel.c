// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * msr_intel.c - the PMU registers of Intel's architectural perfmon, versions 1
 * to 6: reserved bits, read-only registers and values too wide fault as there. On a named
 * machine a register that this kind of core lacks faults as well.
 */
#include "vpmu.h"

static uint64_t inuse(struct vcpu *v)
{
	uint64_t x = 0;

	for (int i = 0; i < MAX_GP; i++)
		if (machine_has_gp(v, i) && v->evtsel[i] & 0xff)
			x |= 1ULL << i;
	for (int i = 0; i < MAX_FIXED; i++)
		if (machine_has_fixed(v, i) && v->fixed_ctrl >> (4 * i) & 3)
			x |= 1ULL << (32 + i);
	return x;
}

/* What a register is; n: its number among those. */
enum reg_kind {
	OTHER, CTR, CTR_FULL, SELECT, FIXED, CFG_B, CFG_C, MISSING,
};

/* Registers of version 6: four of each counter in a row, from 0x1900 and from 0x1980. */
static enum reg_kind kind_of_v6(struct vcpu *v, uint32_t msr, int *n)
{
	static const enum reg_kind general[4] = { CTR_FULL, SELECT, CFG_B, CFG_C };
	static const enum reg_kind fixed[4] = { FIXED, MISSING, CFG_B, CFG_C };
	bool is_fixed = msr >= 0x1980;
	uint32_t i = (msr & 0x7f) / 4;
	bool has = is_fixed ? machine_has_fixed(v, i) : machine_has_gp(v, i);
	enum reg_kind k = is_fixed ? fixed[msr & 3] : general[msr & 3];

	*n = is_fixed && k != FIXED ? FIXED0 + (int)i : (int)i;
	return has ? k : MISSING;
}

/* A register where another kind of core has one, or could have one. */
static bool is_missing(struct vcpu *v, uint32_t msr)
{
	if (!cfg.machine)
		return false;
	if (msr == 0x3f7)
		return !v->core->frontend;
	return msr - 0xc1 < 10 || msr - 0x4c1 < 10 || msr - 0x186 < 10 ||
	       msr - 0x309 < MAX_FIXED;
}

static enum reg_kind kind_of(struct vcpu *v, uint32_t msr, int *n)
{
	if (machine_has_gp(v, *n = msr - 0xc1))
		return CTR;
	if (machine_has_gp(v, *n = msr - 0x4c1))
		return CTR_FULL;
	if (machine_has_gp(v, *n = msr - 0x186))
		return SELECT;
	if (cfg.version >= 2 && machine_has_fixed(v, *n = msr - 0x309))
		return FIXED;
	if (cfg.version >= 6 && msr - 0x1900 < 0x100)
		return kind_of_v6(v, msr, n);
	return is_missing(v, msr) ? MISSING : OTHER;
}

static enum access read_counter(struct vcpu *v, enum reg_kind k, int n, uint64_t *x)
{
	switch (k) {
	case CTR:	*x = v->ctr[n].val; break;
	case CTR_FULL:
		if (!cfg.full_width)
			return FAULT;
		*x = v->ctr[n].val;
		break;
	case SELECT:	*x = v->evtsel[n]; break;
	case FIXED:	*x = v->ctr[FIXED0 + n].val; break;
	case CFG_B:	*x = v->cfg_b[n]; break;
	case CFG_C:	*x = v->cfg_c[n]; break;
	default:	return FAULT;
	}
	return DONE;
}

enum access msr_intel_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	int n;
	enum reg_kind k = kind_of(v, msr, &n);

	if (k != OTHER)
		return read_counter(v, k, n, x);
	if (msr == 0x345) {
		/* full-width counter writes */
		*x = cfg.full_width ? 1 << 13 : 0;
	} else if (cfg.version >= 2 && msr == 0x38d) {
		*x = v->fixed_ctrl;
	} else if (cfg.version >= 2 && msr == 0x38e) {
		*x = v->global_status;
	} else if (cfg.version >= 2 && msr == 0x38f) {
		*x = v->global_ctrl;
	} else if (cfg.version >= 2 && msr == 0x390) {
		*x = 0;
	} else if (cfg.version >= 4 && msr == 0x391) {
		*x = 0;
	} else if (cfg.version >= 4 && msr == 0x392) {
		*x = inuse(v);
	} else {
		return NATIVE;
	}
	return DONE;
}

/* PERF_METRICS is where slots are counted; its bits are kept, and it does not count. */
static uint64_t global_bits(struct vcpu *v)
{
	bool metrics = cfg.machine && machine_has_fixed(v, 3);

	return counter_global_mask(v) | (metrics ? 1ULL << 48 : 0);
}

static uint64_t status_mask(struct vcpu *v)
{
	uint64_t status = global_bits(v) | 1ULL << 62 | 1ULL << 63;

	if (cfg.version >= 4)
		status |= 1ULL << 55 | 1ULL << 58 | 1ULL << 59 | 1ULL << 60 |
			  1ULL << 61;
	return status;
}

/* The bits that let other counters reload this one: of those that can cause it. */
static uint64_t reload_mask(struct vcpu *v, int n)
{
	const uint32_t *acr = v->core->leaf_23[2];
	bool can = n < FIXED0 ? acr[0] >> n & 1 : acr[1] >> (n - FIXED0) & 1;

	return can ? acr[2] | (uint64_t)acr[3] << 32 : 0;
}

static enum access write_counter(struct vcpu *v, enum reg_kind k, int n, uint64_t x)
{
	switch (k) {
	case CTR:
		counter_set(v, n, (uint64_t)(int32_t)x & cfg.width_mask);
		break;
	case CTR_FULL:
		if (x & ~cfg.width_mask || !cfg.full_width)
			return FAULT;
		counter_set(v, n, x);
		break;
	case SELECT:
		if (x & ~(0xffffffffULL | machine_select_bits(v)) ||
		    (x & 1 << 21 && cfg.version < 3))
			return FAULT;
		manners_select(v, n, x);
		v->evtsel[n] = x;
		break;
	case FIXED:
		if (x & ~cfg.width_mask)
			return FAULT;
		counter_set(v, FIXED0 + n, x);
		break;
	case CFG_B:
		if (x & ~reload_mask(v, n))
			return FAULT;
		v->cfg_b[n] = x;
		break;
	case CFG_C:
		v->cfg_c[n] = x;
		break;
	default:
		return FAULT;
	}
	return DONE;
}

/* Four bits of each fixed counter, and one more where it can be hidden. */
static uint64_t fixed_ctrl_mask(struct vcpu *v)
{
	uint64_t field = 0xf | (machine_can_hide(v) ? FIXED_HIDE : 0), mask = 0;

	for (int i = 0; i < MAX_FIXED; i++)
		if (machine_has_fixed(v, i))
			mask |= field << 4 * i;
	return mask;
}

/* Does RDPMC of user mode read 0 from this counter? */
bool msr_intel_hides(const struct vcpu *v, int i)
{
	return i < FIXED0 ? v->evtsel[i] & SEL_HIDE :
			    v->fixed_ctrl >> (4 * (i - FIXED0)) & FIXED_HIDE;
}

enum access msr_intel_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	int n;
	enum reg_kind k = kind_of(v, msr, &n);

	if (k != OTHER)
		return write_counter(v, k, n, x);
	if (msr == 0x345) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38d) {
		if (x & ~fixed_ctrl_mask(v))
			return FAULT;
		v->fixed_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x38e) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38f) {
		if (x & ~global_bits(v))
			return FAULT;
		v->global_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x390) {
		if (x & ~status_mask(v))
			return FAULT;
		v->global_status &= ~x;
	} else if (cfg.version >= 4 && msr == 0x391) {
		if (x & ~(status_mask(v) & ~(1ULL << 63)))
			return FAULT;
		v->global_status |= x;
	} else if (cfg.version >= 4 && msr == 0x392) {
		return FAULT;
	} else {
		return NATIVE;
	}
	return DONE;
}

enum msr_class msr_intel_class(struct vcpu *v, uint32_t msr)
{
	int n;

	switch (kind_of(v, msr, &n)) {
	case SELECT:
		return MSR_SELECT;
	case CTR:
	case CTR_FULL:
	case FIXED:
		return MSR_COUNTER;
	default:
		break;
	}
	switch (msr) {
	case 0x38d: return MSR_FIXED_CTRL;
	case 0x38e: return MSR_GLOBAL_STATUS;
	case 0x38f: return MSR_GLOBAL_CTRL;
	case 0x390:
	case 0x391: return MSR_ACK;
	}
	return MSR_OTHER;
}
