// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_intel.c - CPUID leaf 0xA to a description, and requests to selects of
 * Intel's programmable and fixed counters. Each refused request differs from
 * an accepted one in the one thing that is refused.
 */
#include "backends/cputype.h"
#include "backends/intel_encode.h"
#include "backends/intel_regs.h"
#include "harness.h"

/* Skylake server: version 4, 8 of 48 bits, 3 fixed. */
static const u32 skylake_leaf[4] = { 0x07300804, 0, 0, 0x00000603 };

static struct hwpmc_intel_pmu pmu;
static struct hwpmc_class cls;
static struct hwpmc_request req;
static struct hwpmc_encoding enc;
static const char *why;

static void use_pmu(const u32 leaf[4], u32 cputype)
{
	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, cputype, false, &why),
			 0);
	cls = (struct hwpmc_class){ .num = pmu.gp_num, .priv = &pmu };
}

static void use_fixed(void)
{
	cls.num = pmu.fixed_num;
}

/* User and kernel instructions, process scope. */
static void setup(void)
{
	use_pmu(skylake_leaf, HWPMC_CPU_SKYLAKE_XEON);
	req = (struct hwpmc_request){
		.caps = HWPMC_CAP_USER | HWPMC_CAP_SYSTEM,
		.flags = HWPMC_F_EV_PMU,
		.mode = HWPMC_MODE_TC,
		.config = 0xc0,
	};
	memset(&enc, 0xff, sizeof(enc));
}

static void iap_gives(u64 sel, u64 rows)
{
	ck_assert_int_eq(hwpmc_iap_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, sel);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_NONE);
	ck_assert_int_eq(enc.refusal.detail, 0);
}

static void refused(int got, int err, u32 reason, s32 detail)
{
	ck_assert_int_eq(got, err);
	ck_assert_uint_eq(enc.refusal.reason, reason);
	ck_assert_int_eq(enc.refusal.detail, detail);
	ck_assert_uint_eq(enc.rows, 0);
	ck_assert_uint_eq(enc.select.sel, 0);
	ck_assert_uint_eq(enc.select.extra, 0);
}

static void iap_refuses(int err, u32 reason, s32 detail)
{
	refused(hwpmc_iap_encode(&cls, &req, &enc), err, reason, detail);
}

static void iaf_gives(u64 sel, u64 rows)
{
	ck_assert_int_eq(hwpmc_iaf_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, sel);
	ck_assert_uint_eq(enc.select.extra, 0);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_NONE);
}

static void iaf_refuses(int err, u32 reason, s32 detail)
{
	refused(hwpmc_iaf_encode(&cls, &req, &enc), err, reason, detail);
}

/* ---------------------------------------------------------------------- */
/* CPUID                                                                    */

START_TEST(intel_leaf_of_skylake_is_read_right)
{
	ck_assert_uint_eq(pmu.version, 4);
	ck_assert_uint_eq(pmu.gp_num, 8);
	ck_assert_uint_eq(pmu.gp_width, 48);
	ck_assert_uint_eq(pmu.fixed_num, 3);
	ck_assert_uint_eq(pmu.fixed_map, 7);
	ck_assert_uint_eq(pmu.fixed_width, 48);
	ck_assert(pmu.any_thread);
	ck_assert_uint_eq(pmu.missing, 0);
}
END_TEST

/* A hypervisor may say anything: 141 architectural events in a word of 32 bits. */
START_TEST(intel_leaf_of_more_events_than_a_word_has_bits_is_read)
{
	u32 leaf[4] = { 0x8d300805, 0x80, 0, 0x00010001 };

	use_pmu(leaf, HWPMC_CPU_SKYLAKE_XEON);
	ck_assert_uint_eq(pmu.gp_num, 8);
	ck_assert_uint_eq(pmu.missing, 0x80);
}
END_TEST

START_TEST(intel_leaf_of_version_1_has_no_fixed_counters)
{
	u32 leaf[4] = { 0x07280201, 0, 0, 0x00000503 };

	use_pmu(leaf, HWPMC_CPU_CORE);
	ck_assert_uint_eq(pmu.gp_num, 2);
	ck_assert_uint_eq(pmu.gp_width, 40);
	ck_assert_uint_eq(pmu.fixed_num, 0);
	ck_assert_uint_eq(pmu.fixed_map, 0);
	ck_assert(!pmu.any_thread);
}
END_TEST

