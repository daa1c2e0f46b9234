// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_intel_kinds.c - machines with cores of several kinds: what the table says of each
 * agrees with what real CPUs say of themselves, and requests go to the kinds that have the
 * event.
 */
#include "backends/cputype.h"
#include "backends/intel_kinds.h"
#include "backends/intel_regs.h"
#include "harness.h"

#define CPU(kind, has, g, f, b)	{ .leaf_1a = (kind), .has_23 = (has), .gp = (g), .fixed = (f), \
				  .bits = (b) }

/* Leaf 0xA of each kind of machine, and of each kind of core leaves 0x1A and 0x23. */
static const struct real {
	u32 model;
	u32 leaf_a[4];
	struct {
		u32 kind;
		struct hwpmc_intel_cpuid id;
		u32 gp, fixed;
	} cpu[HWPMC_KINDS_MAX];
} reals[] = {
	{ 0x97, { 0x07300605, 0, 7, 0x8603 },		/* i9-12900K */
	  { { HWPMC_KIND_CORE, CPU(0x40000001, false, 0, 0, 0), 0xff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000001, false, 0, 0, 0), 0x3f, 0x7 } } },
	{ 0xaa, { 0x07300805, 0, 7, 0x8603 },		/* Ultra 7 155H */
	  { { HWPMC_KIND_CORE, CPU(0x40000002, true, 0xff, 0xf, 0), 0xff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000002, true, 0xff, 0x7, 0), 0xff, 0x7 } } },
	{ 0xb5, { 0x07300805, 0, 7, 0x8603 },		/* Arrow Lake U */
	  { { HWPMC_KIND_CORE, CPU(0x40000002, true, 0xff, 0xf, 0), 0xff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000002, true, 0xff, 0x7, 0), 0xff, 0x7 } } },
	{ 0xc5, { 0x07300805, 0, 7, 0x8603 },		/* Arrow Lake H */
	  { { HWPMC_KIND_CORE, CPU(0x40000003, true, 0x3ff, 0xf, 3), 0x3ff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000003, true, 0xff, 0x77, 3), 0xff, 0x77 },
	    { HWPMC_KIND_LOWPOWER, CPU(0x20000002, true, 0xff, 0x7, 0), 0xff, 0x7 } } },
	{ 0xbd, { 0x0d300806, 0x280, 7, 0x8603 },	/* Lunar Lake: perfmon 6 */
	  { { HWPMC_KIND_CORE, CPU(0x40000003, true, 0x3ff, 0xf, 3), 0x3ff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000003, true, 0xff, 0x77, 3), 0xff, 0x77 } } },
	{ 0xcc, { 0x0d300806, 0x280, 7, 0x8603 },	/* Panther Lake */
	  { { HWPMC_KIND_CORE, CPU(0x40000004, true, 0x3ff, 0xf, 3), 0x3ff, 0xf },
	    { HWPMC_KIND_ATOM, CPU(0x20000004, true, 0xff, 0x77, 3), 0xff, 0x77 } } },
};

static struct hwpmc_intel_pmu pmu, kinds[HWPMC_KINDS_MAX];
static struct hwpmc_class iap, iaf;
static struct hwpmc_request req;
static struct hwpmc_encoding enc;

static void use(const struct real *r)
{
	const char *why;

	ck_assert_int_eq(hwpmc_intel_describe(&pmu, r->leaf_a, hwpmc_cputype_intel(r->model),
					      false, &why), 0);
	hwpmc_intel_describe_kinds(&pmu, kinds, hwpmc_intel_kinds_of(r->model));
	for (unsigned int i = 0; i < pmu.nkinds; i++)
		kinds[i].filtered = 0;
	iap = (struct hwpmc_class){ .id = HWPMC_CLASS_IAP, .num = pmu.gp_num, .priv = &pmu };
	iaf = (struct hwpmc_class){ .id = HWPMC_CLASS_IAF, .num = pmu.fixed_num,
				    .priv = &pmu };
	req = (struct hwpmc_request){
		.caps = HWPMC_CAP_USER, .flags = HWPMC_F_EV_PMU, .mode = HWPMC_MODE_TC,
		.cpu = HWPMC_CPU_ANY, .config = 0xc0,
	};
}

