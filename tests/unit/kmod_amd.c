// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_amd.c - CPUID to a description, and requests to PERF_CTL values, of AMD's
 * core counters. Each refused request differs from an accepted one in the one
 * thing that is refused.
 */
#include "backends/amd_encode.h"
#include "harness.h"

static struct hwpmc_amd_pmu pmu;
static struct hwpmc_class cls;
static struct hwpmc_request req;
static struct hwpmc_encoding enc;
static const char *why;

static void use_pmu(u32 family, bool extended, u32 eax, u32 ebx)
{
	ck_assert_int_eq(hwpmc_amd_describe(&pmu, family, extended, eax, ebx,
					    &why), 0);
	cls = (struct hwpmc_class){ .num = pmu.num, .priv = &pmu };
}

/* User and kernel instructions on Zen 4, process scope. */
static void setup(void)
{
	use_pmu(0x19, true, 1, 6);
	req = (struct hwpmc_request){
		.caps = HWPMC_CAP_USER | HWPMC_CAP_SYSTEM,
		.flags = HWPMC_F_EV_PMU,
		.mode = HWPMC_MODE_TC,
		.config = 0xc0,
	};
	memset(&enc, 0xff, sizeof(enc));
}

static void gives(u64 sel, u64 rows)
{
	ck_assert_int_eq(hwpmc_amd_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, sel);
	ck_assert_uint_eq(enc.select.extra, 0);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_NONE);
	ck_assert_int_eq(enc.refusal.detail, 0);
}

static void refuses(int err, u32 reason, s32 detail)
{
	ck_assert_int_eq(hwpmc_amd_encode(&cls, &req, &enc), err);
	ck_assert_uint_eq(enc.refusal.reason, reason);
	ck_assert_int_eq(enc.refusal.detail, detail);
	ck_assert_uint_eq(enc.rows, 0);
	ck_assert_uint_eq(enc.select.sel, 0);
}

START_TEST(amd_has_four_counters_six_or_what_cpuid_says)
{
	use_pmu(0x0f, false, 0, 0);
	ck_assert_uint_eq(pmu.version, 0);
	ck_assert_uint_eq(pmu.num, 4);
	use_pmu(0x15, true, 0, 0);
	ck_assert_uint_eq(pmu.version, 1);
	ck_assert_uint_eq(pmu.num, 6);
	use_pmu(0x1a, true, 1, 0x7508);
	ck_assert_uint_eq(pmu.version, 2);
	ck_assert_uint_eq(pmu.num, 8);
}
END_TEST

START_TEST(amd_perfmon_leaf_counts_only_with_its_bit_and_the_extension)
{
	use_pmu(0x19, true, 0, 8);
	ck_assert_uint_eq(pmu.num, 6);
	use_pmu(0x19, false, 1, 8);
	ck_assert_uint_eq(pmu.num, 4);
	ck_assert_uint_eq(pmu.version, 0);
}
END_TEST

START_TEST(amd_machine_that_cannot_be_is_not_used)
{
	ck_assert_int_eq(hwpmc_amd_describe(&pmu, 0x19, true, 1, 0xf0, &why),
			 -EINVAL);
	ck_assert_ptr_nonnull(why);
	ck_assert_int_eq(hwpmc_amd_describe(&pmu, 0x06, false, 0, 0, &why),
			 -ENODEV);
}
END_TEST

START_TEST(k8_select_has_the_modes_that_were_asked)
{
	gives(0x4300c0, 0x3f);
	req.caps = HWPMC_CAP_USER;
	gives(0x4100c0, 0x3f);
	req.caps = HWPMC_CAP_SYSTEM;
	gives(0x4200c0, 0x3f);
}
END_TEST

START_TEST(k8_select_has_every_field_of_the_request)
{
	req.config = 0xfff84feffULL;
	gives(0xfffc7feffULL, 0x3f);
	req.config = 0x100000043ULL;	/* event 0x143 */
	gives(0x100430043ULL, 0x3f);
}
END_TEST

START_TEST(k8_never_asks_for_interrupts_when_counting)
{
	req.caps |= HWPMC_CAP_INTERRUPT;
	gives(0x4300c0, 0x3f);
}
END_TEST

START_TEST(k8_joins_an_even_counter_with_the_next_for_events_that_need_two)
{
	use_pmu(0x17, true, 0, 0);
	req.config = 0xff03;
	ck_assert_int_eq(hwpmc_amd_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, 0x43ff03);
	ck_assert_uint_eq(enc.select.extra, 0xf004000ffULL);
	ck_assert_uint_eq(enc.rows, 0x15);
	ck_assert(enc.pair);
	use_pmu(0x1a, true, 1, 5);	/* the last one has no next */
	ck_assert_int_eq(hwpmc_amd_encode(&cls, &req, &enc), 0);
	ck_assert_uint_eq(enc.rows, 0x5);
	use_pmu(0x17, true, 0, 0);
	req.config = 0xff02;
	gives(0x43ff02, 0x3f);
	ck_assert(!enc.pair);
	req.config = 0x100000003ULL;	/* event 0x103 */
	gives(0x100430003ULL, 0x3f);
	use_pmu(0x10, false, 0, 0);
	req.config = 0xff03;
	gives(0x43ff03, 0xf);
	ck_assert(!enc.pair);
}
END_TEST