START_TEST(intel_leaf_of_version_5_has_fixed_counters_by_bitmap)
{
	/* counters 0 to 2 by number, 5 by bitmap: 3 and 4 are not there */
	u32 leaf[4] = { 0x08300805, 0, 0x20, 0x00008603 };

	use_pmu(leaf, HWPMC_CPU_ICELAKE);
	ck_assert_uint_eq(pmu.fixed_map, 0x27);
	ck_assert_uint_eq(pmu.fixed_num, 6);
	ck_assert(!pmu.any_thread);
}
END_TEST

START_TEST(intel_bitmap_of_fixed_counters_means_nothing_before_version_5)
{
	u32 leaf[4] = { 0x07300804, 0, 0x20, 0x00000603 };

	use_pmu(leaf, HWPMC_CPU_SKYLAKE);
	ck_assert_uint_eq(pmu.fixed_map, 7);
}
END_TEST

START_TEST(intel_version_2_without_fixed_counters_has_three_on_bare_metal)
{
	u32 leaf[4] = { 0x07280202, 0, 0, 0x00000500 };

	use_pmu(leaf, HWPMC_CPU_CORE2);
	ck_assert_uint_eq(pmu.fixed_num, 3);
	ck_assert_int_eq(hwpmc_intel_describe(&pmu, leaf, HWPMC_CPU_CORE2, true,
					      &why), 0);
	ck_assert_uint_eq(pmu.fixed_num, 0);
}
END_TEST

START_TEST(intel_fixed_width_of_nothing_is_that_of_the_others)
{
	u32 leaf[4] = { 0x07280202, 0, 0, 0x00000003 };

	use_pmu(leaf, HWPMC_CPU_CORE2);
	ck_assert_uint_eq(pmu.fixed_width, 40);
}
END_TEST

START_TEST(intel_any_thread_is_for_versions_3_and_4_unless_deprecated)
{
	for (u32 version = 1; version <= 5; version++)
		for (u32 gone = 0; gone < 2; gone++) {
			u32 leaf[4] = { 0x07300800 | version, 0, 0,
					0x603 | gone << 15 };

			use_pmu(leaf, HWPMC_CPU_GENERIC);
			ck_assert_int_eq(pmu.any_thread, !gone &&
					 (version == 3 || version == 4));
		}
}
END_TEST

START_TEST(intel_leaf_that_cannot_be_is_not_used)
{
	static const struct { int err; u32 leaf[4]; } bad[] = {
		{ -ENODEV, { 0, 0, 0, 0 } },			/* no PMU */
		{ -EOPNOTSUPP, { 0x07300807, 0, 0, 0x603 } },	/* version 7 */
		{ -EOPNOTSUPP, { 0x073008ff, 0, 0, 0x603 } },
		{ -EINVAL, { 0x07300004, 0, 0, 0x603 } },	/* no counters */
		{ -EINVAL, { 0x07301104, 0, 0, 0x603 } },	/* 17 */
		{ -EINVAL, { 0x0730ff04, 0, 0, 0x603 } },	/* 255 */
		{ -EINVAL, { 0x071f0804, 0, 0, 0x603 } },	/* 31 bits */
		{ -EINVAL, { 0x07410804, 0, 0, 0x603 } },	/* 65 bits */
		{ -EINVAL, { 0x07000804, 0, 0, 0x603 } },	/* 0 bits */
		{ -EINVAL, { 0x07300804, 0, 0, 0x611 } },	/* 17 fixed */
		{ -EINVAL, { 0x07300805, 0, ~0u, 0x603 } },	/* 32 fixed */
		{ -EINVAL, { 0x07300804, 0, 0, 0x3e3 } },	/* of 31 bits */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		why = NULL;
		ck_assert_int_eq(hwpmc_intel_describe(&pmu, bad[i].leaf,
						      HWPMC_CPU_SKYLAKE, false,
						      &why), bad[i].err);
		ck_assert(bad[i].err == -ENODEV || why);
	}
}
END_TEST

