// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * amd_encode.c - makes the description of an AMD core PMU from CPUID, and PERF_CTL
 * values from requests, with the constraints of family 15h. Process context; pure.
 */
#include "amd_encode.h"
#include "amd_regs.h"

int hwpmc_amd_describe(struct hwpmc_amd_pmu *pmu, u32 family, bool extended,
		       u32 eax, u32 ebx, const char **why)
{
	*pmu = (struct hwpmc_amd_pmu){ .family = family };
	if (family < 0x0f)
		return -ENODEV;
	if (!extended) {
		pmu->num = AMD_LEGACY_NUM;
		return 0;
	}
	pmu->version = 1;
	pmu->num = AMD_EXTENDED_NUM;
	if (!(eax & AMD_EAX_V2))
		return 0;
	pmu->version = 2;
	pmu->freezes = eax & AMD_EAX_FREEZE;
	pmu->num = AMD_EBX_NUM(ebx);
	*why = "an impossible number of counters";
	return pmu->num ? 0 : -EINVAL;
}

/*
 * Family 15h: which counters can count which events. That depends on the unit, which
 * is the second hexadecimal digit of the code; exceptions come first. The first rule
 * that matches applies. From AMD's BIOS and Kernel Developer's Guides.
 */
struct rule {
	u16 first, last;	/* event codes, 12 bits */
	u8 umasks;		/* for unit masks of this kind only */
	u8 rows;		/* bit per counter */
};

enum { ANY_UMASK, MANY_BITS, BOTH_HALVES };

#define RULE(a, b, r)		{ .first = a, .last = b, .rows = r }
#define RULE_IF(a, k, r)	{ .first = a, .last = a, .umasks = k, .rows = r }

static const struct rule family15h_rules[] = {
	/* exceptions */
	RULE_IF(0x000, BOTH_HALVES, 0x08),	/* FPU pipes: two kinds at once */
	RULE_IF(0x004, MANY_BITS, 0x08),
	RULE(0x003, 0x003, 0x08),
	RULE(0x00b, 0x00b, 0x08),
	RULE(0x00d, 0x00d, 0x08),
	RULE(0x023, 0x023, 0x07),
	RULE(0x02d, 0x02d, 0x08),
	RULE(0x02e, 0x02e, 0x09),
	RULE_IF(0x031, MANY_BITS, 0x00),	/* one unit mask bit at a time */
	RULE(0x031, 0x031, 0x07),
	RULE(0x043, 0x043, 0x07),
	RULE(0x045, 0x046, 0x07),
	RULE(0x054, 0x055, 0x07),
	RULE(0x08f, 0x08f, 0x01),
	RULE(0x0db, 0x0df, 0x3f),
	RULE(0x187, 0x188, 0x01),
	RULE(0x1c0, 0x1c0, 0x38),
	RULE(0x1d6, 0x1d6, 0x3f),
	RULE(0x1d8, 0x1d8, 0x3f),
	/* units */
	RULE(0x000, 0x01f, 0x38),		/* floating point */
	RULE(0x020, 0x05f, 0x3f),		/* load, store, data cache */
	RULE(0x060, 0x09f, 0x07),		/* cache unit, fetch, decode */
	RULE(0x0a0, 0x0bf, 0x00),		/* no events */
	RULE(0x0c0, 0x0cf, 0x3f),		/* execution */
	RULE(0x0d0, 0x0df, 0x07),		/* decode */
	RULE(0x0e0, 0x0ff, 0x00),		/* northbridge: has its own counters */
};

static u32 event_of(u64 config)
{
	return (config & AMD_CTL_EVENT_LOW) |
	       (config & AMD_CTL_EVENT_HIGH) >> 24;
}

static bool umask_fits(u8 kind, u32 umask)
{
	switch (kind) {
	case MANY_BITS:
		return umask & (umask - 1);
	case BOTH_HALVES:
		return umask & 0x0f && umask & 0xf0;
	default:
		return true;
	}
}

static bool amd_rule_matches(const struct rule *r, u32 event, u64 config)
{
	return event >= r->first && event <= r->last &&
	       umask_fits(r->umasks, (config & AMD_CTL_UMASK) >> 8);
}

