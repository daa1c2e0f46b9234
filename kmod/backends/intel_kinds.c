// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * intel_kinds.c - the models that have cores of several kinds, one line each, and what each
 * kind has. CPUID leaf 0xA has only what all kinds have, and on Alder and Raptor Lake
 * nothing says more; leaf 0x23, where there is one, is compared with this table when a CPU
 * comes up. Pure.
 */
#include "cputype.h"
#include "intel_kinds.h"
#include "intel_regs.h"

#define CORE(native)	((u32)INTEL_CORE_TYPE << 24 | (native))
#define ATOM(native)	((u32)INTEL_ATOM_TYPE << 24 | (native))

/* Architectural events that are missing: bit 7 are slots, 9 bad speculation. */
#define NO_SLOTS	0x80
#define NO_BAD_SPEC	0x200

#define GOLDEN_COVE	{ HWPMC_KIND_CORE, CORE(1), HWPMC_CPU_ALDERLAKE, 0xff, 0xf, 0, 0 }
#define GRACEMONT	{ HWPMC_KIND_ATOM, ATOM(1), HWPMC_CPU_ALDERLAKEN, 0x3f, 0x7, \
			  NO_SLOTS, 0 }
#define REDWOOD_COVE	{ HWPMC_KIND_CORE, CORE(2), HWPMC_CPU_GRANITE_RAPIDS, 0xff, 0xf, \
			  NO_BAD_SPEC, 0 }
#define CRESTMONT(kind)	{ kind, ATOM(2), HWPMC_CORE_CRESTMONT, 0xff, 0x7, NO_SLOTS, 0 }
#define LION_COVE	{ HWPMC_KIND_CORE, CORE(3), HWPMC_CORE_LION_COVE, 0x3ff, 0xf, \
			  NO_BAD_SPEC, INTEL_SEL_UMASK2 | INTEL_SEL_EQ }
#define SKYMONT		{ HWPMC_KIND_ATOM, ATOM(3), HWPMC_CORE_SKYMONT, 0xff, 0x77, \
			  NO_SLOTS, INTEL_SEL_UMASK2 | INTEL_SEL_EQ }
#define COUGAR_COVE	{ HWPMC_KIND_CORE, CORE(4), HWPMC_CORE_COUGAR_COVE, 0x3ff, 0xf, \
			  NO_BAD_SPEC, INTEL_SEL_UMASK2 | INTEL_SEL_EQ }
#define DARKMONT	{ HWPMC_KIND_ATOM, ATOM(4), HWPMC_CORE_DARKMONT, 0xff, 0x77, \
			  NO_SLOTS, INTEL_SEL_UMASK2 | INTEL_SEL_EQ }

static const struct hwpmc_intel_kinds kind_models[] = {
	{ 0x97, { GOLDEN_COVE, GRACEMONT } },
	{ 0x9a, { GOLDEN_COVE, GRACEMONT } },
	{ 0xb7, { GOLDEN_COVE, GRACEMONT } },		/* Raptor Lake */
	{ 0xba, { GOLDEN_COVE, GRACEMONT } },
	{ 0xbf, { GOLDEN_COVE, GRACEMONT } },
	/* The low-power cores of Meteor Lake and Arrow Lake U are like the other ones. */
	{ 0xaa, { REDWOOD_COVE, CRESTMONT(HWPMC_KIND_ATOM) } },
	{ 0xac, { REDWOOD_COVE, CRESTMONT(HWPMC_KIND_ATOM) } },
	{ 0xb5, { REDWOOD_COVE, CRESTMONT(HWPMC_KIND_ATOM) } },
	{ 0xc5, { LION_COVE, SKYMONT, CRESTMONT(HWPMC_KIND_LOWPOWER) } },	/* Arrow Lake H */
	{ 0xc6, { LION_COVE, SKYMONT } },
	{ 0xbd, { LION_COVE, SKYMONT } },		/* Lunar Lake */
	{ 0xcc, { COUGAR_COVE, DARKMONT } },		/* Panther Lake */
	{ 0xe5, { COUGAR_COVE, DARKMONT } },
	{ 0xd5, { COUGAR_COVE, DARKMONT } },		/* Wildcat Lake */
};

const struct hwpmc_intel_kinds *hwpmc_intel_kinds_of(u32 model)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kind_models); i++)
		if (kind_models[i].model == model)
			return &kind_models[i];
	return NULL;
}

u32 hwpmc_intel_core_of(u32 model, u32 kind)
{
	const struct hwpmc_intel_kinds *m = hwpmc_intel_kinds_of(model);
	unsigned int i;

	for (i = 0; m && i < HWPMC_KINDS_MAX; i++)
		if (m->kind[i].kind == kind)
			return m->kind[i].core;
	return HWPMC_CPU_GENERIC;
}

static u32 highest_map_bit(u32 map)
{
	return map ? 32 - __builtin_clz(map) : 0;
}

/* The description of one kind, from what is common to all. */
static void describe_kind(struct hwpmc_intel_pmu *pmu, const struct hwpmc_intel_kind *k)
{
	pmu->kind = k->kind;
	pmu->cputype = k->core;
	pmu->leaf_1a = k->leaf_1a;
	pmu->gp_map = k->gp;
	pmu->gp_num = highest_map_bit(k->gp);
	pmu->fixed_map = k->fixed;
	pmu->fixed_num = highest_map_bit(k->fixed);
	pmu->missing = k->missing;
	pmu->more_bits = k->more_bits;
	pmu->extra = hwpmc_intel_extras(k->core);
	pmu->filtered = ~0u;		/* until a CPU of this kind has tried */
}

