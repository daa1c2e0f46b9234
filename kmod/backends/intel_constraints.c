// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_constraints.c - which programmable counters can count which event, and which
 * events need further registers, and their bits, by model. From Intel's event lists and
 * manuals; an event without a rule can be counted on any counter, on a model without an
 * entry only the architectural events can be counted. Where Intel's lists give an event
 * four counters with one modifier and eight with another, it has four. Pure.
 */
#include "intel_encode.h"
#include "intel_regs.h"
#include "cputype.h"

/* The first rule that matches an event applies. */
struct rule {
	u8 first, last;		/* event codes */
	u32 bits, value;	/* only where (select & bits) == value */
	u16 rows;		/* bit per counter */
};

#define UBITS(e, u, r)		{ .first = e, .last = e, .bits = (u) << 8, \
				  .value = (u) << 8, .rows = r }
#define EVENTS(a, b, r)		{ .first = a, .last = b, .rows = r }
#define EVENT(e, r)		EVENTS(e, e, r)
#define UMASK(e, u, r)		{ .first = e, .last = e, .bits = INTEL_SEL_UMASK, \
				  .value = (u) << 8, .rows = r }
/* Where the modifiers, or inverted alone, make another event of it. */
#define INVERTED(e, u, r)	{ .first = e, .last = e, \
				  .bits = INTEL_SEL_UMASK | INTEL_SEL_INV, \
				  .value = (u) << 8 | INTEL_SEL_INV, .rows = r }
#define FIXED_ONLY(e, u)	{ .first = e, .last = e, \
				  .bits = INTEL_SEL_UMASK | INTEL_SEL_MODIFIERS, \
				  .value = (u) << 8, .rows = 0 }

static const struct rule core_rules[] = {
	EVENTS(0x11, 0x13, 0x2),	/* FP_ASSIST, MUL, DIV */
	EVENT(0x14, 0x1),		/* CYCLES_DIV_BUSY */
	EVENT(0x19, 0x2),		/* DELAYED_BYPASS */
	EVENT(0xc1, 0x1),		/* FP_COMP_INSTR_RET */
};

static const struct rule core2_rules[] = {
	EVENT(0x10, 0x1),		/* FP_COMP_OPS_EXE */
	EVENTS(0x11, 0x13, 0x2),	/* FP_ASSIST, MUL, DIV */
	EVENT(0x14, 0x1),		/* CYCLES_DIV_BUSY */
	EVENT(0x18, 0x1),		/* IDLE_DURING_DIV */
	EVENT(0x19, 0x2),		/* DELAYED_BYPASS */
	EVENT(0xa1, 0x1),		/* RS_UOPS_DISPATCHED by port */
	EVENT(0xb3, 0x1),
	EVENT(0xc1, 0x1),		/* X87_OPS_RETIRED */
	EVENT(0xc9, 0x1),		/* ITLB_MISS_RETIRED */
	EVENT(0xcb, 0x1),		/* MEM_LOAD_RETIRED */
};

static const struct rule bonnell_rules[] = {
	UMASK(0x0a, 0x00, 0),		/* listed for the fixed counters alone */
};

static const struct rule nehalem_rules[] = {
	UMASK(0x0b, 0x10, 0x8),		/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD */
	EVENTS(0x40, 0x43, 0x3),	/* L1D_CACHE_LD, _ST, _LOCK, L1D_ALL_REF */
	EVENT(0x48, 0x3),		/* L1D_PEND_MISS */
	EVENT(0x4c, 0x3),		/* LOAD_HIT_PRE */
	EVENT(0x4e, 0x3),		/* L1D_PREFETCH */
	EVENTS(0x51, 0x53, 0x3),	/* L1D, L1D_CACHE_PREFETCH_LOCK_FB_HIT */
	EVENT(0x63, 0x3),		/* CACHE_LOCK_CYCLES */
	EVENT(0xb7, 0x4),		/* OFFCORE_RESPONSE */
};

static const struct rule westmere_rules[] = {
	UMASK(0x0b, 0x10, 0x8),		/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD */
	EVENT(0x4c, 0x3),		/* LOAD_HIT_PRE */
	EVENT(0x4e, 0x3),		/* L1D_PREFETCH */
	EVENTS(0x51, 0x52, 0x3),	/* L1D, L1D_CACHE_PREFETCH_LOCK_FB_HIT */
	EVENT(0x60, 0x1),		/* OFFCORE_REQUESTS_OUTSTANDING */
	EVENT(0x63, 0x3),		/* CACHE_LOCK_CYCLES */
	EVENT(0xb3, 0x1),		/* SNOOPQ_REQUESTS_OUTSTANDING */
};