static void use_alder_lake(void)
{
	use(&reals[0]);
}

static void gives(const struct hwpmc_class *cls, u64 rows)
{
	int (*encode)(const struct hwpmc_class *, const struct hwpmc_request *,
		      struct hwpmc_encoding *) =
		cls == &iap ? hwpmc_iap_encode : hwpmc_iaf_encode;

	ck_assert_int_eq(encode(cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_ne(enc.select.sel, 0);
}

static void refuses(const struct hwpmc_class *cls, u32 why, s32 detail)
{
	int (*encode)(const struct hwpmc_class *, const struct hwpmc_request *,
		      struct hwpmc_encoding *) =
		cls == &iap ? hwpmc_iap_encode : hwpmc_iaf_encode;

	ck_assert_int_eq(encode(cls, &req, &enc), -EINVAL);
	ck_assert_uint_eq(enc.refusal.reason, why);
	ck_assert_int_eq(enc.refusal.detail, detail);
	ck_assert_uint_eq(enc.rows, 0);
}

START_TEST(each_cpu_of_real_machines_is_of_a_kind_with_its_counters)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(reals); i++) {
		use(&reals[i]);
		for (unsigned int k = 0; k < HWPMC_KINDS_MAX; k++) {
			const struct hwpmc_intel_pmu *p;

			if (!reals[i].cpu[k].kind)
				continue;
			p = hwpmc_intel_kind_of(&pmu, &reals[i].cpu[k].id);
			ck_assert_msg(p != NULL, "model %#x, kind %u", reals[i].model, k);
			ck_assert_uint_eq(p->kind, reals[i].cpu[k].kind);
			ck_assert_uint_eq(p->gp_map, reals[i].cpu[k].gp);
			ck_assert_uint_eq(p->fixed_map, reals[i].cpu[k].fixed);
		}
	}
}
END_TEST

/* Performance cores overflow too late where few events are left: each has a line. */
START_TEST(every_performance_core_is_armed_with_care)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(reals); i++) {
		use(&reals[i]);
		ck_assert_uint_eq(kinds[0].kind, HWPMC_KIND_CORE);
		ck_assert_msg(hwpmc_intel_arming(kinds[0].cputype, 0xc0).least == 32 &&
			      hwpmc_intel_arming(kinds[0].cputype, 0x1c0).least == 128,
			      "model %#x", reals[i].model);
	}
}
END_TEST

START_TEST(a_cpu_of_an_unknown_kind_or_with_less_is_refused)
{
	struct hwpmc_intel_cpuid id = reals[1].cpu[0].id;

	use(&reals[1]);
	ck_assert(hwpmc_intel_kind_of(&pmu, &id) == &kinds[0]);
	id.gp = 0x7f;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
	id.gp = 0x1ff;
	ck_assert(hwpmc_intel_kind_of(&pmu, &id) == &kinds[0]);
	id.fixed = 0x7;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
	id.fixed = 0xf;
	id.leaf_1a = 0x40000007;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
	id.leaf_1a = 0;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
	use(&reals[3]);
	id = reals[3].cpu[0].id;
	ck_assert(hwpmc_intel_kind_of(&pmu, &id) == &kinds[0]);
	id.bits = 1;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
	id.bits = 2;
	ck_assert(!hwpmc_intel_kind_of(&pmu, &id));
}
END_TEST

START_TEST(without_kinds_each_cpu_has_the_one_description)
{
	struct hwpmc_intel_pmu one = { .gp_map = 0xff };
	struct hwpmc_intel_cpuid id = { .leaf_1a = 0x40000001 };

	ck_assert(hwpmc_intel_kind_of(&one, &id) == &one);
	ck_assert(!hwpmc_intel_kinds_of(0xbe));
	ck_assert(!hwpmc_intel_kinds_of(0x55));
}
END_TEST

