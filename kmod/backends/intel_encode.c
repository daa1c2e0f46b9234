// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_encode.c - makes the description of the PMU from CPUID leaf 0xA, and EVTSEL
 * values and fixed control fields from requests. Refuses all values that would fault.
 * Process context; pure.
 */
#include "intel_encode.h"
#include "intel_kinds.h"
#include "intel_regs.h"

static bool width_is_sane(u32 width)
{
	return width >= 32 && width <= 64;
}

static void describe_fixed(struct hwpmc_intel_pmu *pmu, const u32 leaf[4],
			   bool guest)
{
	u32 num = INTEL_EDX_FIXED(leaf[3]);

	/* Erratum: the first CPUs of version 2 have three and report none. */
	if (pmu->version == 2 && !num && !guest)
		num = 3;
	pmu->fixed_map = hwpmc_first_rows(num);
	if (pmu->version >= 5)
		pmu->fixed_map |= leaf[2];
	while (pmu->fixed_num < 32 && pmu->fixed_map >> pmu->fixed_num)
		pmu->fixed_num++;
	pmu->fixed_width = INTEL_EDX_WIDTH(leaf[3]);
	if (!pmu->fixed_width)
		pmu->fixed_width = pmu->gp_width;
}

int hwpmc_intel_describe(struct hwpmc_intel_pmu *pmu, const u32 leaf[4],
			 u32 cputype, bool guest, const char **why)
{
	u32 events = INTEL_EAX_EVENTS(leaf[0]);

	*pmu = (struct hwpmc_intel_pmu){
		.version = INTEL_EAX_VERSION(leaf[0]),
		.gp_num = INTEL_EAX_NUM(leaf[0]),
		.gp_width = INTEL_EAX_WIDTH(leaf[0]),
		.cputype = cputype,
		.extra = hwpmc_intel_extras(cputype),
	};
	if (!pmu->version)
		return -ENODEV;
	*why = "a perfmon version that this module does not support";
	if (pmu->version > 6)
		return -EOPNOTSUPP;
	*why = "an impossible number of counters";
	if (!pmu->gp_num || pmu->gp_num > HWPMC_INTEL_GP_MAX)
		return -EINVAL;
	*why = "an impossible counter width";
	if (!width_is_sane(pmu->gp_width))
		return -EINVAL;
	if (pmu->version >= 2)
		describe_fixed(pmu, leaf, guest);
	*why = "an impossible number of fixed counters";
	if (pmu->fixed_num > HWPMC_INTEL_FIXED_MAX)
		return -EINVAL;
	*why = "an impossible width of fixed counters";
	if (pmu->fixed_num && !width_is_sane(pmu->fixed_width))
		return -EINVAL;

	pmu->gp_map = hwpmc_first_rows(pmu->gp_num);
	pmu->missing = leaf[1] & hwpmc_first_rows(events);
	pmu->any_thread = (pmu->version == 3 || pmu->version == 4) &&
			  !(leaf[3] & INTEL_EDX_NO_ANY);
	return 0;
}

static u32 highest_bit(u32 map)
{
	return map ? 32 - __builtin_clz(map) : 0;
}

void hwpmc_intel_describe_more(struct hwpmc_intel_pmu *pmu, const struct hwpmc_intel_cpuid *id)
{
	if (pmu->version < 6 || !id->has_23)
		return;
	pmu->gp_map = id->gp & hwpmc_first_rows(HWPMC_INTEL_GP_MAX);
	pmu->gp_num = highest_bit(pmu->gp_map);
	pmu->fixed_map = id->fixed & hwpmc_first_rows(HWPMC_INTEL_FIXED_MAX);
	pmu->fixed_num = highest_bit(pmu->fixed_map);
	if (id->bits & INTEL_23_UMASK2)
		pmu->more_bits |= INTEL_SEL_UMASK2;
	if (id->bits & INTEL_23_EQ)
		pmu->more_bits |= INTEL_SEL_EQ;
	pmu->hides = id->bits & INTEL_23_HIDE;
}