static const struct rule westmere_ex_rules[] = {
	UMASK(0x0b, 0x10, 0x8),		/* MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD */
	EVENT(0x4c, 0x3),		/* LOAD_HIT_PRE */
	EVENT(0x4e, 0x3),		/* L1D_PREFETCH */
	EVENTS(0x51, 0x52, 0x3),	/* L1D, L1D_CACHE_PREFETCH_LOCK_FB_HIT */
	EVENT(0x60, 0x1),		/* OFFCORE_REQUESTS_OUTSTANDING */
	EVENT(0x63, 0x3),		/* CACHE_LOCK_CYCLES */
	EVENT(0xb3, 0x1),		/* SNOOPQ_REQUESTS_OUTSTANDING */
	EVENT(0xb7, 0x4),		/* OFFCORE_RESPONSE */
};

static const struct rule sandybridge_rules[] = {
	/* With hyperthreading off there are eight counters; these events have four of them. */
	UMASK(0x0e, 0x01, 0xf),		/* UOPS_ISSUED.ANY */
	EVENTS(0xb7, 0xbb, 0xf),	/* OFFCORE_RESPONSE */
	UMASK(0xc2, 0x01, 0xf),		/* UOPS_RETIRED.ALL */
	UMASK(0xc4, 0x04, 0xf),		/* BR_INST_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xc5, 0x04, 0xf),		/* BR_MISP_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xca, 0x1e, 0xf),		/* FP_ASSIST.ANY */
	UMASK(0x48, 0x01, 0x4),		/* L1D_PEND_MISS.PENDING */
	UMASK(0x79, 0x02, 0xf),		/* IDQ.EMPTY */
	UMASK(0x9c, 0x01, 0xf),		/* IDQ_UOPS_NOT_DELIVERED.CORE */
	UMASK(0xa3, 0x02, 0x4),		/* CYCLE_ACTIVITY.CYCLES_L1D_PENDING */
	UMASK(0xa3, 0x06, 0x4),		/* CYCLE_ACTIVITY.STALLS_L1D_PENDING */
	EVENT(0xa3, 0xf),
	UMASK(0xc0, 0x01, 0x2),		/* INST_RETIRED.PREC_DIST */
	EVENT(0xcd, 0x8),		/* MEM_TRANS_RETIRED */
	EVENTS(0xd0, 0xd4, 0xf),	/* MEM_*_RETIRED */
};

static const struct rule ivybridge_rules[] = {
	/* With hyperthreading off there are eight counters; these events have four of them. */
	UMASK(0x0e, 0x01, 0xf),		/* UOPS_ISSUED.ANY */
	EVENTS(0xb7, 0xbb, 0xf),	/* OFFCORE_RESPONSE */
	UMASK(0xc2, 0x01, 0xf),		/* UOPS_RETIRED.ALL */
	UMASK(0xc4, 0x04, 0xf),		/* BR_INST_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xc5, 0x04, 0xf),		/* BR_MISP_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xca, 0x1e, 0xf),		/* FP_ASSIST.ANY */
	UMASK(0x48, 0x01, 0x4),		/* L1D_PEND_MISS.PENDING */
	UMASK(0x79, 0x02, 0xf),		/* IDQ.EMPTY */
	UMASK(0x9c, 0x01, 0xf),		/* IDQ_UOPS_NOT_DELIVERED.CORE */
	UBITS(0xa3, 0x08, 0x4),		/* CYCLE_ACTIVITY.*_L1D_PENDING */
	EVENT(0xa3, 0xf),
	UMASK(0xb1, 0x01, 0xf),		/* UOPS_DISPATCHED.THREAD */
	UMASK(0xc0, 0x01, 0x2),		/* INST_RETIRED.PREC_DIST */
	EVENT(0xcd, 0x8),		/* MEM_TRANS_RETIRED */
	EVENTS(0xd0, 0xd3, 0xf),	/* MEM_*_RETIRED */
};

