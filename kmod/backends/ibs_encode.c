// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* ibs_encode.c - see ibs_encode.h. Pure. */
#include "ibs_encode.h"

#define UNIT		16	/* the registers lack the lower bits of a period */
#define MEAN_RANDOM	64	/* mean of the bits AMD_IBS_OP_RANDOM, rounded up */

void hwpmc_ibs_describe(struct hwpmc_ibs *ibs, u32 caps, unsigned int family,
			unsigned int model)
{
	*ibs = (struct hwpmc_ibs){
		.caps = caps & AMD_IBS_CAP_VALID ? caps : AMD_IBS_CAP_FETCH | AMD_IBS_CAP_OP,
		.family = family, .model = model,
		.fetch_keeps = family >= 0x16 && family <= 0x18,
		.stop_in_two = family == 0x10,
		.latency_needs_l3 = family == 0x1a && !(caps & AMD_IBS_CAP_DIS),
	};
}

static u64 op_bits(const struct hwpmc_ibs *ibs)
{
	u64 bits = 0;

	if (ibs->caps & AMD_IBS_CAP_OPCNT)
		bits |= AMD_IBS_OP_CNT_OPS;
	if (ibs->caps & AMD_IBS_CAP_ZEN4)
		bits |= AMD_IBS_OP_L3MISS;
	if (ibs->caps & AMD_IBS_CAP_LDLAT)
		bits |= AMD_IBS_OP_LDLAT_EN | AMD_IBS_OP_LDLAT_MASK;
	return bits;
}

static u64 fetch_bits(const struct hwpmc_ibs *ibs)
{
	return AMD_IBS_FETCH_RAND | (ibs->caps & AMD_IBS_CAP_ZEN4 ? AMD_IBS_FETCH_L3MISS : 0);
}

/* Bits that a request may set in the second control registers, which not all processors have. */
static u64 op2_bits(const struct hwpmc_ibs *ibs)
{
	return ibs->caps & AMD_IBS_CAP_STREAM ? AMD_IBS_OP2_STREAM : 0;
}

static u64 fetch2_bits(const struct hwpmc_ibs *ibs)
{
	return ibs->caps & AMD_IBS_CAP_FETCHLAT ? AMD_IBS_FETCH2_LAT : 0;
}

/* The hardware's own filter of modes spares the interrupts of samples that would be dropped. */
static u64 select_filters(const struct hwpmc_ibs *ibs, const struct hwpmc_request *req, bool op)
{
	u32 modes = req->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM);
	u64 config1 = req->flags & HWPMC_F_EV_PMU ? req->config1 : 0;

	if (!(ibs->caps & AMD_IBS_CAP_BIT63))
		return config1;
	if (modes == HWPMC_CAP_USER)
		return config1 | (op ? AMD_IBS_OP2_NO_KERNEL : AMD_IBS_FETCH2_NO_KERNEL);
	if (modes == HWPMC_CAP_SYSTEM)
		return config1 | (op ? AMD_IBS_OP2_NO_USER : AMD_IBS_FETCH2_NO_USER);
	return config1;
}

static u64 select_op(const struct hwpmc_ibs *ibs, const struct hwpmc_request *req)
{
	u64 config = req->flags & HWPMC_F_EV_PMU ? req->config : op_bits(ibs) & AMD_IBS_OP_CNT_OPS;

	if (config & AMD_IBS_OP_LDLAT_EN && ibs->latency_needs_l3)
		config |= AMD_IBS_OP_L3MISS;
	return config | AMD_IBS_OP_EN;
}

static u64 select_fetch(const struct hwpmc_request *req)
{
	u64 config = req->flags & HWPMC_F_EV_PMU ? req->config : AMD_IBS_FETCH_RAND;

	return config | AMD_IBS_FETCH_EN;
}

