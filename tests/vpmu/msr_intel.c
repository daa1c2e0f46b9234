// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * msr_intel.c - the PMU registers of Intel's architectural perfmon, versions 1
 * to 5: reserved bits, read-only registers and values too wide fault as there.
 */
#include "vpmu.h"

static uint64_t inuse(struct vcpu *v)
{
	uint64_t x = 0;

	for (int i = 0; i < cfg.gp; i++)
		if (v->evtsel[i] & 0xff)
			x |= 1ULL << i;
	for (int i = 0; i < cfg.fixed; i++)
		if (v->fixed_ctrl >> (4 * i) & 3)
			x |= 1ULL << (32 + i);
	return x;
}

enum access msr_intel_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	if (msr - 0xc1 < (uint32_t)cfg.gp) {
		*x = v->ctr[msr - 0xc1].val;
	} else if (msr - 0x4c1 < (uint32_t)cfg.gp) {
		if (!cfg.full_width)
			return FAULT;
		*x = v->ctr[msr - 0x4c1].val;
	} else if (msr - 0x186 < (uint32_t)cfg.gp) {
		*x = v->evtsel[msr - 0x186];
	} else if (cfg.version >= 2 && msr - 0x309 < (uint32_t)cfg.fixed) {
		*x = v->ctr[FIXED0 + msr - 0x309].val;
	} else if (msr == 0x345) {
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

enum access msr_intel_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	uint64_t status = counter_global_mask();

	status |= 1ULL << 62 | 1ULL << 63;
	if (cfg.version >= 4)
		status |= 1ULL << 55 | 1ULL << 58 | 1ULL << 59 | 1ULL << 60 |
			  1ULL << 61;

	if (msr - 0xc1 < (uint32_t)cfg.gp) {
		counter_set(v, msr - 0xc1, (uint64_t)(int32_t)x & cfg.width_mask);
	} else if (msr - 0x4c1 < (uint32_t)cfg.gp) {
		if (x & ~cfg.width_mask || !cfg.full_width)
			return FAULT;
		counter_set(v, msr - 0x4c1, x);
	} else if (msr - 0x186 < (uint32_t)cfg.gp) {
		if (x >> 32 || (x & 1 << 21 && cfg.version < 3))
			return FAULT;
		v->evtsel[msr - 0x186] = x;
	} else if (cfg.version >= 2 && msr - 0x309 < (uint32_t)cfg.fixed) {
		if (x & ~cfg.width_mask)
			return FAULT;
		counter_set(v, FIXED0 + msr - 0x309, x);
	} else if (msr == 0x345) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38d) {
		if (x >> (4 * cfg.fixed))
			return FAULT;
		v->fixed_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x38e) {
		return FAULT;
	} else if (cfg.version >= 2 && msr == 0x38f) {
		if (x & ~counter_global_mask())
			return FAULT;
		v->global_ctrl = x;
	} else if (cfg.version >= 2 && msr == 0x390) {
		if (x & ~status)
			return FAULT;
		v->global_status &= ~x;
	} else if (cfg.version >= 4 && msr == 0x391) {
		if (x & ~(status & ~(1ULL << 63)))
			return FAULT;
		v->global_status |= x;
	} else if (cfg.version >= 4 && msr == 0x392) {
		return FAULT;
	} else {
		return NATIVE;
	}
	return DONE;
}

enum msr_class msr_intel_class(uint32_t msr)
{
	if (msr - 0x186 < (uint32_t)cfg.gp)
		return MSR_SELECT;
	if (msr - 0xc1 < (uint32_t)cfg.gp || msr - 0x4c1 < (uint32_t)cfg.gp ||
	    msr - 0x309 < (uint32_t)cfg.fixed)
		return MSR_COUNTER;
	switch (msr) {
	case 0x38d: return MSR_FIXED_CTRL;
	case 0x38e: return MSR_GLOBAL_STATUS;
	case 0x38f: return MSR_GLOBAL_CTRL;
	case 0x390:
	case 0x391: return MSR_ACK;
	}
	return MSR_OTHER;
}