START_TEST(architectural_events_get_the_rows_that_all_kinds_have)
{
	static const u32 events[] = { 0xc0, 0x3c, 0x13c, 0x4f2e, 0x412e, 0xc4, 0xc5 };

	use_alder_lake();
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		req.config = events[i];
		gives(&iap, 0x3f);
	}
	use(&reals[3]);
	gives(&iap, 0xff);
}
END_TEST

START_TEST(an_event_of_one_kind_must_name_it)
{
	use_alder_lake();
	req.config = 0x81d0;
	refuses(&iap, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_CORE | HWPMC_KIND_ATOM);
	req.kinds = HWPMC_KIND_CORE;
	gives(&iap, 0x0f);
	req.kinds = HWPMC_KIND_ATOM;
	gives(&iap, 0x3f);
	req.kinds = HWPMC_KIND_CORE | HWPMC_KIND_ATOM;
	refuses(&iap, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_CORE | HWPMC_KIND_ATOM);
	req.kinds = 0;
	req.config = 0x1a4;		/* slots: performance cores alone */
	refuses(&iap, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_CORE);
	req.kinds = HWPMC_KIND_ATOM;
	refuses(&iap, HWPMC_WHY_EVENT_ROWS, 0);
	req.config = 0xc0;
	req.kinds = HWPMC_KIND_CORE;
	gives(&iap, 0xff);
}
END_TEST

START_TEST(fixed_counters_are_those_of_the_kinds)
{
	use(&reals[3]);
	req.flags = 0;
	for (u32 n = 0; n < 3; n++) {
		req.ev = HWPMC_EV_IAF_FIRST + n;
		gives(&iaf, BIT_ULL(n));
	}
	req.ev = HWPMC_EV_IAF_FIRST + 3;
	refuses(&iaf, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_CORE);
	req.ev = HWPMC_EV_IAF_FIRST + 5;
	refuses(&iaf, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_ATOM);
	req.kinds = HWPMC_KIND_ATOM;
	gives(&iaf, BIT_ULL(5));
	req.kinds = HWPMC_KIND_LOWPOWER;
	refuses(&iaf, HWPMC_WHY_EVENT_ROWS, 0);
	req.ev = HWPMC_EV_IAF_FIRST + 3;
	req.kinds = HWPMC_KIND_ATOM;
	refuses(&iaf, HWPMC_WHY_EVENT_ROWS, 0);
}
END_TEST

START_TEST(a_kind_that_the_machine_lacks_is_refused)
{
	use_alder_lake();
	req.kinds = HWPMC_KIND_LOWPOWER;
	refuses(&iap, HWPMC_WHY_KIND, HWPMC_KIND_CORE | HWPMC_KIND_ATOM);
	req.kinds = 1u << 31 | HWPMC_KIND_CORE;
	refuses(&iap, HWPMC_WHY_KIND, HWPMC_KIND_CORE | HWPMC_KIND_ATOM);
	pmu.nkinds = 0;			/* as where all CPUs are alike */
	req.kinds = HWPMC_KIND_CORE;
	refuses(&iap, HWPMC_WHY_KIND, 0);
	refuses(&iaf, HWPMC_WHY_KIND, 0);
}
END_TEST

START_TEST(in_system_scope_the_kind_is_that_of_the_cpu)
{
	use_alder_lake();
	req.mode = HWPMC_MODE_SC;
	req.cpu_kind = HWPMC_KIND_ATOM;
	req.config = 0x81d0;
	gives(&iap, 0x3f);
	req.kinds = HWPMC_KIND_CORE;
	refuses(&iap, HWPMC_WHY_CPU_KIND, HWPMC_KIND_ATOM);
	req.kinds = HWPMC_KIND_ATOM;
	gives(&iap, 0x3f);
}
END_TEST

