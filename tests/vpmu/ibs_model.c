// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs_model.c - which capabilities of instruction-based sampling a model of AMD's has, and
 * which registers and bits follow from them. Pure.
 */
#include "ibs.h"

static bool is_zen6(int model)
{
	return (model >= 0x50 && model <= 0x5f) || (model >= 0x80 && model <= 0xaf) ||
	       (model >= 0xc0 && model <= 0xcf);
}

/* By CPUID dumps of machines; of Zen 6 by the kernel's driver. */
uint32_t ibs_model_caps(int family, int model)
{
	switch (family) {
	case 0x10: case 0x11: case 0x12:
		return 0x1f;
	case 0x14: case 0x16:
		return 0xff;
	case 0x15:
		return model >= 0x60 ? 0x7ff : 0xff;
	case 0x17: case 0x18:
		return 0x3ff;
	case 0x19:
		return model < 0x10 || (model >= 0x20 && model <= 0x5f) ? 0x3ff : 0xbff;
	case 0x1a:
		return is_zen6(model) ? 0x9fbff : 0x81bff;
	}
	return 0;
}

/* Bits of the op's control register; others are reserved. */
uint64_t ibs_model_op_bits(uint32_t caps)
{
	uint64_t bits = OP_MAX | OP_EN | OP_VAL;

	if (caps & CAP_CUR)
		bits |= ibs_model_op_mask(caps) << OP_CUR_SHIFT;
	if (caps & CAP_CNT_CTL)
		bits |= OP_CNT_CTL;
	if (caps & CAP_EXT)
		bits |= OP_MAX_EXT;
	if (caps & CAP_ZEN4)
		bits |= OP_L3_ONLY;
	if (caps & CAP_LDLAT)
		bits |= OP_LAT | OP_LAT_EN;
	return bits;
}

uint64_t ibs_model_fetch_bits(uint32_t caps)
{
	uint64_t bits = FETCH_MAX | FETCH_MAX << FETCH_CUR_SHIFT | FETCH_EN | FETCH_VAL |
			FETCH_RAND | FETCH_RESULT;

	if (caps & CAP_ZEN4)
		return bits | FETCH_L3_ONLY;
	return bits & ~(1ULL << 60 | FETCH_L3_MISS);
}

/* Of the second control registers. */
uint64_t ibs_model_ctl2_bits(uint32_t caps, unsigned int reg)
{
	uint64_t bits = CTL2_DIS;

	if (reg == IBS_OP_CTL2)
		return bits | (caps & CAP_BIT63 ? OP2_NO_USER | OP2_NO_KERNEL : 0) |
		       (caps & CAP_STREAM ? OP2_STREAM : 0);
	return bits | (caps & CAP_BIT63 ? FETCH2_NO_USER | FETCH2_NO_KERNEL : 0) |
	       (caps & CAP_FETCHLAT ? FETCH2_LAT : 0);
}

/* Is there this register? */
bool ibs_model_has(uint32_t caps, unsigned int reg)
{
	switch (reg) {
	case IBS_FETCH_CTL: case IBS_FETCH_LIN: case IBS_FETCH_PHYS:
		return caps & CAP_FETCH;
	case IBS_TARGET:
		return caps & CAP_TARGET;
	case IBS_FETCH_EXTD:
		return caps & CAP_EXTD;
	case IBS_OP_DATA4:
		return caps & CAP_DATA4;
	case IBS_CTL:
		return true;
	case IBS_OP_CTL2: case IBS_FETCH_CTL2:
		return caps & CAP_DIS;
	}
	return reg < IBS_REGS && caps & CAP_OP;
}

/* Bits of the op's count. */
uint64_t ibs_model_op_mask(uint32_t caps)
{
	return (1ULL << (caps & CAP_EXT ? 27 : 20)) - 1;
}

uint64_t ibs_model_op_max(uint32_t caps, uint64_t ctl)
{
	uint64_t max = (ctl & OP_MAX) << 4;

	return caps & CAP_EXT ? max | (ctl & OP_MAX_EXT) : max;
}