START_TEST(intel_leaf_at_the_limits_is_used)
{
	static const u32 good[][4] = {
		{ 0x07300104, 0, 0, 0x603 }, { 0x07301004, 0, 0, 0x603 },
		{ 0x07200804, 0, 0, 0x403 }, { 0x07400804, 0, 0, 0x803 },
		{ 0x07300804, 0, 0, 0x610 }, { 0x07300805, 0, 0xffff, 0x610 },
		{ 0x0d300806, 0x280, 7, 0x8603 },	/* version 6 */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(good); i++)
		use_pmu(good[i], HWPMC_CPU_SKYLAKE);
}
END_TEST

/* ---------------------------------------------------------------------- */
/* Programmable counters                                                    */

START_TEST(iap_select_has_the_modes_that_were_asked)
{
	iap_gives(0x4300c0, 0xff);
	req.caps = HWPMC_CAP_USER;
	iap_gives(0x4100c0, 0xff);
	req.caps = HWPMC_CAP_SYSTEM;
	iap_gives(0x4200c0, 0xff);
}
END_TEST

START_TEST(iap_select_has_every_field_of_the_request)
{
	req.config = 0xff84fe3c;	/* threshold, invert, edge, umask, event */
	iap_gives(0xffc7fe3c, 0xff);
	req.config = 0x02000001;
	iap_gives(0x02430001, 0xff);
}
END_TEST

static void arming_is(u32 cputype, u64 config, unsigned int least, unsigned int unit)
{
	struct hwpmc_arming arming;

	pmu.cputype = cputype;
	req.config = config;
	ck_assert_msg(!hwpmc_iap_encode(&cls, &req, &enc), "model %x, event %lx: %u",
		      cputype, config, enc.refusal.reason);
	arming = enc.arming;
	ck_assert_uint_eq(arming.least, least);
	ck_assert_uint_eq(arming.unit, unit);
}

START_TEST(iap_is_armed_as_far_from_its_overflow_as_the_model_needs)
{
	arming_is(HWPMC_CPU_COREI7, 0xc0, 32, 0);
	arming_is(HWPMC_CPU_WESTMERE_EX, 0xc0, 32, 0);
	arming_is(HWPMC_CPU_SANDYBRIDGE, 0x1c0, 0, 0);
	arming_is(HWPMC_CPU_HASWELL, 0xc0, 32, 0);
	arming_is(HWPMC_CPU_HASWELL_XEON, 0x1c0, 128, 0);
	arming_is(HWPMC_CPU_BROADWELL, 0xc0, 0, 0);
	arming_is(HWPMC_CPU_BROADWELL_XEON, 0x1c0, 128, 64);
	arming_is(HWPMC_CPU_SKYLAKE, 0x1c0, 0, 0);
	arming_is(HWPMC_CPU_SAPPHIRE_RAPIDS, 0x3c, 32, 0);
	/* Flags of an event change nothing. */
	arming_is(HWPMC_CPU_HASWELL, 0x18401c0, 128, 0);
	/* There the event is of fixed counter 0 alone. */
	pmu.cputype = HWPMC_CPU_SAPPHIRE_RAPIDS;
	req.config = 0x1c0;
	ck_assert_int_eq(hwpmc_iaf_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.arming.least, 128);
}
END_TEST

START_TEST(events_that_need_the_core_for_one_thread_are_those_of_the_errata)
{
	static const u32 memory[] = {
		HWPMC_CPU_SANDYBRIDGE, HWPMC_CPU_SANDYBRIDGE_XEON, HWPMC_CPU_IVYBRIDGE,
		HWPMC_CPU_IVYBRIDGE_XEON, HWPMC_CPU_HASWELL, HWPMC_CPU_HASWELL_XEON,
	};
	static const u32 offcore[] = {
		HWPMC_CPU_COREI7, HWPMC_CPU_NEHALEM_EX, HWPMC_CPU_WESTMERE,
		HWPMC_CPU_WESTMERE_EX,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(memory); i++)
		for (u64 code = 0; code < 256; code++)
			ck_assert_int_eq(hwpmc_intel_is_shared(memory[i], 0x8100 | code),
					 code >= 0xd0 && code <= 0xd3);
	for (unsigned int i = 0; i < ARRAY_SIZE(offcore); i++) {
		ck_assert(hwpmc_intel_is_shared(offcore[i], 0x4301b7));
		ck_assert(hwpmc_intel_is_shared(offcore[i], 0x4301bb));
		ck_assert(!hwpmc_intel_is_shared(offcore[i], 0x4381d0));
		ck_assert(!hwpmc_intel_is_shared(offcore[i], 0x4302b7));
	}
	ck_assert(!hwpmc_intel_is_shared(HWPMC_CPU_SKYLAKE, 0x81d0));
	ck_assert(!hwpmc_intel_is_shared(HWPMC_CPU_SKYLAKE, 0x01b7));
}
END_TEST