static const struct rule haswell_rules[] = {	/* and Broadwell */
	/* With hyperthreading off there are eight counters; these events have four of them. */
	UMASK(0x0e, 0x01, 0xf),		/* UOPS_ISSUED.ANY */
	EVENTS(0xb7, 0xbb, 0xf),	/* OFFCORE_RESPONSE */
	UMASK(0xc2, 0x01, 0xf),		/* UOPS_RETIRED.ALL */
	UMASK(0xc4, 0x04, 0xf),		/* BR_INST_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xc5, 0x04, 0xf),		/* BR_MISP_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xca, 0x1e, 0xf),		/* FP_ASSIST.ANY */
	UMASK(0x48, 0x01, 0x4),		/* L1D_PEND_MISS.PENDING */
	UMASK(0x79, 0x02, 0xf),		/* IDQ.EMPTY */
	UMASK(0x9c, 0x01, 0xf),		/* IDQ_UOPS_NOT_DELIVERED.CORE */
	UMASK(0xa0, 0x03, 0xf),		/* CYCLE_ACTIVITY of Broadwell's list */
	UMASK(0xb1, 0x01, 0xf),		/* UOPS_EXECUTED.THREAD */
	EVENT(0xbc, 0xf),		/* PAGE_WALKER_LOADS */
	EVENT(0xc7, 0xf),		/* FP_ARITH_INST_RETIRED */
	EVENT(0xc9, 0xf),		/* RTM_RETIRED */
	UBITS(0xa3, 0x08, 0x4),		/* CYCLE_ACTIVITY.*_L1D_PENDING */
	EVENT(0xa3, 0xf),
	UMASK(0xc0, 0x01, 0x2),		/* INST_RETIRED.PREC_DIST */
	EVENT(0xcd, 0x8),		/* MEM_TRANS_RETIRED */
	EVENTS(0xd0, 0xd3, 0xf),	/* MEM_*_RETIRED */
};

static const struct rule skylake_rules[] = {
	UMASK(0xa3, 0x14, 0xf),		/* CYCLE_ACTIVITY.STALLS_MEM_ANY */
	EVENTS(0xb7, 0xbb, 0xf),	/* OFFCORE_RESPONSE */
	INVERTED(0xc0, 0x01, 0xd),	/* INST_RETIRED.TOTAL_CYCLES_PS */
	UMASK(0xc0, 0x01, 0x2),		/* INST_RETIRED.PREC_DIST */
	UMASK(0xc4, 0x04, 0xf),		/* BR_INST_RETIRED.ALL_BRANCHES, precise */
	UMASK(0xc5, 0x04, 0xf),		/* BR_MISP_RETIRED.ALL_BRANCHES, precise */
	EVENT(0xc6, 0xf),		/* FRONTEND_RETIRED */
	EVENT(0xcd, 0xf),		/* MEM_TRANS_RETIRED */
	EVENTS(0xd0, 0xd4, 0xf),	/* MEM_*_RETIRED */
};

static const struct rule icelake_rules[] = {
	EVENTS(0x03, 0x0a, 0xf),
	EVENTS(0x1f, 0x28, 0xf),
	EVENT(0x32, 0xf),		/* SW_PREFETCH_ACCESS */
	EVENTS(0x48, 0x56, 0xf),
	EVENTS(0x60, 0x8b, 0xf),
	UMASK(0xa3, 0x04, 0xff),	/* CYCLE_ACTIVITY.STALLS_TOTAL */
	UMASK(0xa3, 0x10, 0xff),	/* CYCLE_ACTIVITY.CYCLES_MEM_ANY */
	UMASK(0xa3, 0x14, 0xff),	/* CYCLE_ACTIVITY.STALLS_MEM_ANY */
	EVENT(0xa3, 0xf),
	EVENTS(0xa8, 0xb0, 0xf),
	EVENTS(0xb7, 0xbd, 0xf),
	FIXED_ONLY(0xc0, 0x01),		/* INST_RETIRED.PREC_DIST */
	EVENTS(0xd0, 0xe6, 0xf),
	EVENT(0xef, 0xf),
	EVENTS(0xf0, 0xf4, 0xf),
};

