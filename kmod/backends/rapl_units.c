// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rapl_units.c - registers and units of energy by model. Pure.
 */
#include "rapl_regs.h"
#include "rapl_units.h"

#define MILLIWATTS	2000000u
#define WRAP_MIN_MS	10
#define WRAP_MAX_MS	60000

static bool is_model_of(u32 model, const u8 *list, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (list[i] == model)
			return true;
	return false;
}

#define IS_ONE_OF(model, list)	is_model_of(model, list, sizeof(list))

static void intel_model(struct hwpmc_rapl_units *u, u32 model)
{
	/* Silvermont, Airmont and their relatives. */
	static const u8 atoms[] = { 0x37, 0x4a, 0x4c, 0x5a, 0x5d };
	/* Xeons from Haswell to Ice Lake, Knights Landing and Mill. */
	static const u8 drams[] = { 0x3f, 0x4f, 0x56, 0x55, 0x6a, 0x6c, 0x57, 0x85 };
	/* Sapphire, Emerald and Granite Rapids. */
	static const u8 platforms[] = { 0x8f, 0xcf, 0xad, 0xae };

	*u = (struct hwpmc_rapl_units){
		.msr = RAPL_INTEL_UNIT,
		.reg = {
			[RAPL_PKG] = RAPL_INTEL_PKG,
			[RAPL_CORES] = RAPL_INTEL_CORES,
			[RAPL_GPU] = RAPL_INTEL_GPU,
			[RAPL_DRAM] = RAPL_INTEL_DRAM,
			[RAPL_PLATFORM] = RAPL_INTEL_PLATFORM,
		},
		.atom = IS_ONE_OF(model, atoms),
		.dram_fixed = IS_ONE_OF(model, drams),
		.platform_joule = IS_ONE_OF(model, platforms),
	};
}

/* Atom C2000: turbostat takes its unit for a fraction of a joule, not for the multiple of a
 * microjoule that its relatives have; a factor of hundreds. */
#define UNIT_UNKNOWN	0x4d

bool hwpmc_rapl_model(struct hwpmc_rapl_units *u, bool intel, bool amd, u32 family,
		      u32 model)
{
	*u = (struct hwpmc_rapl_units){ .msr = 0 };
	if (intel && family == 6 && model != UNIT_UNKNOWN)
		intel_model(u, model);
	else if (amd && family >= 0x17)
		*u = (struct hwpmc_rapl_units){
			.msr = RAPL_AMD_UNIT,
			.reg = { [RAPL_PKG] = RAPL_AMD_PKG, [RAPL_CORES] = RAPL_AMD_CORE },
		};
	return u->msr;
}

void hwpmc_rapl_unit(struct hwpmc_rapl_units *u, u64 value)
{
	u->n = value >> RAPL_UNIT_SHIFT & RAPL_UNIT_MASK;
}

/* n units of 2^-shift joules: a product of 96 bits. */
static u64 scale_units(u64 n, unsigned int shift)
{
	u64 low = (n & 0xffffffff) * 1000000, high = (n >> 32) * 1000000;

	/* high * 2^32 / 2^shift, what it leaves, and the low part. */
	high += low >> 32;
	low &= 0xffffffff;
	return (high << 32 | low) >> shift | (shift && high >> 32 ?
		(high >> 32) << (64 - shift) : 0);
}

u64 hwpmc_rapl_microjoules(const struct hwpmc_rapl_units *u, enum rapl_domain d, u64 n)
{
	if (d == RAPL_PLATFORM && u->platform_joule)
		return n * 1000000;
	if (d == RAPL_DRAM && u->dram_fixed)
		return scale_units(n, 16);
	return u->atom ? n << u->n : scale_units(n, u->n);
}

/* Millijoules in 2^32 units. */
static u64 wrap_millijoules(const struct hwpmc_rapl_units *u)
{
	if (u->atom)
		return (1ULL << 32 << u->n) / 1000;
	return (1000ULL << 32) >> (u->dram_fixed && u->n < 16 ? 16 : u->n);
}

u32 hwpmc_rapl_wrap_ms(const struct hwpmc_rapl_units *u)
{
	/* mJ / mW = s; half of it, in ms */
	u64 ms = wrap_millijoules(u) * 500 / MILLIWATTS;

	if (ms < WRAP_MIN_MS)
		return WRAP_MIN_MS;
	return ms < WRAP_MAX_MS ? ms : WRAP_MAX_MS;
}