START_TEST(iap_event_that_threads_share_has_scope_core)
{
	setup();
	req.config = 0x81d0;
	ck_assert_int_eq(hwpmc_iap_encode(&cls, &req, &enc), 0);
	ck_assert_int_eq(enc.scope, HWPMC_SCOPE_THREAD);
	pmu.cputype = HWPMC_CPU_HASWELL;
	ck_assert_int_eq(hwpmc_iap_encode(&cls, &req, &enc), 0);
	ck_assert_int_eq(enc.scope, HWPMC_SCOPE_CORE);
	req.config = 0xc0;
	ck_assert_int_eq(hwpmc_iap_encode(&cls, &req, &enc), 0);
	ck_assert_int_eq(enc.scope, HWPMC_SCOPE_THREAD);
}
END_TEST

START_TEST(iap_never_asks_for_interrupts_when_counting)
{
	req.caps |= HWPMC_CAP_INTERRUPT;
	iap_gives(0x4300c0, 0xff);
	ck_assert_uint_eq(enc.select.sel & 1 << 20, 0);
}
END_TEST

START_TEST(iap_names_each_reserved_bit)
{
	for (int bit = 16; bit < 64; bit++) {
		if (bit == 18 || (bit >= 23 && bit <= 31))
			continue;
		req.config = 0xc0 | 1ULL << bit;
		iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, bit);
	}
}
END_TEST

START_TEST(iap_names_the_lowest_of_several_reserved_bits)
{
	req.config = 0xc0 | 1ULL << 22 | 1ULL << 63 | 1ULL << 20;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 20);
}
END_TEST

START_TEST(iap_counts_any_thread_in_system_scope_alone)
{
	req.config = 0x2000c0;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 21);
	req.mode = HWPMC_MODE_SC;
	iap_gives(0x6300c0, 0xff);
}
END_TEST

START_TEST(iap_counts_any_thread_only_where_the_pmu_can)
{
	req.config = 0x2000c0;
	req.mode = HWPMC_MODE_SC;
	for (u32 version = 1; version <= 5; version++) {
		u32 leaf[4] = { 0x07300800 | version, 0, 0, 0x603 };

		use_pmu(leaf, HWPMC_CPU_GENERIC);
		if (version == 3 || version == 4)
			iap_gives(0x6300c0, 0xff);
		else
			iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 21);
	}
}
END_TEST

START_TEST(iap_interrupts_where_it_samples_and_nowhere_else)
{
	req.mode = HWPMC_MODE_TS;
	iap_gives(0x5300c0, 0xff);
	req.mode = HWPMC_MODE_SS;
	iap_gives(0x5300c0, 0xff);
	req.mode = HWPMC_MODE_SC;
	iap_gives(0x4300c0, 0xff);
	req.mode = HWPMC_MODE_TC;
	iap_gives(0x4300c0, 0xff);
}
END_TEST

START_TEST(iap_has_no_event_numbers)
{
	req.flags = 0;
	req.ev = HWPMC_EV_IAF_FIRST;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
}
END_TEST

START_TEST(iap_cannot_count_the_events_of_fixed_counters)
{
	for (u32 umask = 0; umask <= 0xff; umask++) {
		req.config = umask << 8;
		iap_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	}
}
END_TEST

START_TEST(iap_refuses_architectural_events_that_cpuid_denies)
{
	static const u32 codes[] = {
		0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		u32 leaf[4] = { 0x07300804, 1u << i, 0, 0x603 };

		use_pmu(leaf, HWPMC_CPU_GENERIC);
		for (unsigned int k = 0; k < ARRAY_SIZE(codes); k++) {
			req.config = codes[k];
			if (i == k)
				iap_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
			else
				iap_gives(0x430000 | codes[k], 0xff);
		}
	}
}
END_TEST