static const struct rule sapphirerapids_rules[] = {
	EVENT(0x2e, 0xff),		/* LONGEST_LAT_CACHE */
	EVENT(0x3c, 0xff),		/* CPU_CLK_UNHALTED */
	EVENTS(0x01, 0x8f, 0xf),	/* first four counters only */
	UMASK(0xa3, 0x01, 0xf),		/* CYCLE_ACTIVITY.CYCLES_L2_MISS */
	UMASK(0xa3, 0x02, 0xf),		/* CYCLE_ACTIVITY.CYCLES_L3_MISS */
	UMASK(0xa3, 0x05, 0xf),		/* CYCLE_ACTIVITY.STALLS_L2_MISS */
	UMASK(0xa3, 0x06, 0xf),		/* CYCLE_ACTIVITY.STALLS_L3_MISS */
	UMASK(0xa3, 0x08, 0xf),		/* CYCLE_ACTIVITY.CYCLES_L1D_MISS */
	UMASK(0xa3, 0x0c, 0xf),		/* CYCLE_ACTIVITY.STALLS_L1D_MISS */
	UMASK(0xa4, 0x04, 0x1),		/* TOPDOWN.BAD_SPEC_SLOTS */
	UMASK(0xa4, 0x08, 0x1),		/* TOPDOWN.BR_MISPREDICT_SLOTS */
	FIXED_ONLY(0xc0, 0x01),		/* INST_RETIRED.PREC_DIST */
	UMASK(0xcd, 0x01, 0xfe),	/* MEM_TRANS_RETIRED.LOAD_LATENCY */
	UMASK(0xcd, 0x02, 0x1),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	EVENT(0xce, 0x1),		/* AMX_OPS_RETIRED */
	EVENTS(0xd0, 0xdf, 0xf),	/* MEM_*_RETIRED */
};

static const struct rule gracemont_rules[] = {
	UMASK(0xd0, 0x05, 0x3),		/* MEM_UOPS_RETIRED.LOAD_LATENCY */
};

static const struct rule lion_cove_rules[] = {
	EVENT(0x20, 0xf),		/* OFFCORE_REQUESTS_OUTSTANDING */
	UMASK(0x48, 0x01, 0x4),		/* L1D_PENDING.LOAD */
	UMASK(0x75, 0x01, 0x4),
	UMASK(0xa3, 0x08, 0x4),		/* CYCLE_ACTIVITY.CYCLES_L1D_MISS */
	UMASK(0xa3, 0x0c, 0x4),		/* CYCLE_ACTIVITY.STALLS_L1D_MISS */
	UMASK(0xa4, 0x04, 0x1),		/* TOPDOWN.BAD_SPEC_SLOTS */
	UMASK(0xa4, 0x08, 0x1),		/* TOPDOWN.BR_MISPREDICT_SLOTS */
	UMASK(0xa4, 0x10, 0x8),		/* TOPDOWN.MEMORY_BOUND_SLOTS */
	UMASK(0xb1, 0x01, 0x8),		/* UOPS_EXECUTED */
	FIXED_ONLY(0xc0, 0x01),		/* INST_RETIRED.PREC_DIST */
	UMASK(0xcd, 0x01, 0x3fc),	/* MEM_TRANS_RETIRED.LOAD_LATENCY */
	UMASK(0xcd, 0x02, 0x3),		/* MEM_TRANS_RETIRED.STORE_SAMPLE */
	UMASK(0xd0, 0x87, 0x3ff),	/* MEM_INST_RETIRED.ANY */
	EVENTS(0xd0, 0xdf, 0xf),	/* MEM_*_RETIRED */
};

static const struct hwpmc_intel_extra nehalem_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0xffff },
	{ 0x100b, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra westmere_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0xffff },
	{ 0x01bb, HWPMC_INTEL_RSP1, 0xffff },
	{ 0x100b, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra sandybridge_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x3f807f8fffULL },
	{ 0x01bb, HWPMC_INTEL_RSP1, 0x3f807f8fffULL },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra haswell_extra[] = {	/* and Xeons before it */
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x3fffff8fffULL },
	{ 0x01bb, HWPMC_INTEL_RSP1, 0x3fffff8fffULL },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra skylake_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x3fffff8fffULL },
	{ 0x01bb, HWPMC_INTEL_RSP1, 0x3fffff8fffULL },
	{ 0x01c6, HWPMC_INTEL_FRONTEND, 0x7fff17 },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra icelake_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x3fffffbfffULL },
	{ 0x01bb, HWPMC_INTEL_RSP1, 0x3fffffbfffULL },
	{ 0x01c6, HWPMC_INTEL_FRONTEND, 0x7fff17 },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra sapphirerapids_extra[] = {
	{ 0x012a, HWPMC_INTEL_RSP0, 0x3fffffffffULL },
	{ 0x012b, HWPMC_INTEL_RSP1, 0x3fffffffffULL },
	{ 0x01c6, HWPMC_INTEL_FRONTEND, 0x7fff1f },
	{ 0x40ad, HWPMC_INTEL_FRONTEND, 0x7 },
	{ 0x04c2, HWPMC_INTEL_FRONTEND, 0x8 },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra graniterapids_extra[] = {
	{ 0x012a, HWPMC_INTEL_RSP0, 0x3fffffffffULL },
	{ 0x012b, HWPMC_INTEL_RSP1, 0x3fffffffffULL },
	{ 0x02c6, HWPMC_INTEL_FRONTEND, 0x9 },
	{ 0x03c6, HWPMC_INTEL_FRONTEND, 0x7fff1f },
	{ 0x40ad, HWPMC_INTEL_FRONTEND, 0x7 },
	{ 0x04c2, HWPMC_INTEL_FRONTEND, 0x8 },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra silvermont_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x768005ffffULL },
	{ 0x02b7, HWPMC_INTEL_RSP1, 0x368005ffffULL },
	{ }
};

