/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ibs_encode.h - selects and control words of AMD's instruction-based sampling. Pure: the same
 * source runs in unit tests.
 */
#ifndef HWPMC_IBS_ENCODE_H
#define HWPMC_IBS_ENCODE_H

#include "backend.h"
#include "ibs_regs.h"

/* Rows, in FreeBSD's order. */
enum { HWPMC_IBS_ROW_FETCH, HWPMC_IBS_ROW_OP, HWPMC_IBS_ROWS };

/* Limits of a period that the core arms in one piece. Both rows take the counter of fetches for
 * the largest one; longer periods are armed in pieces. */
#define HWPMC_IBS_FETCH_LEAST	0x10
#define HWPMC_IBS_OP_LEAST	0x90
#define HWPMC_IBS_MAX_PERIOD	(0x100000 - 0x100)

struct hwpmc_ibs {
	u32 caps;		/* CPUID */
	unsigned int family, model;
	bool fetch_keeps;	/* a write does not reset the count of fetches: disable first */
	bool stop_in_two;	/* erratum 420: clear MaxCnt first, then disable */
	bool latency_needs_l3;	/* Zen 5: LdLat works only with L3MissOnly */
};

/* The quirks of a processor, by its family and model. */
void hwpmc_ibs_describe(struct hwpmc_ibs *ibs, u32 caps, unsigned int family,
			unsigned int model);

int hwpmc_ibs_encode(const struct hwpmc_ibs *ibs, const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc);

/*
 * The control word that arms a row for n events. `begun` (0 to AMD_IBS_OP_RANDOM) is added to the
 * count from which ops are counted: the hardware's random bits. Sums of periods stay right,
 * because the period is longer by the mean of those bits.
 */
u64 hwpmc_ibs_armed_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 sel, u64 n);
u64 hwpmc_ibs_rearmed_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 sel, u64 n,
			  u64 before);
/* Events that a control word without Val has left. all: what it was armed for. */
u64 hwpmc_ibs_left_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 ctl, u64 all);

#endif /* HWPMC_IBS_ENCODE_H */