/* The northbridge's, before it got counters of its own. */
START_TEST(k8_counts_events_of_a_node_in_system_scope_alone)
{
	static const u32 families[] = { 0x0f, 0x10, 0x11, 0x12, 0x14 };

	for (unsigned int i = 0; i < 5; i++) {
		use_pmu(families[i], false, 0, 0);
		for (u32 event = 0xe0; event <= 0xff; event++) {
			req.config = 0x100 | event;
			req.mode = HWPMC_MODE_TC;
			refuses(-EINVAL, HWPMC_WHY_EVENT_NODE, 0);
			req.mode = HWPMC_MODE_SC;
			gives(0x430100 | event, 0xf);
			ck_assert_int_eq(enc.scope, HWPMC_SCOPE_PACKAGE);
		}
		req.config = 0x1df;
		req.mode = HWPMC_MODE_TC;
		gives(0x4301df, 0xf);
		ck_assert_int_eq(enc.scope, HWPMC_SCOPE_THREAD);
	}
	use_pmu(0x17, true, 0, 0);
	req.config = 0x1e0;
	gives(0x4301e0, 0x3f);
	ck_assert_int_eq(enc.scope, HWPMC_SCOPE_THREAD);
}
END_TEST

/* Where the counters can tell guests from the host. */
START_TEST(k8_counts_the_host_unless_it_is_told_to_count_guests)
{
	static const u64 guest = 1ULL << 40, host = 1ULL << 41;

	gives(0x4300c0, 0x3f);
	pmu.guests = true;
	gives(0x4300c0 | host, 0x3f);
	req.config = 0xc0 | host;
	gives(0x4300c0 | host, 0x3f);
	req.config = 0xc0 | guest;
	gives(0x4300c0 | guest, 0x3f);
	/* Both, whether SVM is on or off. */
	req.config = 0xc0 | guest | host;
	gives(0x4300c0, 0x3f);
	req.mode = HWPMC_MODE_TS;
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 40);
	req.config = 0xc0 | guest;
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 40);
	req.config = 0xc0 | host;
	gives(0x5300c0 | host, 0x3f);
}
END_TEST

START_TEST(k8_names_each_reserved_bit)
{
	for (int bit = 16; bit < 64; bit++) {
		if (bit == 18 || (bit >= 23 && bit <= 35))
			continue;
		req.config = 0xc0 | 1ULL << bit;
		refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, bit);
	}
	req.config = 0xc0;
	req.config1 = 1ULL << 40;
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + 40);
}
END_TEST

START_TEST(k8_event_codes_of_12_bits_begin_with_family_10h)
{
	req.config = 0x1000000c0ULL;
	use_pmu(0x0f, false, 0, 0);
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 32);
	use_pmu(0x10, false, 0, 0);
	gives(0x1004300c0ULL, 0xf);
}
END_TEST

START_TEST(k8_offers_only_rows_that_exist)
{
	use_pmu(0x17, false, 0, 0);
	gives(0x4300c0, 0xf);
	for (u32 num = 1; num <= 15; num++) {
		use_pmu(0x1a, true, 1, num);
		gives(0x4300c0, (1ULL << num) - 1);
	}
}
END_TEST

START_TEST(k8_interrupts_where_it_samples_and_nowhere_else)
{
	req.mode = HWPMC_MODE_TS;
	gives(0x5300c0, 0x3f);
	req.mode = HWPMC_MODE_SS;
	gives(0x5300c0, 0x3f);
	req.mode = HWPMC_MODE_SC;
	gives(0x4300c0, 0x3f);
}
END_TEST

START_TEST(k8_has_no_event_numbers)
{
	req.flags = 0;
	req.ev = 0x2080;
	refuses(-EINVAL, HWPMC_WHY_EVENT, 0);
}
END_TEST

static u64 config_of(u32 event, u32 umask)
{
	return (event & 0xff) | umask << 8 | (u64)(event & 0xf00) << 24;
}