static const struct hwpmc_intel_extra goldmont_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x760005ffbfULL },
	{ 0x02b7, HWPMC_INTEL_RSP1, 0x360005ffbfULL },
	{ }
};

static const struct hwpmc_intel_extra tremont_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x800ff0ffffff9fffULL },
	{ 0x02b7, HWPMC_INTEL_RSP1, 0xff0ffffff9fffULL },
	{ }
};

static const struct hwpmc_intel_extra gracemont_extra[] = {
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x3fffffffffULL },
	{ 0x02b7, HWPMC_INTEL_RSP1, 0x3fffffffffULL },
	{ 0x05d0, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra crestmont_extra[] = {	/* Skymont, Darkmont */
	{ 0x01b7, HWPMC_INTEL_RSP0, 0x800ff3ffffffffffULL },
	{ 0x02b7, HWPMC_INTEL_RSP1, 0xff3ffffffffffULL },
	{ 0x0127, HWPMC_INTEL_SNOOP0, ~0ULL },
	{ 0x0227, HWPMC_INTEL_SNOOP1, ~0ULL },
	{ 0x05d0, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

static const struct hwpmc_intel_extra lion_cove_extra[] = {
	{ 0x012a, HWPMC_INTEL_RSP0, 0xfffffffffffULL },
	{ 0x012b, HWPMC_INTEL_RSP1, 0xfffffffffffULL },
	{ 0x02c6, HWPMC_INTEL_FRONTEND, 0x9 },
	{ 0x03c6, HWPMC_INTEL_FRONTEND, 0x7fff1f },
	{ 0x40ad, HWPMC_INTEL_FRONTEND, 0xf },
	{ 0x04c2, HWPMC_INTEL_FRONTEND, 0x8 },
	{ 0x01cd, HWPMC_INTEL_LATENCY, 0 },
	{ }
};

struct model {
	u16 cputype;
	u16 nrules;
	const struct rule *rules;
	const struct hwpmc_intel_extra *extra;
};

#define MODEL(c, r, o)	{ HWPMC_CPU_##c, ARRAY_SIZE(r), r, o }
#define KIND(c, r, o)	{ HWPMC_CORE_##c, ARRAY_SIZE(r), r, o }
#define ATOM(c, o)	{ HWPMC_CPU_##c, 0, NULL, o }

static const struct model rule_models[] = {
	MODEL(CORE, core_rules, NULL),
	MODEL(CORE2, core2_rules, NULL),
	MODEL(CORE2EXTREME, core2_rules, NULL),
	MODEL(COREI7, nehalem_rules, nehalem_extra),
	MODEL(NEHALEM_EX, nehalem_rules, nehalem_extra),
	MODEL(WESTMERE, westmere_rules, westmere_extra),
	MODEL(WESTMERE_EX, westmere_ex_rules, westmere_extra),
	MODEL(SANDYBRIDGE, sandybridge_rules, sandybridge_extra),
	MODEL(SANDYBRIDGE_XEON, sandybridge_rules, haswell_extra),
	MODEL(IVYBRIDGE, ivybridge_rules, sandybridge_extra),
	MODEL(IVYBRIDGE_XEON, ivybridge_rules, haswell_extra),
	MODEL(HASWELL, haswell_rules, haswell_extra),
	MODEL(HASWELL_XEON, haswell_rules, haswell_extra),
	MODEL(BROADWELL, haswell_rules, haswell_extra),
	MODEL(BROADWELL_XEON, haswell_rules, haswell_extra),
	MODEL(SKYLAKE, skylake_rules, skylake_extra),
	MODEL(SKYLAKE_XEON, skylake_rules, skylake_extra),
	MODEL(ICELAKE, icelake_rules, icelake_extra),
	MODEL(ICELAKE_XEON, icelake_rules, icelake_extra),
	MODEL(SAPPHIRE_RAPIDS, sapphirerapids_rules, sapphirerapids_extra),
	MODEL(EMERALD_RAPIDS, sapphirerapids_rules, sapphirerapids_extra),
	MODEL(GRANITE_RAPIDS, sapphirerapids_rules, graniterapids_extra),
	MODEL(ALDERLAKE, sapphirerapids_rules, sapphirerapids_extra),
	MODEL(ATOM, bonnell_rules, NULL),
	/* Any counter of these can count any event; only the registers differ. */
	ATOM(ATOM_SILVERMONT, silvermont_extra),
	ATOM(ATOM_GOLDMONT, goldmont_extra),
	ATOM(ATOM_GOLDMONT_P, goldmont_extra),
	ATOM(ATOM_TREMONT, tremont_extra),
	MODEL(ALDERLAKEN, gracemont_rules, gracemont_extra),
	KIND(CRESTMONT, gracemont_rules, crestmont_extra),
	KIND(LION_COVE, lion_cove_rules, lion_cove_extra),
	KIND(SKYMONT, gracemont_rules, crestmont_extra),
	KIND(COUGAR_COVE, lion_cove_rules, lion_cove_extra),
	{ HWPMC_CORE_DARKMONT, 0, NULL, crestmont_extra },
};

static const struct model *find_model(u32 cputype)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rule_models); i++)
		if (rule_models[i].cputype == cputype)
			return &rule_models[i];
	return NULL;
}