START_TEST(bits_that_a_kind_lacks_are_refused)
{
	use(&reals[3]);
	req.config = 0x11c | 1ULL << 40;
	req.kinds = HWPMC_KIND_CORE;
	gives(&iap, 0x3ff);
	ck_assert_uint_eq(enc.select.sel & INTEL_SEL_UMASK2, 1ULL << 40);
	req.kinds = HWPMC_KIND_LOWPOWER;
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 40);
	req.config = 0x11c | INTEL_SEL_EQ;
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 36);
	req.config = 0xc0 | 1ULL << 40;
	req.kinds = HWPMC_KIND_CORE | HWPMC_KIND_ATOM;
	refuses(&iap, HWPMC_WHY_EVENT_KIND, HWPMC_KIND_CORE | HWPMC_KIND_ATOM);
	req.kinds = HWPMC_KIND_CORE;
	req.config = 0x11c | 1ULL << 37;
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 37);
	use_alder_lake();
	req.kinds = HWPMC_KIND_CORE;
	req.config = 0x11c | 1ULL << 40;
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 40);
}
END_TEST

START_TEST(registers_beside_the_select_are_those_of_the_kind)
{
	use_alder_lake();
	req.config = 0x12a;
	req.config1 = 0x10001;
	req.kinds = HWPMC_KIND_CORE;
	gives(&iap, 0x1);
	req.kinds = HWPMC_KIND_ATOM;
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 64);
	req.config = 0x1b7;
	gives(&iap, 0x1);
	kinds[1].filtered = ~0u;	/* no CPU of the kind has been seen */
	refuses(&iap, HWPMC_WHY_EVENT_BITS, 64);
}
END_TEST

START_TEST(a_counter_is_armed_as_the_most_careful_kind_needs)
{
	use_alder_lake();
	gives(&iap, 0x3f);
	ck_assert_uint_eq(enc.arming.least, 32);
	req.kinds = HWPMC_KIND_ATOM;
	gives(&iap, 0x3f);
	ck_assert_uint_eq(enc.arming.least, 0);
}
END_TEST

/* Clearwater Forest: leaf 0xA has eight counters and a map, leaf 0x23 the same and more. */
START_TEST(perfmon_6_with_cores_alike_is_described_by_leaf_23)
{
	static const u32 leaf[4] = { 0x0d300806, 0x80, 0x77, 0x8603 };
	struct hwpmc_intel_cpuid id = CPU(0x20000004, true, 0xff, 0x77, 3);
	const char *why;

	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, hwpmc_core_intel(0xdd), false, &why),
			 0);
	ck_assert_uint_eq(pmu.version, 6);
	hwpmc_intel_describe_more(&pmu, &id);
	ck_assert_uint_eq(pmu.gp_map, 0xff);
	ck_assert_uint_eq(pmu.gp_num, 8);
	ck_assert_uint_eq(pmu.fixed_map, 0x77);
	ck_assert_uint_eq(pmu.fixed_num, 7);
	ck_assert_uint_eq(pmu.more_bits, INTEL_SEL_UMASK2 | INTEL_SEL_EQ);
	ck_assert(!pmu.hides);
	id = (struct hwpmc_intel_cpuid) CPU(0x40000003, true, 0x2ff, 0x4f, 1);
	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, 0, false, &why), 0);
	hwpmc_intel_describe_more(&pmu, &id);
	ck_assert_uint_eq(pmu.gp_map, 0x2ff);
	ck_assert_uint_eq(pmu.gp_num, 10);
	ck_assert_uint_eq(pmu.fixed_map, 0x4f);
	ck_assert_uint_eq(pmu.fixed_num, 7);
	ck_assert_uint_eq(pmu.more_bits, INTEL_SEL_UMASK2);
	id.has_23 = false;
	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, 0, false, &why), 0);
	hwpmc_intel_describe_more(&pmu, &id);
	ck_assert_uint_eq(pmu.gp_map, 0xff);
	ck_assert_uint_eq(pmu.more_bits, 0);
}
END_TEST