START_TEST(iap_believes_cpuid_only_as_far_as_it_goes)
{
	/* seven bits are valid; the eighth is set all the same */
	u32 leaf[4] = { 0x07300804, 0x80, 0, 0x603 };

	use_pmu(leaf, HWPMC_CPU_GENERIC);
	req.config = 0x01a4;
	iap_gives(0x4301a4, 0xff);
	leaf[0] = 0x08300804;
	use_pmu(leaf, HWPMC_CPU_GENERIC);
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
}
END_TEST

START_TEST(iap_offers_only_rows_that_exist)
{
	for (u32 num = 1; num <= 16; num++) {
		u32 leaf[4] = { 0x07300004 | num << 8, 0, 0, 0x603 };

		use_pmu(leaf, HWPMC_CPU_GENERIC);
		iap_gives(0x4300c0, (1ULL << num) - 1);
	}
}
END_TEST

START_TEST(iap_keeps_to_the_rows_of_the_model)
{
	static const struct { u32 cputype, config; u64 rows; } known[] = {
		{ HWPMC_CPU_CORE2, 0x00cb, 0x01 },
		{ HWPMC_CPU_CORE2, 0x0012, 0x02 },
		{ HWPMC_CPU_CORE2, 0x00c0, 0xff },
		{ HWPMC_CPU_COREI7, 0x0140, 0x03 },
		{ HWPMC_CPU_COREI7, 0x0f63, 0x03 },
		{ HWPMC_CPU_WESTMERE, 0x0160, 0x01 },
		{ HWPMC_CPU_WESTMERE, 0x0140, 0xff },
		{ HWPMC_CPU_SANDYBRIDGE, 0x02a3, 0x04 },
		{ HWPMC_CPU_SANDYBRIDGE, 0x04a3, 0x0f },
		{ HWPMC_CPU_IVYBRIDGE, 0x0ca3, 0x04 },
		{ HWPMC_CPU_IVYBRIDGE, 0x0148, 0x04 },
		{ HWPMC_CPU_IVYBRIDGE, 0x0248, 0xff },
		{ HWPMC_CPU_HASWELL, 0x02cd, 0x08 },
		{ HWPMC_CPU_HASWELL_XEON, 0x01c0, 0x02 },
		{ HWPMC_CPU_BROADWELL_XEON, 0x08a3, 0x04 },
		{ HWPMC_CPU_SKYLAKE, 0x01c0, 0x02 },
		{ HWPMC_CPU_SKYLAKE_XEON, 0x81d0, 0x0f },
		{ HWPMC_CPU_SKYLAKE_XEON, 0x02c0, 0xff },
		{ HWPMC_CPU_ICELAKE, 0x04a3, 0xff },
		{ HWPMC_CPU_ICELAKE, 0x05a3, 0x0f },
		{ HWPMC_CPU_ICELAKE_XEON, 0x0148, 0x0f },
		{ HWPMC_CPU_SAPPHIRE_RAPIDS, 0x4f2e, 0xff },
		{ HWPMC_CPU_SAPPHIRE_RAPIDS, 0x0f24, 0x0f },
		{ HWPMC_CPU_SAPPHIRE_RAPIDS, 0x008f, 0x0f },
		{ HWPMC_CPU_SAPPHIRE_RAPIDS, 0x0090, 0xff },
		{ HWPMC_CPU_SAPPHIRE_RAPIDS, 0x08a4, 0x01 },
		{ HWPMC_CPU_EMERALD_RAPIDS, 0x02ce, 0x01 },
		{ HWPMC_CPU_GRANITE_RAPIDS, 0x00c4, 0xff },
		{ HWPMC_CPU_ATOM_GOLDMONT, 0x81d0, 0xff },
		{ HWPMC_CPU_GENERIC, 0x412e, 0xff },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		use_pmu(skylake_leaf, known[i].cputype);
		req.config = known[i].config;
		iap_gives(0x430000 | known[i].config, known[i].rows);
	}
}
END_TEST

START_TEST(iap_event_that_only_a_missing_row_could_count_is_refused)
{
	u32 leaf[4] = { 0x07300204, 0, 0, 0x603 };

	/* L1D_PEND_MISS needs row 2; a hypervisor left two rows */
	use_pmu(leaf, HWPMC_CPU_HASWELL);
	req.config = 0x0148;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	use_pmu(leaf, HWPMC_CPU_ICELAKE);
	req.config = 0x01c0;	/* only on the fixed counter */
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	req.config = 0x018001c0;	/* another event by its modifiers */
	iap_gives(0x01c301c0, 0x3);
}
END_TEST