/* Does CPUID say that this architectural event is missing? */
static bool is_missing(const struct hwpmc_intel_pmu *pmu, u64 config)
{
	int bit = hwpmc_intel_architectural(config);

	return bit >= 0 && pmu->missing >> bit & 1;
}

const struct hwpmc_intel_extra *hwpmc_intel_extra(const struct hwpmc_intel_pmu *pmu,
						  u64 sel)
{
	const struct hwpmc_intel_extra *e;

	for (e = pmu->extra; e && e->code; e++)
		if (e->code == (sel & INTEL_SEL_CODE))
			return e;
	return NULL;
}

static u64 last_row(u64 rows)
{
	while (rows & (rows - 1))
		rows &= rows - 1;
	return rows;
}

/*
 * A register holds one value at a time. All events of a register may use one row only, and
 * so only one PMC at a time on a CPU: the first of their rows, for the second register the
 * last of the first four, and for the front end's the second, where there is one. Cores with
 * registers of snoop responses have none of the front end: the second and the third.
 */
static u64 extra_row(u64 rows, const struct hwpmc_intel_extra *e)
{
	switch (e->reg) {
	case HWPMC_INTEL_RSP1:
		return last_row(rows & 0xf);
	case HWPMC_INTEL_SNOOP1:
		return last_row(rows & 0x7);
	case HWPMC_INTEL_FRONTEND:
	case HWPMC_INTEL_SNOOP0:
		return last_row(rows & 0x3);
	default:
		return rows & -rows;
	}
}

/* Bits of the request that the hardware does not have, or the mode may not use. */
static u64 intel_unknown_bits(const struct hwpmc_intel_pmu *pmu,
			const struct hwpmc_request *req)
{
	u64 known = INTEL_SEL_REQUEST | pmu->more_bits;

	/*
	 * AnyThread also counts the other hyperthread, which may run another user's
	 * program: system scope only, which needs privilege.
	 */
	if (!pmu->any_thread || !hwpmc_mode_is_system(req->mode))
		known &= ~INTEL_SEL_ANY;
	return req->config & ~known;
}

/* Programs may RDPMC their own PMCs; those of system scope count for others too. */
static bool is_hidden(const struct hwpmc_intel_pmu *pmu, const struct hwpmc_request *req)
{
	return pmu->hides && hwpmc_mode_is_system(req->mode);
}

static u64 iap_select(const struct hwpmc_request *req)
{
	u64 sel = req->config | INTEL_SEL_EN;

	if (req->caps & HWPMC_CAP_USER)
		sel |= INTEL_SEL_USR;
	if (req->caps & HWPMC_CAP_SYSTEM)
		sel |= INTEL_SEL_OS;
	if (hwpmc_mode_is_sampling(req->mode))
		sel |= INTEL_SEL_INT;
	return sel;
}

/* Events that need a register must have config1; all others must not have it. */
static int check_config1(const struct hwpmc_intel_pmu *pmu,
			 const struct hwpmc_intel_extra *e,
			 const struct hwpmc_request *req,
			 struct hwpmc_encoding *enc)
{
	u64 bad = req->config1;

	if (e) {
		if (e->reg == HWPMC_INTEL_LATENCY)
			return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_PRECISE, 0);
		if (!req->config1)
			return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
		if (!(pmu->filtered >> e->reg & 1))
			bad &= ~e->bits;	/* else a fault would make all doubtful */
	}
	if (bad)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   64 + hwpmc_lowest_bit(bad));
	return 0;
}

static int encode_request(hwpmc_intel_encoder one, const struct hwpmc_class *cls,
			  const struct hwpmc_request *req, struct hwpmc_encoding *enc)
{
	const struct hwpmc_intel_pmu *pmu = cls->priv;

	if (pmu->nkinds)
		return hwpmc_intel_encode_kinds(pmu, cls, req, one, enc);
	if (req->kinds)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_KIND, 0);
	return one(pmu, cls, req, enc);
}

