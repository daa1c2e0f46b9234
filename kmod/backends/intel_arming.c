// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_arming.c - how near to its overflow a counter may be set: models that overflow too
 * late, or not at all, if fewer events are left. Pure.
 */
#include "cputype.h"
#include "intel_encode.h"
#include "intel_regs.h"

#define INST_RETIRED_ALL	0x01c0

struct hwpmc_arming hwpmc_intel_arming(u32 cputype, u64 config)
{
	bool all = (config & INTEL_SEL_CODE) == INST_RETIRED_ALL;

	switch (cputype) {
	case HWPMC_CPU_COREI7:
	case HWPMC_CPU_NEHALEM_EX:
	case HWPMC_CPU_WESTMERE:
	case HWPMC_CPU_WESTMERE_EX:
		return (struct hwpmc_arming){ .least = 32 };
	case HWPMC_CPU_HASWELL:
	case HWPMC_CPU_HASWELL_XEON:
	case HWPMC_CPU_ALDERLAKE:
	case HWPMC_CPU_SAPPHIRE_RAPIDS:
	case HWPMC_CPU_EMERALD_RAPIDS:
	case HWPMC_CPU_GRANITE_RAPIDS:
	case HWPMC_CORE_LION_COVE:
	case HWPMC_CORE_COUGAR_COVE:
		return (struct hwpmc_arming){ .least = all ? 128 : 32 };
	case HWPMC_CPU_BROADWELL:
	case HWPMC_CPU_BROADWELL_XEON:
		if (all)	/* errata BDM11 and BDM57 */
			return (struct hwpmc_arming){ .least = 128, .unit = 64 };
		break;
	}
	return (struct hwpmc_arming){};
}