START_TEST(offcore_events_carry_their_response_bits_each_on_its_own_row)
{
	req.config = 0x01b7;
	req.config1 = 0x3f80408fffULL;
	iap_gives(0x4301b7, 1 << 0);
	ck_assert_uint_eq(enc.select.extra, 0x3f80408fffULL);
	ck_assert_int_eq(hwpmc_intel_extra(&pmu, enc.select.sel)->reg, HWPMC_INTEL_RSP0);
	req.config = 0x01bb;
	iap_gives(0x4301bb, 1 << 3);
	ck_assert_uint_eq(enc.select.extra, 0x3f80408fffULL);
	ck_assert_int_eq(hwpmc_intel_extra(&pmu, enc.select.sel)->reg, HWPMC_INTEL_RSP1);
}
END_TEST

START_TEST(snoop_events_of_crestmont_carry_their_response_bits)
{
	u32 leaf[4] = { 0x07300805, 0, 0, 0x603 };

	use_pmu(leaf, HWPMC_CORE_CRESTMONT);
	req.config = 0x0127;
	req.config1 = 0;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
	req.config1 = ~0ULL;
	iap_gives(0x430127, 1 << 1);
	ck_assert_uint_eq(enc.select.extra, ~0ULL);
	ck_assert_int_eq(hwpmc_intel_extra(&pmu, enc.select.sel)->reg, HWPMC_INTEL_SNOOP0);
	req.config = 0x0227;
	iap_gives(0x430227, 1 << 2);
	ck_assert_int_eq(hwpmc_intel_extra(&pmu, enc.select.sel)->reg, HWPMC_INTEL_SNOOP1);
}
END_TEST

START_TEST(offcore_events_fit_a_pmu_of_two_or_three_rows)
{
	for (u32 num = 2; num <= 3; num++) {
		u32 leaf[4] = { 0x07300004 | num << 8, 0, 0, 0x603 };

		use_pmu(leaf, HWPMC_CPU_SKYLAKE_XEON);
		req.config1 = 1;
		req.config = 0x01b7;
		iap_gives(0x4301b7, 1 << 0);
		req.config = 0x01bb;
		iap_gives(0x4301bb, 1 << (num - 1));
	}
}
END_TEST

START_TEST(offcore_response_bits_that_do_not_exist_are_named)
{
	req.config = 0x01b7;
	for (int bit = 0; bit < 64; bit++) {
		req.config1 = 1ULL << bit;
		if (0x3fffff8fffULL >> bit & 1)
			iap_gives(0x4301b7, 1);
		else
			iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + bit);
	}
}
END_TEST

START_TEST(offcore_event_without_response_bits_is_refused)
{
	req.config = 0x01b7;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
	req.config1 = 1;
	iap_gives(0x4301b7, 1);
}
END_TEST

START_TEST(response_bits_with_an_event_that_has_none_are_refused)
{
	req.config1 = 1ULL << 16;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 16);
	/* nor the other register's event on models that have one */
	use_pmu(skylake_leaf, HWPMC_CPU_COREI7);
	req.config = 0x01bb;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 16);
	/* nor where the model is not known */
	use_pmu(skylake_leaf, HWPMC_CPU_GENERIC);
	req.config = 0x01b7;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 16);
}
END_TEST

/* FRONTEND_RETIRED and what shares its register. */
START_TEST(events_of_the_front_end_carry_their_filter_on_the_second_row)
{
	req.config = 0x01c6;
	req.config1 = 0x400106;
	iap_gives(0x4301c6, 1 << 1);
	ck_assert_uint_eq(enc.select.extra, 0x400106);
	ck_assert_int_eq(hwpmc_intel_extra(&pmu, enc.select.sel)->reg, HWPMC_INTEL_FRONTEND);
	req.config1 = 0x8;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 3);
	req.config1 = 0;	/* what the register held before would filter it */
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
	use_pmu(skylake_leaf, HWPMC_CPU_GRANITE_RAPIDS);
	req.config = 0x04c2;
	req.config1 = 0x8;
	iap_gives(0x4304c2, 1 << 1);
	req.config = 0x03c6;
	req.config1 = 0x7fff1f;
	iap_gives(0x4303c6, 1 << 1);
}
END_TEST