/* Units repeat: codes from 100h on follow the unit rules of their low byte. */
static u64 family15h_rows(u64 config)
{
	u32 event = event_of(config);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(family15h_rules); i++) {
		const struct rule *r = &family15h_rules[i];
		bool unit = r->first != r->last && !(r->first & 0xf);

		if (amd_rule_matches(r, unit ? event & 0xff : event, config))
			return r->rows;
	}
	return 0;
}

/*
 * From family 17h on floating-point operations retired come up to 64 a cycle, and a
 * counter alone adds 15 at most: they need an even one joined with the next (amd.c).
 */
static bool needs_two_counters(const struct hwpmc_amd_pmu *pmu, u64 config)
{
	return pmu->family >= 0x17 && event_of(config) == 0x003;
}

/*
 * Before family 15h codes E0h to FFh are the northbridge's: its counters, one for each
 * number, serve all cores of a node.
 */
static bool is_of_node(const struct hwpmc_amd_pmu *pmu, u64 config)
{
	return pmu->family < 0x15 && (config & 0xe0) == 0xe0;
}

/* Family 16h has counters of the northbridge of its own as well, as 15h has. */
static bool is_northbridge(const struct hwpmc_amd_pmu *pmu, u64 config)
{
	return pmu->family == 0x16 && (config & 0xe0) == 0xe0;
}

static u64 amd_event_rows(const struct hwpmc_amd_pmu *pmu, u64 config)
{
	if (is_northbridge(pmu, config))
		return 0;
	if (needs_two_counters(pmu, config))
		return AMD_EVEN_ROWS & (hwpmc_first_rows(pmu->num) >> 1);
	if (pmu->family == 0x15)
		return family15h_rows(config);
	return ~0ULL;
}

/* Bits of the request that PERF_CTL of this family does not have. */
static u64 amd_unknown_bits(const struct hwpmc_amd_pmu *pmu, const struct hwpmc_request *req)
{
	u64 known = AMD_CTL_REQUEST;

	if (pmu->family >= 0x10)
		known |= AMD_CTL_EVENT_HIGH;
	/* An overflow in a guest interrupts the host, far from where it happened. */
	if (pmu->guests)
		known |= hwpmc_mode_is_sampling(req->mode) ? AMD_CTL_HOST : AMD_CTL_WHOSE;
	return req->config & ~known;
}

/* The host alone where the request does not say. Both: neither bit, with or without SVM. */
static u64 whose_bits(const struct hwpmc_amd_pmu *pmu, u64 config)
{
	switch (config & AMD_CTL_WHOSE) {
	case 0:
		return pmu->guests ? AMD_CTL_HOST : 0;
	case AMD_CTL_WHOSE:
		return 0;
	}
	return config & AMD_CTL_WHOSE;
}

static u64 amd_select_of(const struct hwpmc_amd_pmu *pmu, const struct hwpmc_request *req)
{
	u64 sel = (req->config & ~AMD_CTL_WHOSE) | whose_bits(pmu, req->config) | AMD_CTL_EN;

	if (req->caps & HWPMC_CAP_USER)
		sel |= AMD_CTL_USR;
	if (req->caps & HWPMC_CAP_SYSTEM)
		sel |= AMD_CTL_OS;
	if (hwpmc_mode_is_sampling(req->mode))
		sel |= AMD_CTL_INT;
	return sel;
}

int hwpmc_amd_encode(const struct hwpmc_class *cls,
		     const struct hwpmc_request *req,
		     struct hwpmc_encoding *enc)
{
	const struct hwpmc_amd_pmu *pmu = cls->priv;
	u64 rows, bad = amd_unknown_bits(pmu, req);

	if (!(req->flags & HWPMC_F_EV_PMU))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	if (bad)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   hwpmc_lowest_bit(bad));
	if (req->config1)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_BITS,
					   64 + hwpmc_lowest_bit(req->config1));
	if (is_of_node(pmu, req->config) && !hwpmc_mode_is_system(req->mode))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_NODE, 0);
	rows = amd_event_rows(pmu, req->config) & hwpmc_first_rows(cls->num);
	if (!rows)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);

	*enc = (struct hwpmc_encoding){
		.select = { .sel = amd_select_of(pmu, req) },
		.rows = rows,
		.pair = needs_two_counters(pmu, req->config),
		.scope = is_of_node(pmu, req->config) ? HWPMC_SCOPE_PACKAGE : HWPMC_SCOPE_THREAD,
	};
	if (enc->pair)
		enc->select.extra = AMD_CTL_MERGE;
	return 0;
}