void hwpmc_intel_describe_kinds(struct hwpmc_intel_pmu *pmu,
				struct hwpmc_intel_pmu kinds[HWPMC_KINDS_MAX],
				const struct hwpmc_intel_kinds *m)
{
	const struct hwpmc_intel_pmu common = *pmu;
	unsigned int i;

	for (i = 0; i < HWPMC_KINDS_MAX && m->kind[i].kind; i++) {
		kinds[i] = common;
		describe_kind(&kinds[i], &m->kind[i]);
		pmu->gp_map |= kinds[i].gp_map;
		pmu->fixed_map |= kinds[i].fixed_map;
	}
	pmu->kinds = kinds;
	pmu->nkinds = i;
	pmu->gp_num = highest_map_bit(pmu->gp_map);
	pmu->fixed_num = highest_map_bit(pmu->fixed_map);
}

/* Is there all that the table gives this kind? More is not used. */
static bool kind_agrees(const struct hwpmc_intel_pmu *pmu,
			const struct hwpmc_intel_cpuid *id)
{
	if (!id->has_23)
		return !pmu->more_bits;
	return !(pmu->gp_map & ~id->gp) && !(pmu->fixed_map & ~id->fixed) &&
	       (!(pmu->more_bits & INTEL_SEL_UMASK2) || id->bits & INTEL_23_UMASK2) &&
	       (!(pmu->more_bits & INTEL_SEL_EQ) || id->bits & INTEL_23_EQ);
}

const struct hwpmc_intel_pmu *hwpmc_intel_kind_of(const struct hwpmc_intel_pmu *pmu,
						  const struct hwpmc_intel_cpuid *id)
{
	unsigned int i;

	if (!pmu->nkinds)
		return pmu;
	for (i = 0; i < pmu->nkinds; i++)
		if (pmu->kinds[i].leaf_1a == id->leaf_1a)
			return kind_agrees(&pmu->kinds[i], id) ? &pmu->kinds[i] : NULL;
	return NULL;
}

/* What all CPUs that a PMC counts on can do alike. */
static void combine_kinds(struct hwpmc_encoding *enc, const struct hwpmc_encoding *one,
			  bool first)
{
	if (first) {
		*enc = *one;
		return;
	}
	enc->rows &= one->rows;
	if (one->arming.least > enc->arming.least)
		enc->arming.least = one->arming.least;
	if (one->arming.unit > enc->arming.unit)
		enc->arming.unit = one->arming.unit;
}

/* Does the event mean the same on all kinds that have it? Fixed counters' do. */
static bool means_the_same(const struct hwpmc_class *cls, const struct hwpmc_request *req)
{
	return cls->id == HWPMC_CLASS_IAF ||
	       (hwpmc_intel_architectural(req->config) >= 0 &&
		!(req->config & (INTEL_SEL_UMASK2 | INTEL_SEL_EQ)));
}

u32 hwpmc_intel_all_kinds(const struct hwpmc_intel_pmu *pmu)
{
	u32 all = 0;
	unsigned int i;

	for (i = 0; i < pmu->nkinds; i++)
		all |= pmu->kinds[i].kind;
	return all;
}

/* The kinds that the request is for: those of its CPU, or those that it names, or all. */
static int wanted_kinds(const struct hwpmc_intel_pmu *pmu, const struct hwpmc_request *req,
			u32 *wanted, struct hwpmc_encoding *enc)
{
	u32 all = hwpmc_intel_all_kinds(pmu);

	if (req->kinds & ~all)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_KIND, all);
	*wanted = req->kinds ?: all;
	if (req->cpu_kind && !(*wanted & req->cpu_kind))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_CPU_KIND, req->cpu_kind);
	if (req->cpu_kind)
		*wanted = req->cpu_kind;
	return 0;
}

/* The answer, of which kinds: what some refuse is refused. */
static int judge_kinds(u32 wanted, u32 counted, bool same, int err, struct hwpmc_encoding *enc)
{
	bool single = !(wanted & (wanted - 1));

	if (!single && counted && (err ? enc->refusal.reason == HWPMC_WHY_EVENT_ROWS : !same))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_KIND, counted);
	if (!err && !enc->rows)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	return err;
}

int hwpmc_intel_encode_kinds(const struct hwpmc_intel_pmu *pmu,
			     const struct hwpmc_class *cls,
			     const struct hwpmc_request *req, hwpmc_intel_encoder one,
			     struct hwpmc_encoding *enc)
{
	struct hwpmc_encoding all = {}, refusal = {}, e;
	u32 wanted, counted = 0;
	int err = wanted_kinds(pmu, req, &wanted, enc), ret = 0;
	unsigned int i;

	if (err)
		return err;
	for (i = 0; i < pmu->nkinds; i++) {
		if (!(pmu->kinds[i].kind & wanted))
			continue;
		err = one(&pmu->kinds[i], cls, req, &e);
		if (!err) {
			combine_kinds(&all, &e, !counted);
			counted |= pmu->kinds[i].kind;
		} else if (!ret) {
			refusal = e;
			ret = err;
		}
	}
	*enc = ret ? refusal : all;
	return judge_kinds(wanted, counted, means_the_same(cls, req), ret, enc);
}
