// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * power.c - registers of energy and of frequency, with the option power=N: the unit of
 * energy is 2^-N joules. Energy moves as the guest says, by a knob of each vCPU: the
 * package has used KNOB_ENERGY units and some, cores twice, memory three times as many; there are no
 * others. The upper halves of these registers are not 0. MPERF is the vCPU's retired
 * instructions and KNOB_CLOCK, APERF twice that.
 */
#include "vpmu.h"

#define UPPER	(0xdeadULL << 32)
#define BEFORE	4096		/* used before the guest's first wish */

static bool energy_of(struct vcpu *v, uint64_t times, uint64_t *x)
{
	*x = UPPER | (uint32_t)((BEFORE + v->knob[KNOB_ENERGY]) * times);
	return true;
}

static bool amd_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	switch (msr) {
	case 0xc0010299:
		*x = 0xa0003 | (uint64_t)cfg.power << 8;
		return true;
	case 0xc001029a:
		return energy_of(v, 2, x);
	case 0xc001029b:
		return energy_of(v, 1, x);
	}
	return false;
}

static bool intel_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	switch (msr) {
	case 0x606:
		*x = 0xa0003 | (uint64_t)cfg.power << 8;
		return true;
	case 0x611:
		return energy_of(v, 1, x);
	case 0x639:
		return energy_of(v, 2, x);
	case 0x619:
		return energy_of(v, 3, x);
	}
	return false;
}

bool power_read(struct vcpu *v, struct board *b, uint32_t msr, uint64_t *x)
{
	if (!cfg.power)
		return false;
	if (msr == 0xe7 || msr == 0xe8) {
		*x = (retired_all(v, b) + v->knob[KNOB_CLOCK]) << (msr == 0xe8);
		return true;
	}
	return cfg.amd ? amd_read(v, msr, x) : intel_read(v, msr, x);
}
