/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ibs.h - AMD's instruction-based sampling: registers, their bits, the state of one vCPU, and
 * the pure part (ibs_model.c, ibs_data.c), which is also compiled into the unit tests of the
 * host. ibs.c has the registers and the interrupt, ibs_op.c and ibs_fetch.c the two samplers.
 */
#ifndef VPMU_IBS_H
#define VPMU_IBS_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu_guest.h"

/* Registers, as distances from the first. */
#define IBS_FIRST	0xc0011030
enum {
	IBS_FETCH_CTL, IBS_FETCH_LIN, IBS_FETCH_PHYS, IBS_OP_CTL, IBS_OP_RIP, IBS_OP_DATA,
	IBS_OP_DATA2, IBS_OP_DATA3, IBS_DC_LIN, IBS_DC_PHYS, IBS_CTL, IBS_TARGET,
	IBS_FETCH_EXTD, IBS_OP_DATA4, IBS_OP_CTL2, IBS_FETCH_CTL2, IBS_REGS,
};

/* CPUID 0x8000001b. */
#define CAP_VALID	(1u << 0)
#define CAP_FETCH	(1u << 1)
#define CAP_OP		(1u << 2)
#define CAP_CUR		(1u << 3)	/* the op's count can be read and written */
#define CAP_CNT_CTL	(1u << 4)	/* it can count dispatched ops */
#define CAP_TARGET	(1u << 5)
#define CAP_EXT		(1u << 6)	/* 27 bits, otherwise 20 */
#define CAP_RIP_INVALID	(1u << 7)
#define CAP_EXTD	(1u << 9)
#define CAP_DATA4	(1u << 10)
#define CAP_ZEN4	(1u << 11)	/* L3MissOnly, five bits of data source */
#define CAP_LDLAT	(1u << 12)
#define CAP_DIS		(1u << 13)	/* second control registers, with a bit that disables */
#define CAP_FETCHLAT	(1u << 14)
#define CAP_BIT63	(1u << 15)	/* filters of the address's mode */
#define CAP_STREAM	(1u << 16)

#define OP_EN		(1ULL << 17)
#define OP_VAL		(1ULL << 18)
#define OP_CNT_CTL	(1ULL << 19)
#define OP_L3_ONLY	(1ULL << 16)
#define OP_MAX		0xffffULL
#define OP_MAX_EXT	(0x7fULL << 20)
#define OP_CUR_SHIFT	32
#define OP_LAT_SHIFT	59
#define OP_LAT		(0xfULL << OP_LAT_SHIFT)
#define OP_LAT_EN	(1ULL << 63)
#define OP_RANDOM	0x7fULL		/* bits of the count after an overflow */

#define FETCH_MAX	0xffffULL
#define FETCH_CUR_SHIFT	16
#define FETCH_LAT_SHIFT	32
#define FETCH_EN	(1ULL << 48)
#define FETCH_VAL	(1ULL << 49)
#define FETCH_COMP	(1ULL << 50)
#define FETCH_IC_MISS	(1ULL << 51)
#define FETCH_PHYS_OK	(1ULL << 52)
#define FETCH_L1_TLB	(1ULL << 55)
#define FETCH_L2_TLB	(1ULL << 56)
#define FETCH_RAND	(1ULL << 57)
#define FETCH_L2_MISS	(1ULL << 58)
#define FETCH_L3_ONLY	(1ULL << 59)
#define FETCH_L3_MISS	(1ULL << 61)
/* What a sample leaves in the register; a write clears it. */
#define FETCH_RESULT	(0xffffULL << FETCH_LAT_SHIFT | FETCH_COMP | FETCH_IC_MISS | FETCH_PHYS_OK | \
			 3ULL << 53 | FETCH_L1_TLB | FETCH_L2_TLB | FETCH_L2_MISS | 1ULL << 60 | \
			 FETCH_L3_MISS)

/* Of both second control registers; then of each. */
#define CTL2_DIS	(1ULL << 0)
#define OP2_NO_USER	(1ULL << 1)
#define OP2_NO_KERNEL	(1ULL << 2)
#define OP2_STREAM	(1ULL << 3)	/* streaming stores only */
#define FETCH2_LAT_SHIFT	1
#define FETCH2_LAT	(0xfULL << FETCH2_LAT_SHIFT)	/* 128 cycles each */
#define FETCH2_NO_KERNEL	(1ULL << 5)
#define FETCH2_NO_USER	(1ULL << 6)

