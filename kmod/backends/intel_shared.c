// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_shared.c - events that the threads of a core cannot count at the same time, or that
 * harm the other thread. Pure.
 */
#include "cputype.h"
#include "intel_encode.h"
#include "intel_regs.h"

bool hwpmc_intel_is_shared(u32 cputype, u64 config)
{
	switch (cputype) {
	/* One pair of off-core response registers a core. */
	case HWPMC_CPU_COREI7:
	case HWPMC_CPU_NEHALEM_EX:
	case HWPMC_CPU_WESTMERE:
	case HWPMC_CPU_WESTMERE_EX:
		config &= INTEL_SEL_CODE;
		return config == 0x01b7 || config == 0x01bb;
	/* Errata BJ122, BV98, HSD29: memory events corrupt the same counter of the other
	 * thread. */
	case HWPMC_CPU_SANDYBRIDGE:
	case HWPMC_CPU_SANDYBRIDGE_XEON:
	case HWPMC_CPU_IVYBRIDGE:
	case HWPMC_CPU_IVYBRIDGE_XEON:
	case HWPMC_CPU_HASWELL:
	case HWPMC_CPU_HASWELL_XEON:
		config &= INTEL_SEL_EVENT;
		return config >= 0xd0 && config <= 0xd3;
	}
	return false;
}