START_TEST(events_of_a_register_that_faults_are_refused)
{
	req.config = 0x01c6;
	req.config1 = 0x11;
	pmu.filtered = 1 << HWPMC_INTEL_FRONTEND;
	iap_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64);
	req.config = 0x01b7;	/* the other registers work */
	iap_gives(0x4301b7, 1 << 0);
}
END_TEST

START_TEST(events_that_count_for_precise_samples_alone_are_refused)
{
	static const struct { u32 cputype, config; } latency[] = {
		{ HWPMC_CPU_COREI7, 0x100b }, { HWPMC_CPU_WESTMERE, 0x100b },
		{ HWPMC_CPU_SANDYBRIDGE, 0x01cd }, { HWPMC_CPU_HASWELL, 0x01cd },
		{ HWPMC_CPU_SKYLAKE_XEON, 0x01cd }, { HWPMC_CPU_ICELAKE, 0x01cd },
		{ HWPMC_CPU_GRANITE_RAPIDS, 0x01cd }, { HWPMC_CPU_ALDERLAKEN, 0x05d0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(latency); i++) {
		use_pmu(skylake_leaf, latency[i].cputype);
		req.config = latency[i].config;
		for (req.config1 = 0; req.config1 < 8; req.config1 += 4)
			iap_refuses(-EINVAL, HWPMC_WHY_EVENT_PRECISE, 0);
	}
}
END_TEST

/* TSX force abort. */
START_TEST(no_event_gets_a_counter_that_microcode_uses)
{
	pmu.withheld = 1 << 3;
	req.config = 0xc0;
	iap_gives(0x4300c0, 0xff & ~(1 << 3));
}
END_TEST

/* ---------------------------------------------------------------------- */
/* Fixed counters                                                           */

START_TEST(iaf_field_has_the_modes_that_were_asked)
{
	use_fixed();
	iaf_gives(3, 1);
	req.caps = HWPMC_CAP_USER;
	iaf_gives(2, 1);
	req.caps = HWPMC_CAP_SYSTEM | HWPMC_CAP_INTERRUPT;
	iaf_gives(1, 1);
}
END_TEST

START_TEST(iaf_codes_lead_to_their_counter)
{
	static const struct { u32 config; int n; } codes[] = {
		{ 0x00c0, 0 }, { 0x01c0, 0 }, { 0x0100, 0 },
		{ 0x003c, 1 }, { 0x0200, 1 },
		{ 0x013c, 2 }, { 0x0300, 2 },
		{ 0x01a4, 3 }, { 0x0400, 3 },
		{ 0x0500, 4 }, { 0x1000, 15 },
	};
	u32 leaf[4] = { 0x08300805, 0, 0xffff, 0x610 };

	use_pmu(leaf, HWPMC_CPU_ICELAKE);
	use_fixed();
	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		req.config = codes[i].config;
		iaf_gives(3, 1ULL << codes[i].n);
	}
}
END_TEST

START_TEST(iaf_event_numbers_lead_to_their_counter)
{
	req.flags = 0;
	req.config = 0;
	use_fixed();
	for (int n = 0; n < 3; n++) {
		req.ev = HWPMC_EV_IAF_FIRST + n;
		iaf_gives(3, 1ULL << n);
	}
}
END_TEST

START_TEST(iaf_knows_no_other_codes_and_numbers)
{
	static const u32 codes[] = {
		0x0000, 0x1100, 0xff00, 0x02c0, 0x023c, 0x00a4, 0x02a4, 0x00c4,
		0x4f2e, 0x0001,
	};

	use_fixed();
	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++) {
		req.config = codes[i];
		iaf_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
	}
	req.flags = 0;
	for (int i = 0; i < 3; i++) {
		req.ev = (u32[]){ 0, HWPMC_EV_IAF_FIRST - 1,
				  HWPMC_EV_IAF_FIRST + 16 }[i];
		iaf_refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
	}
}
END_TEST

START_TEST(iaf_names_each_reserved_bit)
{
	use_fixed();
	for (int bit = 16; bit < 64; bit++) {
		req.config = 0xc0 | 1ULL << bit;
		iaf_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, bit);
	}
	req.config = 0xc0;
	req.config1 = 1ULL << 9;
	iaf_refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 9);
}
END_TEST