#define DATA_RETURN	(1ULL << 34)
#define DATA_TAKEN	(1ULL << 35)
#define DATA_MISPRED	(1ULL << 36)
#define DATA_BRANCH	(1ULL << 37)
#define DATA_NO_RIP	(1ULL << 38)
#define DATA_MICROCODE	(1ULL << 40)

#define DATA2_REMOTE	(1ULL << 4)
#define DATA2_HIT_STATE	(1ULL << 5)
#define DATA2_STREAM	(1ULL << 8)
#define DATA2_WRONG	0xf7ULL		/* KNOB_IBS_DATA2 */

#define DATA3_LOAD	(1ULL << 0)
#define DATA3_STORE	(1ULL << 1)
#define DATA3_L1_TLB	(1ULL << 2)
#define DATA3_L2_TLB	(1ULL << 3)
#define DATA3_MISS	(1ULL << 7)
#define DATA3_MISALIGN	(1ULL << 8)
#define DATA3_UC	(1ULL << 14)
#define DATA3_NO_MAB	(1ULL << 16)
#define DATA3_LIN_OK	(1ULL << 17)
#define DATA3_PHYS_OK	(1ULL << 18)
#define DATA3_L2_MISS	(1ULL << 20)
#define DATA3_WIDTH_SHIFT	22
#define DATA3_OPEN_SHIFT	26
#define DATA3_LAT_SHIFT	32
#define DATA3_TLB_SHIFT	48

/* An op that was tagged: what it did. */
struct ibs_facts {
	bool load, store, has_lin, has_phys, io;
	bool branch, taken, ret, microcode;
	unsigned int width;		/* bytes: 1 << width */
	uint64_t lin, phys, target;
};

/* What the registers have of it. */
struct ibs_words {
	uint64_t data, data2, data3;
	unsigned int latency;		/* of a load that missed L1 */
	bool l3_miss;
};

/* ibs_model.c - what each model has. Pure. */
uint32_t ibs_model_caps(int family, int model);
uint64_t ibs_model_op_bits(uint32_t caps);
uint64_t ibs_model_fetch_bits(uint32_t caps);
uint64_t ibs_model_ctl2_bits(uint32_t caps, unsigned int reg);
bool ibs_model_has(uint32_t caps, unsigned int reg);
uint64_t ibs_model_op_max(uint32_t caps, uint64_t ctl);
uint64_t ibs_model_op_mask(uint32_t caps);

/* ibs_data.c - the table that sources, latencies and misses come from. Pure. */
uint64_t ibs_dice(uint64_t seed, uint64_t n);
void ibs_op_words(const struct ibs_facts *f, uint64_t dice, uint32_t caps, bool zen,
		  struct ibs_words *w);
bool ibs_op_passes(uint64_t ctl, const struct ibs_words *w, uint32_t caps, bool both);
bool ibs_op_passes2(uint64_t ctl2, const struct ibs_words *w, uint64_t rip);
uint64_t ibs_fetch_result(uint64_t dice, uint32_t caps, uint64_t *extd);
bool ibs_fetch_passes(uint64_t ctl, uint64_t result);
bool ibs_fetch_passes2(uint64_t ctl2, uint64_t result, uint64_t lin);

/* The state of one vCPU. Counts are totals of retired instructions, or of fetches. */
struct ibs_op {
	uint64_t from;			/* the count was 0 at this total; */
	uint64_t cur;			/* the count, while it has stopped */
	bool tagged;
	const void *slot;		/* the tagged op, and which total it retires with; */
	uint64_t at, rip;
	unsigned int flags;		/* of its slot */
	uint64_t after;			/* end of it, */
	uint64_t left_for;		/* and where it went, if an interrupt came then; or 0 */
	struct ibs_facts facts;
	uint64_t n;			/* ops tagged, for the table */
};

struct ibs_fetch {
	uint64_t from, cur;
	bool tagged;
	uint64_t lin;
	uint64_t n;
};

struct ibs {
	uint64_t reg[IBS_REGS];
	struct ibs_op op;
	struct ibs_fetch fetch;
	uint64_t late_due;		/* KNOB_IBS_LATE: an NMI at this total; 0: none */
	unsigned int late_reg;		/* of this sampler */
	uint64_t stuck_due;		/* KNOB_IBS_STUCK, likewise */
	uint64_t seen[VPMU_IBS_ITEMS];	/* what the guest can ask; see vpmu_guest.h */
};

#endif
