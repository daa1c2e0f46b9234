// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * p4_encode.c - makes CCCR and ESCR values from requests, with the constraints of
 * Netburst's units. Process context; pure.
 *
 * Each ESCR selects one event, and two or three counters can listen to it. Here each
 * ESCR belongs to one counter, so that two rows never need different values in one
 * ESCR. Counter 1 is not used: by an erratum its CCCR is broken.
 */
#include "p4_encode.h"
#include "p4_regs.h"

enum unit {
	BSU, FSB, MOB, PMH, BPU, ITLB,		/* counters 0 to 3 */
	MS, TBPU, TC,				/* 4 to 7 */
	FIRM, SAAT, DAC,			/* 8 to 11 */
	CRU01, CRU23, ALF,			/* 12 to 17 */
	UNITS,
	NO_UNIT = UNITS,
};

/* The first ESCR of the pair, the second is the next register; and their rows. */
static const struct {
	u16 escr;
	u8 row[2];
} p4_units[UNITS] = {
	[BSU] = { 0x3a0, { 0, 3 } },
	[FSB] = { 0x3a2, { 0, 2 } },
	[MOB] = { 0x3aa, { 0, 3 } },
	[PMH] = { 0x3ac, { 0, 3 } },
	[BPU] = { 0x3b2, { 0, 3 } },
	[ITLB] = { 0x3b6, { 0, 3 } },
	[MS] = { 0x3c0, { 4, 6 } },
	[TBPU] = { 0x3c2, { 5, 7 } },
	[TC] = { 0x3c4, { 4, 6 } },
	[FIRM] = { 0x3a4, { 9, 11 } },
	[SAAT] = { 0x3ae, { 8, 10 } },
	[DAC] = { 0x3a8, { 8, 10 } },
	[CRU01] = { 0x3b8, { 12, 14 } },
	[CRU23] = { 0x3cc, { 13, 15 } },
	[ALF] = { 0x3ca, { 16, 17 } },
};

enum { BOTH, FIRST_ONLY, SECOND_ONLY };

/* In the order of perf's list, which numbers them. */
static const struct {
	u8 code;		/* ESCR's event */
	u8 select;		/* CCCR's ESCR select */
	u16 mask;		/* valid bits of ESCR's event mask */
	u8 unit;		/* NO_UNIT: counts what another register tags */
	u8 only;		/* of the pair of ESCRs */
} events[] = {
	{ 0x01, 1, 0x00ff, TC, BOTH },	/* TC_deliver_mode */
	{ 0x03, 0, 0x0001, BPU, BOTH },	/* BPU_fetch_request */
	{ 0x18, 3, 0x0007, ITLB, BOTH },	/* ITLB_reference */
	{ 0x02, 5, 0x000c, DAC, BOTH },	/* memory_cancel */
	{ 0x08, 2, 0x0003, SAAT, BOTH },	/* memory_complete */
	{ 0x04, 2, 0x0002, SAAT, BOTH },	/* load_port_replay */
	{ 0x05, 2, 0x0002, SAAT, BOTH },	/* store_port_replay */
	{ 0x03, 2, 0x003a, MOB, BOTH },	/* MOB_load_replay */
	{ 0x01, 4, 0x0003, PMH, BOTH },	/* page_walk_type */
	{ 0x0c, 7, 0x073f, BSU, BOTH },	/* BSQ_cache_reference */
	{ 0x03, 6, 0xefff, FSB, BOTH },	/* IOQ_allocation */
	{ 0x1a, 6, 0xefff, FSB, SECOND_ONLY },	/* IOQ_active_entries */
	{ 0x17, 6, 0x003f, FSB, BOTH },	/* FSB_data_activity */
	{ 0x05, 7, 0x3fef, BSU, FIRST_ONLY },	/* BSQ_allocation */
	{ 0x06, 7, 0x3fef, BSU, SECOND_ONLY },	/* BSQ_active_entries */
	{ 0x34, 1, 0x8000, FIRM, BOTH },	/* SSE_input_assist */
	{ 0x08, 1, 0x8000, FIRM, BOTH },	/* packed_SP_uop */
	{ 0x0c, 1, 0x8000, FIRM, BOTH },	/* packed_DP_uop */
	{ 0x0a, 1, 0x8000, FIRM, BOTH },	/* scalar_SP_uop */
	{ 0x0e, 1, 0x8000, FIRM, BOTH },	/* scalar_DP_uop */
	{ 0x02, 1, 0x8000, FIRM, BOTH },	/* 64bit_MMX_uop */
	{ 0x1a, 1, 0x8000, FIRM, BOTH },	/* 128bit_MMX_uop */
	{ 0x04, 1, 0x8000, FIRM, BOTH },	/* x87_FP_uop */
	{ 0x06, 1, 0x0010, TC, BOTH },	/* TC_misc */
	{ 0x13, 6, 0x0001, FSB, BOTH },	/* global_power_events */
	{ 0x05, 0, 0x0001, MS, BOTH },	/* tc_ms_xfer */
	{ 0x09, 0, 0x0007, MS, BOTH },	/* uop_queue_writes */
	{ 0x05, 2, 0x001e, TBPU, BOTH },	/* retired_mispred_branch_type */
	{ 0x04, 2, 0x001e, TBPU, BOTH },	/* retired_branch_type */
	{ 0x01, 1, 0x0020, ALF, BOTH },	/* resource_stall */
	{ 0x05, 5, 0x0003, DAC, BOTH },	/* WC_Buffer */
	{ 0x16, 3, 0x0000, FSB, BOTH },	/* B2B_cycles: no valid mask is known */
	{ 0x08, 3, 0x0000, FSB, BOTH },	/* BNR: the same */
	{ 0x06, 3, 0x0000, FSB, BOTH },	/* snoop: the same */
	{ 0x04, 3, 0x0000, FSB, BOTH },	/* response: the same */
	{ 0x08, 5, 0x0003, NO_UNIT, BOTH },	/* front_end_event */
	{ 0x0c, 5, 0x00ff, NO_UNIT, BOTH },	/* execution_event */
	{ 0x09, 5, 0x0003, NO_UNIT, BOTH },	/* replay_event */
	{ 0x02, 4, 0x000f, CRU01, BOTH },	/* instr_retired */
	{ 0x01, 4, 0x0003, CRU01, BOTH },	/* uops_retired */
	{ 0x02, 2, 0x0006, NO_UNIT, BOTH },	/* uop_type */
	{ 0x06, 5, 0x000f, CRU23, BOTH },	/* branch_retired */
	{ 0x03, 4, 0x0001, CRU01, BOTH },	/* mispred_branch_retired */
	{ 0x03, 5, 0x001f, CRU23, BOTH },	/* x87_assist */
	{ 0x02, 5, 0x0047, CRU23, BOTH },	/* machine_clear */
	{ 0x07, 4, 0x0003, CRU01, BOTH },	/* instr_completed */
};