int hwpmc_ibs_encode(const struct hwpmc_ibs *ibs, const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc)
{
	bool op = req->ev == HWPMC_EV_IBS_OP;
	u64 unknown, unknown1;

	if (!hwpmc_mode_is_sampling(req->mode))
		return hwpmc_encode_refuse(enc, -EOPNOTSUPP, HWPMC_WHY_CAPS, HWPMC_CAP_READ);
	if ((!op && req->ev != HWPMC_EV_IBS_FETCH) ||
	    !(ibs->caps & (op ? AMD_IBS_CAP_OP : AMD_IBS_CAP_FETCH)))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, req->ev);
	unknown = req->flags & HWPMC_F_EV_PMU ?
		  req->config & ~(op ? op_bits(ibs) : fetch_bits(ibs)) : 0;
	if (unknown)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   hwpmc_lowest_bit(unknown));
	unknown1 = req->flags & HWPMC_F_EV_PMU ?
		   req->config1 & ~(op ? op2_bits(ibs) : fetch2_bits(ibs)) : 0;
	if (unknown1)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   64 + hwpmc_lowest_bit(unknown1));
	*enc = (struct hwpmc_encoding){
		.select.sel = op ? select_op(ibs, req) : select_fetch(req),
		.select.extra = select_filters(ibs, req, op),
		.rows = 1ull << (op ? HWPMC_IBS_ROW_OP : HWPMC_IBS_ROW_FETCH),
		.arming.least = op ? HWPMC_IBS_OP_LEAST : HWPMC_IBS_FETCH_LEAST,
		.arming.unit = op && ibs->caps & AMD_IBS_CAP_CURCNT ? 0 : UNIT,
	};
	return 0;
}

/* Count from `cur` to `max`, a multiple of UNIT. */
static u64 op_word_nmi(u64 sel, u64 max, u64 cur)
{
	return sel | (max >> 4 & AMD_IBS_OP_MAX) | (max & AMD_IBS_OP_MAX_EXT) | cur << AMD_IBS_OP_CUR_SHIFT;
}

static u64 op_from_nmi(const struct hwpmc_ibs *ibs, u64 sel, u64 n, u64 begun)
{
	u64 max = (n + UNIT - 1) & ~(u64)(UNIT - 1);

	return op_word_nmi(sel, max, ibs->caps & AMD_IBS_CAP_CURCNT ? max - n + begun : 0);
}

u64 hwpmc_ibs_armed_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 sel, u64 n)
{
	if (ri == HWPMC_IBS_ROW_OP)
		return op_from_nmi(ibs, sel, n, 0);
	return sel | (n >> 4 & AMD_IBS_FETCH_MAX);
}

u64 hwpmc_ibs_rearmed_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 sel, u64 n,
			  u64 before)
{
	if (ri != HWPMC_IBS_ROW_OP || !(sel & AMD_IBS_OP_CNT_OPS) || !(ibs->caps & AMD_IBS_CAP_CURCNT))
		return hwpmc_ibs_armed_nmi(ibs, ri, sel, n);
	return op_from_nmi(ibs, sel, n + MEAN_RANDOM, before >> AMD_IBS_OP_CUR_SHIFT & AMD_IBS_OP_RANDOM);
}

u64 hwpmc_ibs_left_nmi(const struct hwpmc_ibs *ibs, unsigned int ri, u64 ctl, u64 all)
{
	u64 max, cur;

	if (ri == HWPMC_IBS_ROW_OP) {
		if (!(ibs->caps & AMD_IBS_CAP_CURCNT))
			return all;
		max = (ctl & AMD_IBS_OP_MAX) << 4 | (ctl & AMD_IBS_OP_MAX_EXT);
		cur = ctl >> AMD_IBS_OP_CUR_SHIFT &
		      (ibs->caps & AMD_IBS_CAP_OPEXT ? AMD_IBS_OP_CUR_MASK : 0xfffff);
	} else {
		max = (ctl & AMD_IBS_FETCH_MAX) << 4;
		cur = (ctl >> AMD_IBS_FETCH_CUR_SHIFT & 0xffff) << 4;
	}
	/* With the count at its end the sample is on its way. */
	return cur < max ? max - cur : 1;
}