static int iap_encode_for(const struct hwpmc_intel_pmu *pmu, const struct hwpmc_class *cls,
			  const struct hwpmc_request *req, struct hwpmc_encoding *enc)
{
	u64 rows, bad = intel_unknown_bits(pmu, req);
	const struct hwpmc_intel_extra *extra;
	int err;

	if (!(req->flags & HWPMC_F_EV_PMU))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	if (bad)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   hwpmc_lowest_bit(bad));

	extra = hwpmc_intel_extra(pmu, req->config);
	err = check_config1(pmu, extra, req, enc);
	if (err)
		return err;

	rows = hwpmc_intel_event_rows(pmu->cputype, req->config) &
	       hwpmc_first_rows(cls->num) & pmu->gp_map & ~(u64)pmu->withheld;
	if (extra)
		rows = extra_row(rows, extra);
	if (!rows || is_missing(pmu, req->config))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);

	*enc = (struct hwpmc_encoding){
		.select = { .sel = iap_select(req), .extra = req->config1 },
		.arming = hwpmc_intel_arming(pmu->cputype, req->config),
		.rows = rows,
		.hidden = is_hidden(pmu, req),
		.scope = hwpmc_intel_is_shared(pmu->cputype, req->config) ?
			 HWPMC_SCOPE_CORE : HWPMC_SCOPE_THREAD,
	};
	if (enc->hidden)
		enc->select.sel |= INTEL_SEL_HIDE;
	return 0;
}

int hwpmc_iap_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc)
{
	return encode_request(iap_encode_for, cls, req, enc);
}

/*
 * The fixed counter of an event code, or -1. In event lists event 0 with unit mask
 * n + 1 is fixed counter n; the other codes are the architectural events that the
 * first four count.
 */
static int fixed_of_code(u64 config)
{
	u64 umask = (config & INTEL_SEL_UMASK) >> 8;

	switch (config & INTEL_SEL_CODE) {
	case 0x00c0:
	case 0x01c0:			/* INST_RETIRED.PREC_DIST */
		return 0;
	case 0x003c:
		return 1;
	case 0x013c:
		return 2;
	case 0x01a4:
		return 3;
	}
	if (config & INTEL_SEL_EVENT || !umask || umask > HWPMC_INTEL_FIXED_MAX)
		return -1;
	return umask - 1;
}

static int fixed_of_request(const struct hwpmc_request *req)
{
	u32 n = req->ev - HWPMC_EV_IAF_FIRST;

	if (req->flags & HWPMC_F_EV_PMU)
		return fixed_of_code(req->config);
	return n < HWPMC_INTEL_FIXED_MAX ? (int)n : -1;
}

static u64 iaf_select(const struct hwpmc_request *req)
{
	u64 sel = 0;

	if (req->caps & HWPMC_CAP_USER)
		sel |= INTEL_FIXED_USR;
	if (req->caps & HWPMC_CAP_SYSTEM)
		sel |= INTEL_FIXED_OS;
	if (hwpmc_mode_is_sampling(req->mode))
		sel |= INTEL_FIXED_INT;
	return sel;
}

static int iaf_encode_for(const struct hwpmc_intel_pmu *pmu, const struct hwpmc_class *cls,
			  const struct hwpmc_request *req, struct hwpmc_encoding *enc)
{
	u64 bad = req->config & ~INTEL_SEL_CODE;
	int n;

	n = fixed_of_request(req);
	if (n < 0)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	if (req->flags & HWPMC_F_EV_PMU && bad)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   hwpmc_lowest_bit(bad));
	if (req->flags & HWPMC_F_EV_PMU && req->config1)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   64 + hwpmc_lowest_bit(req->config1));
	if (!(pmu->fixed_map >> n & 1))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);

	*enc = (struct hwpmc_encoding){
		.select = { .sel = iaf_select(req) },
		.arming = hwpmc_intel_arming(pmu->cputype,
					     req->flags & HWPMC_F_EV_PMU ? req->config : 0),
		.rows = BIT_ULL(n),
		.hidden = is_hidden(pmu, req),
	};
	if (enc->hidden)
		enc->select.sel |= INTEL_FIXED_HIDE;
	return 0;
}

int hwpmc_iaf_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc)
{
	return encode_request(iaf_encode_for, cls, req, enc);
}
