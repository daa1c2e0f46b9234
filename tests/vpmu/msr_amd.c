// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * msr_amd.c - the PMU registers of AMD: K7's four, the core extension's six
 * (version 1), PerfMonV2's global ones (version 2).
 */
#include "vpmu.h"

/* Which counter or selector an AMD register number means, or -1. */
static int amd_slot(uint32_t msr, bool *sel)
{
	int i;

	if (msr >= 0xc0010000 && msr <= 0xc0010007) {
		*sel = msr < 0xc0010004;
		return msr & 3;
	}
	if (cfg.version >= 1 && msr >= 0xc0010200 &&
	    msr < 0xc0010200 + 2 * (uint32_t)cfg.gp) {
		*sel = !(msr & 1);
		i = (msr - 0xc0010200) / 2;
		return i;
	}
	return -1;
}

/*
 * Bits 40 and 41 of a select, the guests alone and the host alone: with either one it counts
 * nothing while SVM is off. All that runs here is the host.
 */
bool msr_amd_counts(const struct vcpu *v, uint64_t sel)
{
	unsigned int whose = sel >> 40 & 3;

	return !whose || (v->svm && whose & 2);
}

enum access msr_amd_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	bool sel;
	int i = amd_slot(msr, &sel);

	if (i >= 0) {
		*x = sel ? v->evtsel[i] : counter_seen(v, i);
		return DONE;
	}
	if (cfg.version >= 2) {
		switch (msr) {
		case 0xc0000300: *x = v->global_status; return DONE;
		case 0xc0000301: *x = v->global_ctrl; return DONE;
		case 0xc0000302:
		case 0xc0000303: *x = 0; return DONE;
		}
	}
	return NATIVE;
}

enum access msr_amd_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	bool sel;
	int i = amd_slot(msr, &sel);

	if (i >= 0) {
		if (sel)
			manners_select(v, i, x);
		if (sel)
			v->evtsel[i] = x & ~(1ULL << 19 | 1ULL << 21 | v->knob[KNOB_RESERVED]);
		else
			counter_set(v, i, x & cfg.width_mask);
		return DONE;
	}
	if (msr == 0xc0000080) {			/* EFER */
		v->svm = x >> 12 & 1;
		counter_reconfigure(v, board_of(v));
		return NATIVE;
	}
	if (cfg.version >= 2) {
		switch (msr) {
		case 0xc0000300: return DONE;		/* read only, ignored */
		case 0xc0000301: v->global_ctrl = x & counter_global_mask(v); return DONE;
		case 0xc0000302: v->global_status &= ~x; return DONE;
		case 0xc0000303: v->global_status |= x & (counter_global_mask(v) | 3ULL << 58);
			return DONE;
		}
	}
	return NATIVE;
}

enum msr_class msr_amd_class(uint32_t msr)
{
	bool sel;

	if (amd_slot(msr, &sel) >= 0)
		return sel ? MSR_SELECT : MSR_COUNTER;
	switch (msr) {
	case 0xc0000300: return MSR_GLOBAL_STATUS;
	case 0xc0000301: return MSR_GLOBAL_CTRL;
	case 0xc0000302:
	case 0xc0000303: return MSR_ACK;
	}
	return MSR_OTHER;
}
