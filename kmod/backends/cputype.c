// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * cputype.c - a table from model numbers to kinds of CPU. Pure.
 */
#include "cputype.h"

static const struct {
	u8 model;
	u16 cputype;
} cpu_models[] = {
	{ 0x0e, HWPMC_CPU_CORE },
	{ 0x0f, HWPMC_CPU_CORE2 },
	{ 0x17, HWPMC_CPU_CORE2EXTREME },
	{ 0x1d, HWPMC_CPU_CORE2EXTREME },	/* Dunnington */
	{ 0x1c, HWPMC_CPU_ATOM },
	{ 0x26, HWPMC_CPU_ATOM },
	{ 0x27, HWPMC_CPU_ATOM },
	{ 0x35, HWPMC_CPU_ATOM },
	{ 0x36, HWPMC_CPU_ATOM },
	{ 0x1a, HWPMC_CPU_COREI7 },
	{ 0x1e, HWPMC_CPU_COREI7 },
	{ 0x1f, HWPMC_CPU_COREI7 },
	{ 0x2e, HWPMC_CPU_NEHALEM_EX },
	{ 0x25, HWPMC_CPU_WESTMERE },
	{ 0x2c, HWPMC_CPU_WESTMERE },
	{ 0x2f, HWPMC_CPU_WESTMERE_EX },
	{ 0x2a, HWPMC_CPU_SANDYBRIDGE },
	{ 0x2d, HWPMC_CPU_SANDYBRIDGE_XEON },
	{ 0x3a, HWPMC_CPU_IVYBRIDGE },
	{ 0x3e, HWPMC_CPU_IVYBRIDGE_XEON },
	{ 0x3c, HWPMC_CPU_HASWELL },
	{ 0x45, HWPMC_CPU_HASWELL },
	{ 0x46, HWPMC_CPU_HASWELL },
	{ 0x3f, HWPMC_CPU_HASWELL_XEON },
	{ 0x3d, HWPMC_CPU_BROADWELL },
	{ 0x47, HWPMC_CPU_BROADWELL },
	{ 0x4f, HWPMC_CPU_BROADWELL_XEON },
	{ 0x56, HWPMC_CPU_BROADWELL_XEON },
	{ 0x4e, HWPMC_CPU_SKYLAKE },
	{ 0x5e, HWPMC_CPU_SKYLAKE },
	{ 0x8e, HWPMC_CPU_SKYLAKE },		/* Kaby Lake and later */
	{ 0x9e, HWPMC_CPU_SKYLAKE },
	{ 0xa5, HWPMC_CPU_SKYLAKE },		/* Comet Lake */
	{ 0xa6, HWPMC_CPU_SKYLAKE },
	{ 0x55, HWPMC_CPU_SKYLAKE_XEON },
	{ 0x37, HWPMC_CPU_ATOM_SILVERMONT },
	{ 0x4a, HWPMC_CPU_ATOM_SILVERMONT },
	{ 0x4c, HWPMC_CPU_ATOM_SILVERMONT },	/* Airmont */
	{ 0x4d, HWPMC_CPU_ATOM_SILVERMONT },
	{ 0x5a, HWPMC_CPU_ATOM_SILVERMONT },
	{ 0x5d, HWPMC_CPU_ATOM_SILVERMONT },
	{ 0x5c, HWPMC_CPU_ATOM_GOLDMONT },
	{ 0x5f, HWPMC_CPU_ATOM_GOLDMONT },
	{ 0x7a, HWPMC_CPU_ATOM_GOLDMONT_P },
	{ 0x86, HWPMC_CPU_ATOM_TREMONT },
	{ 0x96, HWPMC_CPU_ATOM_TREMONT },
	{ 0x9c, HWPMC_CPU_ATOM_TREMONT },
	{ 0x7d, HWPMC_CPU_ICELAKE },
	{ 0x7e, HWPMC_CPU_ICELAKE },
	{ 0x8c, HWPMC_CPU_ICELAKE },		/* Tiger Lake */
	{ 0x8d, HWPMC_CPU_ICELAKE },
	{ 0xa7, HWPMC_CPU_ICELAKE },		/* Rocket Lake */
	{ 0x6a, HWPMC_CPU_ICELAKE_XEON },
	{ 0x6c, HWPMC_CPU_ICELAKE_XEON },
	{ 0x97, HWPMC_CPU_ALDERLAKE },
	{ 0x9a, HWPMC_CPU_ALDERLAKE },
	{ 0xb7, HWPMC_CPU_ALDERLAKE },		/* Raptor Lake */
	{ 0xba, HWPMC_CPU_ALDERLAKE },
	{ 0xbf, HWPMC_CPU_ALDERLAKE },
	{ 0xd7, HWPMC_CPU_ALDERLAKE },		/* Bartlett Lake */
	{ 0xbe, HWPMC_CPU_ALDERLAKEN },
	{ 0x8f, HWPMC_CPU_SAPPHIRE_RAPIDS },
	{ 0xcf, HWPMC_CPU_EMERALD_RAPIDS },
	{ 0xad, HWPMC_CPU_GRANITE_RAPIDS },
	{ 0xae, HWPMC_CPU_GRANITE_RAPIDS },
	{ 0xaa, HWPMC_CPU_METEOR_LAKE },
	{ 0xac, HWPMC_CPU_METEOR_LAKE },
	{ 0xaf, HWPMC_CORE_CRESTMONT },		/* Sierra Forest */
	{ 0xb6, HWPMC_CORE_CRESTMONT },		/* Grand Ridge */
	{ 0xdd, HWPMC_CORE_DARKMONT },		/* Clearwater Forest */
};

u32 hwpmc_core_intel(u32 model)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cpu_models); i++)
		if (cpu_models[i].model == model)
			return cpu_models[i].cputype;
	return HWPMC_CPU_GENERIC;
}

u32 hwpmc_cputype_intel(u32 model)
{
	u32 core = hwpmc_core_intel(model);

	return core > HWPMC_CPU_GENERIC ? HWPMC_CPU_GENERIC : core;
}
