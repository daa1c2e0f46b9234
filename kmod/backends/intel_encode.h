/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * intel_encode.h - the description of an Intel core PMU, and the encoders of selects.
 * Pure: intel_core.c reads CPUID and fills in the description, the encoders only read
 * it.
 */
#ifndef HWPMC_INTEL_ENCODE_H
#define HWPMC_INTEL_ENCODE_H

#include "backend.h"

#define HWPMC_INTEL_GP_MAX	16
#define HWPMC_INTEL_FIXED_MAX	16

/* Registers that events need beside their select. */
enum hwpmc_intel_reg {
	HWPMC_INTEL_RSP0, HWPMC_INTEL_RSP1,	/* off-core response */
	HWPMC_INTEL_FRONTEND,
	HWPMC_INTEL_SNOOP0, HWPMC_INTEL_SNOOP1,	/* snoop response */
	HWPMC_INTEL_REGS,
	HWPMC_INTEL_LATENCY = HWPMC_INTEL_REGS,	/* works with PEBS alone: never written */
};

/* An event that needs such a register, and the bits that are valid there. */
struct hwpmc_intel_extra {
	u16 code;		/* umask << 8 | event; 0: end of a list */
	u16 reg;		/* enum hwpmc_intel_reg */
	u64 bits;
};

struct hwpmc_intel_pmu {
	u32 version;		/* 1 to 6 */
	u32 gp_num, gp_width;	/* highest programmable counter + 1 */
	u32 gp_map;		/* bit per one that exists */
	u32 fixed_num;		/* highest fixed counter + 1 */
	u32 fixed_map;		/* bit per fixed counter that exists */
	u32 fixed_width;
	u32 missing;		/* bit per architectural event that does not exist */
	bool any_thread;	/* EVTSEL bit 21 may be set */
	bool full_write;	/* counters are also at INTEL_PMC_FULL() */
	u32 cputype;
	const struct hwpmc_intel_extra *extra;	/* list, or NULL */
	u32 filtered;		/* bit per enum hwpmc_intel_reg that faults */
	u32 withheld;		/* bit per programmable counter that microcode uses */
	u64 more_bits;		/* of a request, beside INTEL_SEL_REQUEST */
	bool hides;		/* a counter can be hidden from user mode's RDPMC */
	/* Version 6: bit per counter that others can reload, and that has PEBS. */
	u32 reload_gp, reload_fixed, pebs_gp, pebs_fixed;
	/* Where CPUs are of several kinds: each one's description. Above is then what any
	 * of them has, and .cputype is the machine's; in theirs, whose rules hold. */
	const struct hwpmc_intel_pmu *kinds;
	u32 nkinds;		/* 0: all CPUs are alike */
	u32 kind;		/* in a kind's: HWPMC_KIND_* */
	u32 leaf_1a;		/* and how its CPUs call themselves */
};

/*
 * Fill *pmu from CPUID leaf 0xA (EAX, EBX, ECX, EDX) and the model. -ENODEV: no PMU;
 * -EINVAL, -EOPNOTSUPP: there is one, and *why says why it cannot be used. guest: a
 * hypervisor is present, and the leaf is taken without corrections for errata.
 */
int hwpmc_intel_describe(struct hwpmc_intel_pmu *pmu, const u32 leaf[4],
			 u32 cputype, bool guest, const char **why);

struct hwpmc_intel_cpuid;

/* Version 6, all CPUs alike: the counters and bits that leaf 0x23 has. */
void hwpmc_intel_describe_more(struct hwpmc_intel_pmu *pmu,
			       const struct hwpmc_intel_cpuid *id);

/* The bit of an architectural event in EBX of the leaf; -1: the event is none. */
int hwpmc_intel_architectural(u64 config);

/* Operations retired, as an event of this model; 0: not known. */
u64 hwpmc_intel_operations(u32 cputype);

/* Rows of the programmable class that can count this event. */
u64 hwpmc_intel_event_rows(u32 cputype, u64 config);

/* What a counter of this event needs; classes IAP and IAF. */
struct hwpmc_arming hwpmc_intel_arming(u32 cputype, u64 config);

/* Does the event need the core for one thread: it corrupts the other thread's counters, or
 * the two share its register? */
bool hwpmc_intel_is_shared(u32 cputype, u64 config);

/* The events of a model that need further registers, or NULL. */
const struct hwpmc_intel_extra *hwpmc_intel_extras(u32 cputype);

/* What a select needs beside itself; NULL: nothing. */
const struct hwpmc_intel_extra *hwpmc_intel_extra(const struct hwpmc_intel_pmu *pmu,
						  u64 sel);

/* encode() of the two classes; cls->priv is the description. */
int hwpmc_iap_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc);
int hwpmc_iaf_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc);

#endif /* HWPMC_INTEL_ENCODE_H */