/* Where the processor can, those of system scope alone: programs RDPMC their own. */
START_TEST(counters_of_system_scope_are_hidden_from_rdpmc_in_user_mode)
{
	static const u32 leaf[4] = { 0x0d300806, 0x80, 0x77, 0x8603 };
	struct hwpmc_intel_cpuid id = CPU(0x20000004, true, 0xff, 0x77, 7);
	static const u32 modes[] = { HWPMC_MODE_SC, HWPMC_MODE_SS, HWPMC_MODE_TC, HWPMC_MODE_TS };
	const char *why;

	iap = (struct hwpmc_class){ .id = HWPMC_CLASS_IAP, .num = 8, .priv = &pmu };
	iaf = (struct hwpmc_class){ .id = HWPMC_CLASS_IAF, .num = 7, .priv = &pmu };
	req = (struct hwpmc_request){
		.caps = HWPMC_CAP_USER, .flags = HWPMC_F_EV_PMU, .config = 0xc0,
	};
	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, hwpmc_core_intel(0xdd), false, &why),
			 0);
	for (unsigned int hides = 0; hides < 2; hides++) {
		id.bits = hides ? 7 : 3;
		pmu.hides = false;
		hwpmc_intel_describe_more(&pmu, &id);
		for (unsigned int i = 0; i < 4; i++) {
			bool hidden = hides && i < 2;

			req.mode = modes[i];
			ck_assert_int_eq(hwpmc_iap_encode(&iap, &req, &enc), 0);
			ck_assert_int_eq(enc.hidden, hidden);
			ck_assert_int_eq(!!(enc.select.sel & 1ULL << 37), hidden);
			ck_assert_int_eq(hwpmc_iaf_encode(&iaf, &req, &enc), 0);
			ck_assert_int_eq(enc.hidden, hidden);
			ck_assert_int_eq(!!(enc.select.sel & 1ULL << 33), hidden);
		}
	}
}
END_TEST

/* Before version 6 leaf 0xA is right for machines with cores alike (Granite Rapids). */
START_TEST(before_perfmon_6_leaf_23_changes_nothing)
{
	static const u32 leaf[4] = { 0x08300805, 0, 0xf, 0x8604 };
	const struct hwpmc_intel_cpuid id = CPU(0x40000002, true, 0x3ff, 0x7f, 3);
	const char *why;

	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, hwpmc_core_intel(0xad), false, &why),
			 0);
	hwpmc_intel_describe_more(&pmu, &id);
	ck_assert_uint_eq(pmu.gp_map, 0xff);
	ck_assert_uint_eq(pmu.fixed_map, 0xf);
	ck_assert_uint_eq(pmu.more_bits, 0);
}
END_TEST

int main(void)
{
	harness_add(each_cpu_of_real_machines_is_of_a_kind_with_its_counters);
	harness_add(every_performance_core_is_armed_with_care);
	harness_add(a_cpu_of_an_unknown_kind_or_with_less_is_refused);
	harness_add(without_kinds_each_cpu_has_the_one_description);
	harness_add(architectural_events_get_the_rows_that_all_kinds_have);
	harness_add(an_event_of_one_kind_must_name_it);
	harness_add(fixed_counters_are_those_of_the_kinds);
	harness_add(a_kind_that_the_machine_lacks_is_refused);
	harness_add(in_system_scope_the_kind_is_that_of_the_cpu);
	harness_add(bits_that_a_kind_lacks_are_refused);
	harness_add(registers_beside_the_select_are_those_of_the_kind);
	harness_add(a_counter_is_armed_as_the_most_careful_kind_needs);
	harness_add(perfmon_6_with_cores_alike_is_described_by_leaf_23);
	harness_add(before_perfmon_6_leaf_23_changes_nothing);
	harness_add(counters_of_system_scope_are_hidden_from_rdpmc_in_user_mode);
	return harness_run();
}