#define INSTR_COMPLETED		45

u32 hwpmc_p4_escr(unsigned int unit, unsigned int thread)
{
	return p4_units[unit].escr + thread;
}

u32 hwpmc_p4_escr_of_thread(u32 escr, unsigned int thread)
{
	if (!thread)
		return escr;
	return (escr & ~P4_ESCR_T0) | (escr & P4_ESCR_T0) >> 2;
}

u32 hwpmc_p4_cccr_of_thread(u32 cccr, unsigned int thread)
{
	if (!thread || !(cccr & P4_CCCR_PMI_T0))
		return cccr;
	return (cccr & ~P4_CCCR_PMI_T0) | P4_CCCR_PMI_T1;
}

unsigned int hwpmc_p4_half(unsigned int ri)
{
	return P4_ROWS_THREAD1 >> ri & 1;
}

static u64 p4_event_rows(unsigned int n)
{
	const u8 *row = p4_units[events[n].unit].row;

	switch (events[n].only) {
	case FIRST_ONLY:
		return BIT_ULL(row[0]);
	case SECOND_ONLY:
		return BIT_ULL(row[1]);
	default:
		return BIT_ULL(row[0]) | BIT_ULL(row[1]);
	}
}

/* Models 3, 4 and 6 have it, 5 was never made. */
static bool model_lacks(u32 model, unsigned int n)
{
	return n == INSTR_COMPLETED && model == 5;
}

static u64 p4_select_of(const struct hwpmc_request *req, unsigned int n)
{
	u64 cccr = (req->config & P4_REQUEST_CCCR) | P4_CCCR_THREAD_ANY |
		   P4_CCCR_ENABLE | (u64)events[n].select << P4_CCCR_SELECT_SHIFT;
	u64 escr = (req->config & P4_REQUEST_MASK) >> 32 |
		   (u64)events[n].code << P4_ESCR_EVENT_SHIFT;

	if (req->caps & HWPMC_CAP_USER)
		escr |= P4_ESCR_T0_USR;
	if (req->caps & HWPMC_CAP_SYSTEM)
		escr |= P4_ESCR_T0_OS;
	if (hwpmc_mode_is_sampling(req->mode))
		cccr |= P4_CCCR_PMI_T0;
	return cccr | escr << 32;
}

/*
 * Bits that the request may not set: cascade, forced overflow and the module's own, and
 * all of the CCCR that perf keeps its cache events in. "Active thread" is a condition on
 * both threads; only "any" is a count of one.
 */
static u64 bad_bits(const struct hwpmc_request *req, u64 mask)
{
	u64 known = P4_REQUEST_CCCR | P4_REQUEST_EVENT | mask << (32 + P4_ESCR_MASK_SHIFT);
	u64 thread = req->config & P4_CCCR_THREAD_ANY;

	if (thread != P4_CCCR_THREAD_ANY)
		known &= ~P4_CCCR_THREAD_ANY;
	return req->config & ~known;
}

int hwpmc_p4_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		    struct hwpmc_encoding *enc)
{
	unsigned int n = (req->config & P4_REQUEST_EVENT) >> P4_REQUEST_EVENT_SHIFT;
	const u32 *model = cls->priv;
	u64 bad;

	if (!(req->flags & HWPMC_F_EV_PMU) || n >= ARRAY_SIZE(events))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	if (events[n].unit == NO_UNIT || req->config & P4_REQUEST_TAG)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	bad = bad_bits(req, events[n].mask);
	if (bad)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   hwpmc_lowest_bit(bad));
	if (req->config1)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   64 + hwpmc_lowest_bit(req->config1));
	/* Without a bit of its mask an event counts nothing. */
	if (!(req->config & P4_REQUEST_MASK) || model_lacks(*model, n))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);

	*enc = (struct hwpmc_encoding){
		.select = { .sel = p4_select_of(req, n), .extra = events[n].unit },
		.rows = p4_event_rows(n),
		.scope = hwpmc_mode_is_system(req->mode) ? HWPMC_SCOPE_THREAD : HWPMC_SCOPE_CORE,
	};
	return 0;
}
