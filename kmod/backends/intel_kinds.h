/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * intel_kinds.h - machines with cores of several kinds: one description of the PMU for each
 * kind, and requests that are for all or for some of them. Pure.
 */
#ifndef HWPMC_INTEL_KINDS_H
#define HWPMC_INTEL_KINDS_H

#include "intel_encode.h"

#define HWPMC_KINDS_MAX	3

struct hwpmc_intel_kind {
	u32 kind;		/* HWPMC_KIND_*, 0: no more */
	u32 leaf_1a;		/* EAX of CPUID leaf 0x1A: type and native model */
	u32 core;		/* whose rules hold: a model, or HWPMC_CORE_* */
	u32 gp, fixed;		/* counters, bit per number */
	u32 missing;		/* architectural events, as EBX of leaf 0xA */
	u64 more_bits;		/* of a request, beside those of all */
};

struct hwpmc_intel_kinds {
	u32 model;
	struct hwpmc_intel_kind kind[HWPMC_KINDS_MAX];
};

/* What one CPU says of itself. */
struct hwpmc_intel_cpuid {
	u32 leaf_1a;
	bool has_23;
	u32 gp, fixed;		/* leaf 0x23.1 EAX, EBX */
	u32 bits;		/* leaf 0x23.0 EBX */
	u32 reload_gp, reload_fixed;	/* leaf 0x23.2 EAX, EBX */
	u32 pebs_gp, pebs_fixed;	/* leaf 0x23.5 EAX, ECX */
};

/* NULL: the model is not in the table. */
const struct hwpmc_intel_kinds *hwpmc_intel_kinds_of(u32 model);

/* Whose rules hold for a kind of a model; HWPMC_CPU_GENERIC: it has no such kind. */
u32 hwpmc_intel_core_of(u32 model, u32 kind);

/* *pmu describes what all CPUs have in common; then all that any has, and kinds[] each. */
void hwpmc_intel_describe_kinds(struct hwpmc_intel_pmu *pmu,
				struct hwpmc_intel_pmu kinds[HWPMC_KINDS_MAX],
				const struct hwpmc_intel_kinds *m);

/* The description of a CPU; NULL: of no kind that the table has, or with less. */
const struct hwpmc_intel_pmu *hwpmc_intel_kind_of(const struct hwpmc_intel_pmu *pmu,
						  const struct hwpmc_intel_cpuid *id);

/* HWPMC_KIND_* of the machine; 0: all CPUs are alike. */
u32 hwpmc_intel_all_kinds(const struct hwpmc_intel_pmu *pmu);

typedef int (*hwpmc_intel_encoder)(const struct hwpmc_intel_pmu *pmu,
				   const struct hwpmc_class *cls,
				   const struct hwpmc_request *req,
				   struct hwpmc_encoding *enc);

/* encode() by one() for each kind that the request is for: the rows that all of them have.
 * The select is the same on all. */
int hwpmc_intel_encode_kinds(const struct hwpmc_intel_pmu *pmu,
			     const struct hwpmc_class *cls,
			     const struct hwpmc_request *req, hwpmc_intel_encoder one,
			     struct hwpmc_encoding *enc);

#endif /* HWPMC_INTEL_KINDS_H */
