/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * amd_encode.h - the description of an AMD core PMU, and the encoder of its PERF_CTL
 * values. Pure: amd.c fills in the description, the encoder only reads it.
 */
#ifndef HWPMC_AMD_ENCODE_H
#define HWPMC_AMD_ENCODE_H

#include "backend.h"

struct hwpmc_amd_pmu {
	bool freezes;		/* an overflow can freeze all counters (amd_side_regs.c) */
	u32 family;
	u32 version;		/* 0 legacy, 1 extended, 2 PerfMonV2 */
	u32 num;		/* counters */
	bool guests;		/* they can tell guests of this machine from itself */
};

/*
 * Fill *pmu from the family, the presence of extended counters, and EAX and EBX of
 * CPUID leaf 8000_0022 (0 where there is no such leaf). -ENODEV: no core counters
 * that the module knows; -EINVAL: *why says what is impossible.
 */
int hwpmc_amd_describe(struct hwpmc_amd_pmu *pmu, u32 family, bool extended,
		       u32 eax, u32 ebx, const char **why);

/* encode() of the class; cls->priv is the description. */
int hwpmc_amd_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc);

#endif /* HWPMC_AMD_ENCODE_H */