START_TEST(iaf_counter_that_is_not_there_is_refused)
{
	u32 leaf[4] = { 0x08300805, 0, 0x20, 0x00008603 };

	use_fixed();
	req.config = 0x01a4;	/* slots: a fourth counter */
	iaf_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	use_pmu(leaf, HWPMC_CPU_ICELAKE);
	use_fixed();
	iaf_refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);	/* a gap */
	req.config = 0x0600;
	iaf_gives(3, 1 << 5);
}
END_TEST

START_TEST(iaf_interrupts_where_it_samples_and_nowhere_else)
{
	use_fixed();
	req.mode = HWPMC_MODE_SS;
	iaf_gives(0xb, 1);
	req.mode = HWPMC_MODE_TS;
	iaf_gives(0xb, 1);
	req.mode = HWPMC_MODE_TC;
	iaf_gives(3, 1);
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(intel_leaf_of_skylake_is_read_right);
	harness_add(intel_leaf_of_more_events_than_a_word_has_bits_is_read);
	harness_add(intel_leaf_of_version_1_has_no_fixed_counters);
	harness_add(intel_leaf_of_version_5_has_fixed_counters_by_bitmap);
	harness_add(intel_bitmap_of_fixed_counters_means_nothing_before_version_5);
	harness_add(intel_version_2_without_fixed_counters_has_three_on_bare_metal);
	harness_add(intel_fixed_width_of_nothing_is_that_of_the_others);
	harness_add(intel_any_thread_is_for_versions_3_and_4_unless_deprecated);
	harness_add(intel_leaf_that_cannot_be_is_not_used);
	harness_add(intel_leaf_at_the_limits_is_used);
	harness_add(iap_select_has_the_modes_that_were_asked);
	harness_add(iap_select_has_every_field_of_the_request);
	harness_add(iap_is_armed_as_far_from_its_overflow_as_the_model_needs);
	harness_add(events_that_need_the_core_for_one_thread_are_those_of_the_errata);
	harness_add(iap_event_that_threads_share_has_scope_core);
	harness_add(iap_never_asks_for_interrupts_when_counting);
	harness_add(iap_names_each_reserved_bit);
	harness_add(iap_names_the_lowest_of_several_reserved_bits);
	harness_add(iap_counts_any_thread_in_system_scope_alone);
	harness_add(iap_counts_any_thread_only_where_the_pmu_can);
	harness_add(iap_interrupts_where_it_samples_and_nowhere_else);
	harness_add(iap_has_no_event_numbers);
	harness_add(iap_cannot_count_the_events_of_fixed_counters);
	harness_add(iap_refuses_architectural_events_that_cpuid_denies);
	harness_add(iap_believes_cpuid_only_as_far_as_it_goes);
	harness_add(iap_offers_only_rows_that_exist);
	harness_add(iap_keeps_to_the_rows_of_the_model);
	harness_add(iap_event_that_only_a_missing_row_could_count_is_refused);
	harness_add(offcore_events_carry_their_response_bits_each_on_its_own_row);
	harness_add(snoop_events_of_crestmont_carry_their_response_bits);
	harness_add(offcore_events_fit_a_pmu_of_two_or_three_rows);
	harness_add(offcore_response_bits_that_do_not_exist_are_named);
	harness_add(offcore_event_without_response_bits_is_refused);
	harness_add(events_of_the_front_end_carry_their_filter_on_the_second_row);
	harness_add(events_of_a_register_that_faults_are_refused);
	harness_add(events_that_count_for_precise_samples_alone_are_refused);
	harness_add(no_event_gets_a_counter_that_microcode_uses);
	harness_add(response_bits_with_an_event_that_has_none_are_refused);
	harness_add(iaf_field_has_the_modes_that_were_asked);
	harness_add(iaf_codes_lead_to_their_counter);
	harness_add(iaf_event_numbers_lead_to_their_counter);
	harness_add(iaf_knows_no_other_codes_and_numbers);
	harness_add(iaf_names_each_reserved_bit);
	harness_add(iaf_counter_that_is_not_there_is_refused);
	harness_add(iaf_interrupts_where_it_samples_and_nowhere_else);
	return harness_run();
}