/* In the order of their bits in EBX of CPUID leaf 0xA. */
static const u16 architectural[] = {
	0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4,
};

int hwpmc_intel_architectural(u64 config)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(architectural); i++)
		if (architectural[i] == (config & INTEL_SEL_CODE))
			return i;
	return -1;
}

u64 hwpmc_intel_operations(u32 cputype)
{
	switch (cputype) {
	case HWPMC_CPU_COREI7:
	case HWPMC_CPU_NEHALEM_EX:
	case HWPMC_CPU_WESTMERE:
	case HWPMC_CPU_WESTMERE_EX:
	case HWPMC_CPU_SANDYBRIDGE:
	case HWPMC_CPU_SANDYBRIDGE_XEON:
	case HWPMC_CPU_IVYBRIDGE:
	case HWPMC_CPU_IVYBRIDGE_XEON:
	case HWPMC_CPU_HASWELL:
	case HWPMC_CPU_HASWELL_XEON:
	case HWPMC_CPU_BROADWELL:
	case HWPMC_CPU_BROADWELL_XEON:
		return 0x01c2;
	case HWPMC_CPU_SKYLAKE:
	case HWPMC_CPU_SKYLAKE_XEON:
	case HWPMC_CPU_ICELAKE:
	case HWPMC_CPU_ICELAKE_XEON:
	case HWPMC_CPU_SAPPHIRE_RAPIDS:
	case HWPMC_CPU_EMERALD_RAPIDS:
	case HWPMC_CPU_GRANITE_RAPIDS:
		return 0x02c2;		/* in slots */
	case HWPMC_CPU_ATOM_GOLDMONT:
	case HWPMC_CPU_ATOM_GOLDMONT_P:
	case HWPMC_CPU_ATOM_TREMONT:
	case HWPMC_CPU_ALDERLAKEN:
	case HWPMC_CORE_CRESTMONT:
		return 0x00c2;
	}
	return 0;
}

static bool intel_rule_matches(const struct rule *r, u64 config)
{
	u8 event = config & INTEL_SEL_EVENT;

	return event >= r->first && event <= r->last && (config & r->bits) == r->value;
}

u64 hwpmc_intel_event_rows(u32 cputype, u64 config)
{
	const struct model *m = find_model(cputype);
	unsigned int i;

	/* Event 0 names fixed counters: no programmable counter has it. */
	if (!(config & INTEL_SEL_EVENT))
		return 0;
	if (!m)
		return hwpmc_intel_architectural(config) < 0 ? 0 : ~0ULL;
	for (i = 0; i < m->nrules; i++)
		if (intel_rule_matches(&m->rules[i], config))
			return m->rules[i].rows;
	return ~0ULL;
}

const struct hwpmc_intel_extra *hwpmc_intel_extras(u32 cputype)
{
	const struct model *m = find_model(cputype);

	return m ? m->extra : NULL;
}