START_TEST(family_15h_keeps_to_the_rows_of_the_unit)
{
	static const struct { u16 event; u8 umask, rows; } known[] = {
		{ 0x000, 0x0f, 0x38 }, { 0x000, 0xf0, 0x38 },
		{ 0x000, 0x11, 0x08 }, { 0x001, 0x11, 0x38 },
		{ 0x003, 0x01, 0x08 }, { 0x004, 0x01, 0x38 },
		{ 0x004, 0x03, 0x08 }, { 0x00b, 0x01, 0x08 },
		{ 0x00d, 0x01, 0x08 }, { 0x023, 0x01, 0x07 },
		{ 0x024, 0x01, 0x3f }, { 0x02d, 0x00, 0x08 },
		{ 0x02e, 0x00, 0x09 }, { 0x031, 0x04, 0x07 },
		{ 0x040, 0x00, 0x3f }, { 0x043, 0x01, 0x07 },
		{ 0x046, 0x01, 0x07 }, { 0x055, 0x00, 0x07 },
		{ 0x064, 0x01, 0x07 }, { 0x076, 0x00, 0x07 },
		{ 0x080, 0x00, 0x07 }, { 0x08f, 0x00, 0x01 },
		{ 0x0c0, 0x00, 0x3f }, { 0x0d0, 0x00, 0x07 },
		{ 0x0db, 0x00, 0x3f }, { 0x0df, 0x00, 0x3f },
		{ 0x187, 0x00, 0x01 }, { 0x188, 0x00, 0x01 },
		{ 0x1c0, 0x01, 0x38 }, { 0x1cf, 0x01, 0x3f },
		{ 0x1d6, 0x00, 0x3f }, { 0x1d8, 0x00, 0x3f },
		{ 0x162, 0x01, 0x07 },
	};

	use_pmu(0x15, true, 0, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		req.config = config_of(known[i].event, known[i].umask);
		gives(req.config | 0x430000, known[i].rows);
	}
}
END_TEST

START_TEST(family_15h_refuses_what_no_row_can_count)
{
	static const struct { u16 event; u8 umask; } none[] = {
		{ 0x031, 0x03 },	/* one unit mask bit at a time */
		{ 0x0a0, 0x00 }, { 0x0bf, 0x00 }, { 0x1b0, 0x00 },
		{ 0x0e0, 0x01 }, { 0x0ff, 0x01 }, { 0x1e0, 0x01 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(none); i++) {
		req.config = config_of(none[i].event, none[i].umask);
		use_pmu(0x15, true, 0, 0);
		refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
		use_pmu(0x17, true, 0, 0);
		gives(req.config | 0x430000, 0x3f);
	}
}
END_TEST

START_TEST(family_16h_refuses_events_of_the_northbridge)
{
	static const u16 northbridge[] = { 0x0e0, 0x0e9, 0x0ff, 0x1e0, 0x1f0 };
	static const u16 core[] = { 0x000, 0x0df, 0x0c0, 0x1c0, 0x0d0 };

	use_pmu(0x16, false, 0, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(northbridge); i++) {
		req.config = config_of(northbridge[i], 1);
		refuses(-EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(core); i++) {
		req.config = config_of(core[i], 1);
		gives(req.config | 0x430000, 0xf);
	}
}
END_TEST

START_TEST(family_15h_has_an_answer_for_every_event)
{
	unsigned int wrong = 0;

	use_pmu(0x15, true, 0, 0);
	for (u32 event = 0; event <= 0xfff; event++)
		for (u32 umask = 0; umask <= 0xff; umask++) {
			int err;

			req.config = config_of(event, umask);
			err = hwpmc_amd_encode(&cls, &req, &enc);
			/* An assertion that holds is a write() as well. */
			wrong += !(err ? enc.refusal.reason == HWPMC_WHY_EVENT_ROWS :
				   enc.rows && !(enc.rows & ~0x3fULL));
		}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(amd_has_four_counters_six_or_what_cpuid_says);
	harness_add(amd_perfmon_leaf_counts_only_with_its_bit_and_the_extension);
	harness_add(amd_machine_that_cannot_be_is_not_used);
	harness_add(k8_select_has_the_modes_that_were_asked);
	harness_add(k8_select_has_every_field_of_the_request);
	harness_add(k8_never_asks_for_interrupts_when_counting);
	harness_add(k8_joins_an_even_counter_with_the_next_for_events_that_need_two);
	harness_add(k8_counts_events_of_a_node_in_system_scope_alone);
	harness_add(k8_counts_the_host_unless_it_is_told_to_count_guests);
	harness_add(k8_names_each_reserved_bit);
	harness_add(k8_event_codes_of_12_bits_begin_with_family_10h);
	harness_add(k8_offers_only_rows_that_exist);
	harness_add(k8_interrupts_where_it_samples_and_nowhere_else);
	harness_add(k8_has_no_event_numbers);
	harness_add(family_15h_keeps_to_the_rows_of_the_unit);
	harness_add(family_15h_refuses_what_no_row_can_count);
	harness_add(family_15h_has_an_answer_for_every_event);
	harness_add(family_16h_refuses_events_of_the_northbridge);
	return harness_run();
}
