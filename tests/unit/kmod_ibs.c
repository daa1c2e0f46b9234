// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_ibs.c - CPUID to a description, requests to control words, and periods to control words
 * and back, of AMD's instruction-based sampling. Each refused request differs from an accepted
 * one in the one thing that is refused. Bits are written out, not taken from ibs_regs.h.
 */
#include "backends/ibs_encode.h"
#include "harness.h"

#define OP		HWPMC_IBS_ROW_OP
#define FETCH		HWPMC_IBS_ROW_FETCH
#define OP_EN		(1ull << 17)
#define OP_OPS		(1ull << 19)
#define OP_L3		(1ull << 16)
#define OP_LATENCY	(0x1full << 59)
#define FETCH_EN	(1ull << 48)
#define FETCH_RANDOM	(1ull << 57)
#define FETCH_L3	(1ull << 59)
#define LONGEST		(0x100000 - 0x100)

/* CPUID 0x8000001b EAX of processors. */
#define CAPS_10H	0x1f
#define CAPS_15H	0xff
#define CAPS_ZEN_1	0x3ff
#define CAPS_ZEN_4	0xbff
#define CAPS_ZEN_5	0x81bff
#define CAPS_ZEN_6	0x9fbff

static struct hwpmc_ibs ibs;
static struct hwpmc_request req;
static struct hwpmc_encoding enc;

static void use_ibs(u32 caps, unsigned int family)
{
	hwpmc_ibs_describe(&ibs, caps, family, 1);
}

/* Ops of Zen 4, process scope. */
static void setup(void)
{
	use_ibs(CAPS_ZEN_4, 0x19);
	req = (struct hwpmc_request){
		.ev = HWPMC_EV_IBS_OP,
		.flags = HWPMC_F_EV_PMU,
		.mode = HWPMC_MODE_TS,
		.config = OP_OPS,
	};
	memset(&enc, 0xff, sizeof(enc));
}

static void gives(u64 sel, u64 rows)
{
	ck_assert_int_eq(hwpmc_ibs_encode(&ibs, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.sel, sel);
	ck_assert_uint_eq(enc.select.extra, 0);
	ck_assert_uint_eq(enc.rows, rows);
	ck_assert_uint_eq(enc.refusal.reason, HWPMC_WHY_NONE);
	ck_assert_int_eq(enc.refusal.detail, 0);
}

static void refuses(int err, u32 reason, s32 detail)
{
	ck_assert_int_eq(hwpmc_ibs_encode(&ibs, &req, &enc), err);
	ck_assert_uint_eq(enc.refusal.reason, reason);
	ck_assert_int_eq(enc.refusal.detail, detail);
	ck_assert_uint_eq(enc.rows, 0);
	ck_assert_uint_eq(enc.select.sel, 0);
}

/* ---- requests ------------------------------------------------------------------ */

/* Each bit alone: it is in the word, or refused by its number. */
static void takes_bits(u32 ev, u64 bits, u64 enable, u64 rows)
{
	req.ev = ev;
	for (int bit = 0; bit < 64; bit++) {
		req.config = 1ull << bit;
		if (bits >> bit & 1)
			gives(enable | 1ull << bit, rows);
		else
			refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, bit);
	}
	req.config = bits;
	gives(enable | bits, rows);
}

START_TEST(ibs_generations_take_config_bits_that_they_have)
{
	static const struct { u32 caps; unsigned int family; u64 op, fetch; } known[] = {
		{ 0x7, 0x10, 0, FETCH_RANDOM },
		{ CAPS_10H, 0x10, OP_OPS, FETCH_RANDOM },
		{ CAPS_15H, 0x15, OP_OPS, FETCH_RANDOM },
		{ CAPS_15H, 0x16, OP_OPS, FETCH_RANDOM },
		{ CAPS_ZEN_1, 0x17, OP_OPS, FETCH_RANDOM },
		{ CAPS_ZEN_1, 0x19, OP_OPS, FETCH_RANDOM },
		{ CAPS_ZEN_4, 0x19, OP_OPS | OP_L3, FETCH_RANDOM | FETCH_L3 },
		{ CAPS_ZEN_6, 0x1a, OP_OPS | OP_L3 | OP_LATENCY, FETCH_RANDOM | FETCH_L3 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		use_ibs(known[i].caps, known[i].family);
		takes_bits(HWPMC_EV_IBS_OP, known[i].op, OP_EN, 1 << OP);
		takes_bits(HWPMC_EV_IBS_FETCH, known[i].fetch, FETCH_EN, 1 << FETCH);
	}
}
END_TEST

START_TEST(ibs_refusal_names_the_lowest_bit_that_is_missing)
{
	req.config = OP_OPS | 1ull << 63 | 1ull << 40 | 1ull << 20;
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 20);
	req.config = OP_OPS | 1ull << 63;
	refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 63);
}
END_TEST

/* Each bit of config1 is in the processor's second control register, or refused. */
static void takes_config1(u32 caps, u32 ev, u64 bits)
{
	use_ibs(caps, 0x1a);
	req.ev = ev;
	req.config = 0;
	for (int bit = 0; bit < 64; bit++) {
		req.config1 = 1ull << bit;
		if (!(bits >> bit & 1)) {
			refuses(-EINVAL, HWPMC_WHY_EVENT_BITS, 64 + bit);
			continue;
		}
		ck_assert_int_eq(hwpmc_ibs_encode(&ibs, &req, &enc), 0);
		ck_assert_uint_eq(enc.select.extra, req.config1);
	}
	req.config1 = 0;
}

START_TEST(ibs_second_control_registers_take_the_bits_of_zen_6)
{
	takes_config1(CAPS_ZEN_5, HWPMC_EV_IBS_OP, 0);
	takes_config1(CAPS_ZEN_5, HWPMC_EV_IBS_FETCH, 0);
	takes_config1(CAPS_ZEN_6, HWPMC_EV_IBS_OP, 1 << 3);
	takes_config1(CAPS_ZEN_6, HWPMC_EV_IBS_FETCH, 0xf << 1);
	takes_config1(CAPS_ZEN_6 & ~(1u << 14), HWPMC_EV_IBS_FETCH, 0);
	takes_config1(CAPS_ZEN_6 & ~(1u << 16), HWPMC_EV_IBS_OP, 0);
}
END_TEST

static void filters(u32 caps, u32 ev, u32 modes, u64 extra)
{
	use_ibs(caps, 0x1a);
	req.ev = ev;
	req.config = 0;
	req.caps = modes;
	ck_assert_int_eq(hwpmc_ibs_encode(&ibs, &req, &enc), 0);
	ck_assert_uint_eq(enc.select.extra, extra);
}

/* The bits are in another order for fetches. */
START_TEST(ibs_modes_are_filtered_by_hardware_where_it_can)
{
	const u32 user = HWPMC_CAP_USER, kernel = HWPMC_CAP_SYSTEM;

	filters(CAPS_ZEN_6, HWPMC_EV_IBS_OP, user, 1 << 2);
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_OP, kernel, 1 << 1);
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_OP, user | kernel, 0);
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_FETCH, user, 1 << 5);
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_FETCH, kernel, 1 << 6);
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_FETCH, 0, 0);
	filters(CAPS_ZEN_6 & ~(1u << 15), HWPMC_EV_IBS_OP, user, 0);
	filters(CAPS_ZEN_5, HWPMC_EV_IBS_OP, user, 0);
	req.config1 = 1 << 3;
	filters(CAPS_ZEN_6, HWPMC_EV_IBS_OP, user, 1 << 3 | 1 << 2);
}
END_TEST

/* The other bits of the leaf are then undefined. */
START_TEST(ibs_leaf_without_its_valid_bit_has_the_two_samplers_alone)
{
	static const u32 caps[] = { 0, 0xfffffffe };

	for (unsigned int i = 0; i < ARRAY_SIZE(caps); i++) {
		use_ibs(caps[i], 0x10);
		ck_assert_uint_eq(ibs.caps, 6);
		takes_bits(HWPMC_EV_IBS_OP, 0, OP_EN, 1 << OP);
		takes_bits(HWPMC_EV_IBS_FETCH, FETCH_RANDOM, FETCH_EN, 1 << FETCH);
	}
}
END_TEST

START_TEST(ibs_events_without_config_count_ops_and_random_fetches)
{
	req.flags = 0;
	req.config = ~0ull;	/* not looked at */
	gives(OP_EN | OP_OPS, 1 << OP);
	use_ibs(0x7, 0x10);	/* cycles only */
	gives(OP_EN, 1 << OP);
	req.ev = HWPMC_EV_IBS_FETCH;
	gives(FETCH_EN | FETCH_RANDOM, 1 << FETCH);
	use_ibs(CAPS_ZEN_5, 0x1a);
	gives(FETCH_EN | FETCH_RANDOM, 1 << FETCH);
}
END_TEST

START_TEST(ibs_samples_in_both_scopes_and_counts_in_none)
{
	req.mode = HWPMC_MODE_SS;
	gives(OP_EN | OP_OPS, 1 << OP);
	req.mode = HWPMC_MODE_SC;
	refuses(-EOPNOTSUPP, HWPMC_WHY_CAPS, HWPMC_CAP_READ);
	req.mode = HWPMC_MODE_TC;
	refuses(-EOPNOTSUPP, HWPMC_WHY_CAPS, HWPMC_CAP_READ);
	req.ev = HWPMC_EV_IBS_FETCH;
	refuses(-EOPNOTSUPP, HWPMC_WHY_CAPS, HWPMC_CAP_READ);
}
END_TEST

START_TEST(ibs_events_that_the_processor_lacks_are_refused)
{
	req.ev = HWPMC_EV_IBS_OP + 1;
	refuses(-EINVAL, HWPMC_WHY_EVENT, HWPMC_EV_IBS_OP + 1);
	req.ev = HWPMC_EV_IBS_FETCH - 1;
	refuses(-EINVAL, HWPMC_WHY_EVENT, HWPMC_EV_IBS_FETCH - 1);
	use_ibs(0x3, 0x10);	/* fetches only */
	req.ev = HWPMC_EV_IBS_OP;
	req.config = 0;
	refuses(-EINVAL, HWPMC_WHY_EVENT, HWPMC_EV_IBS_OP);
	req.ev = HWPMC_EV_IBS_FETCH;
	gives(FETCH_EN, 1 << FETCH);
	use_ibs(0x5, 0x10);	/* ops only */
	refuses(-EINVAL, HWPMC_WHY_EVENT, HWPMC_EV_IBS_FETCH);
	req.ev = HWPMC_EV_IBS_OP;
	gives(OP_EN, 1 << OP);
}
END_TEST

START_TEST(ibs_latency_filter_of_zen_5_needs_the_filter_of_l3)
{
	req.config = OP_OPS | 1ull << 63 | 3ull << 59;
	use_ibs(CAPS_ZEN_5, 0x1a);
	gives(OP_EN | OP_L3 | req.config, 1 << OP);
	use_ibs(CAPS_ZEN_6, 0x1a);
	gives(OP_EN | req.config, 1 << OP);
	use_ibs(CAPS_ZEN_5, 0x19);
	gives(OP_EN | req.config, 1 << OP);
	/* Latencies that are not enabled filter nothing. */
	use_ibs(CAPS_ZEN_5, 0x1a);
	req.config = OP_OPS | 3ull << 59;
	gives(OP_EN | req.config, 1 << OP);
}
END_TEST

START_TEST(ibs_quirks_follow_the_family)
{
	static const struct { unsigned int family; bool keeps, two; } known[] = {
		{ 0x10, false, true }, { 0x11, false, false }, { 0x12, false, false },
		{ 0x14, false, false }, { 0x15, false, false }, { 0x16, true, false },
		{ 0x17, true, false }, { 0x18, true, false }, { 0x19, false, false },
		{ 0x1a, false, false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		use_ibs(CAPS_15H, known[i].family);
		ck_assert_uint_eq(ibs.family, known[i].family);
		ck_assert_uint_eq(ibs.model, 1);
		ck_assert_uint_eq(ibs.caps, CAPS_15H);
		ck_assert(ibs.fetch_keeps == known[i].keeps);
		ck_assert(ibs.stop_in_two == known[i].two);
	}
}
END_TEST

START_TEST(ibs_periods_have_the_limits_of_the_registers)
{
	gives(OP_EN | OP_OPS, 1 << OP);
	ck_assert_uint_eq(enc.arming.least, 0x90);
	ck_assert_uint_eq(enc.arming.unit, 0);
	req.ev = HWPMC_EV_IBS_FETCH;
	req.config = 0;
	gives(FETCH_EN, 1 << FETCH);
	ck_assert_uint_eq(enc.arming.least, 0x10);
	ck_assert_uint_eq(enc.arming.unit, 16);
	/* A count that cannot be written begins with 0. */
	use_ibs(0x7, 0x10);
	req.ev = HWPMC_EV_IBS_OP;
	gives(OP_EN, 1 << OP);
	ck_assert_uint_eq(enc.arming.unit, 16);
	ck_assert_uint_eq(HWPMC_IBS_MAX_PERIOD, LONGEST);
}
END_TEST

/* ---- periods ------------------------------------------------------------------- */

/* The fields of OP_CTL as the hardware reads them. */
static u64 op_max(u64 ctl)
{
	return (ctl & 0xffff) << 4 | (ctl >> 20 & 0x7f) << 20;
}

static u64 op_count(u64 ctl)
{
	return ctl >> 32 & 0x7ffffff;
}

/* Counts errors of arming for n events, and of the rest while none has happened. */
static unsigned int wrong_op(u64 sel, u64 n)
{
	u64 ctl = hwpmc_ibs_armed_nmi(&ibs, OP, sel, n);

	return (op_max(ctl) - op_count(ctl) != n) + (op_count(ctl) >= 16) +
	       ((ctl & ~(0xffffull | 0x7full << 20 | 0x7ffffffull << 32)) != sel) +
	       (hwpmc_ibs_left_nmi(&ibs, OP, ctl, 1) != n);
}

START_TEST(ibs_ops_are_armed_for_each_period_and_left_as_armed)
{
	static const u64 sel[] = { OP_EN, OP_EN | OP_OPS | OP_L3 | 1ull << 63 | 7ull << 59 };
	static const u32 caps[] = { CAPS_10H, CAPS_15H, CAPS_ZEN_1, CAPS_ZEN_5 };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(caps); i++) {
		use_ibs(caps[i], 0x17);
		for (unsigned int s = 0; s < ARRAY_SIZE(sel); s++) {
			for (u64 n = 0x90; n <= 0x2000; n++)
				wrong += wrong_op(sel[s], n);
			for (u64 n = LONGEST - 0x100; n <= LONGEST; n++)
				wrong += wrong_op(sel[s], n);
			/* The rest of a period may be short. */
			for (u64 n = 1; n < 0x90; n++)
				wrong += wrong_op(sel[s], n);
		}
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Bits 26:20 of a period are in place, bits 19:4 are shifted. */
START_TEST(ibs_ops_have_the_upper_bits_of_a_period_in_place)
{
	ck_assert_uint_eq(hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, 0x12340), OP_EN | 0x1234);
	ck_assert_uint_eq(hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, 0x7f12340),
			  OP_EN | 0x7f00000 | 0x1234);
	ck_assert_uint_eq(hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, 0x12341),
			  OP_EN | 0x1235 | 15ull << 32);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, OP_EN | 0x7f00000 | 0x1234, 1), 0x7f12340);
}
END_TEST

START_TEST(ibs_ops_whose_count_cannot_be_written_are_armed_in_units)
{
	unsigned int wrong = 0;

	use_ibs(0x17, 0x10);
	for (u64 n = 0x90; n <= 0x2000; n += 16) {
		u64 ctl = hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, n);

		wrong += ctl != (OP_EN | n >> 4);
		/* Its count cannot be read either. */
		wrong += hwpmc_ibs_left_nmi(&ibs, OP, ctl | 5ull << 32, n) != n;
		wrong += hwpmc_ibs_rearmed_nmi(&ibs, OP, OP_EN | OP_OPS, n, ~0ull) != (ctl | OP_OPS);
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, 0x91), OP_EN | 0xa);
}
END_TEST

START_TEST(ibs_fetches_are_armed_for_each_period_and_left_as_armed)
{
	static const u64 sel = FETCH_EN | FETCH_RANDOM | FETCH_L3;
	unsigned int wrong = 0;

	for (u64 n = 0x10; n <= LONGEST; n += n < 0x4000 || n >= LONGEST - 0x4000 ? 16 : 0x400) {
		u64 ctl = hwpmc_ibs_armed_nmi(&ibs, FETCH, sel, n);

		wrong += ctl != (sel | n >> 4);
		wrong += hwpmc_ibs_left_nmi(&ibs, FETCH, ctl, 1) != n;
		wrong += hwpmc_ibs_rearmed_nmi(&ibs, FETCH, sel, n, ~0ull) != ctl;
		/* All but the last unit has been fetched. */
		wrong += hwpmc_ibs_left_nmi(&ibs, FETCH, ctl | ((n >> 4) - 1) << 16, 1) != 16;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(ibs_rest_of_a_period_is_its_end_less_its_count)
{
	u64 ctl = OP_EN | OP_OPS | 0x1000 >> 4;

	for (u64 count = 0; count < 0x1000; count += 0x7f)
		ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, ctl | count << 32, 1),
				  0x1000 - count);
	/* A count at its end has its sample on the way. */
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, ctl | 0xfffull << 32, 0x1000), 1);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, ctl | 0x1000ull << 32, 0x1000), 1);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, ctl | 0x1001ull << 32, 0x1000), 1);
	ctl = FETCH_EN | 0x100;
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, FETCH, ctl | 0x100ull << 16, 0x1000), 1);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, FETCH, ctl | 0xffull << 16, 0x1000), 16);
}
END_TEST

/* The count has 27 bits where the period has, and 20 before. */
START_TEST(ibs_count_has_the_width_of_its_period)
{
	u64 ctl = OP_EN | 0x100 | 0x7f08ull << 32 << 12;

	use_ibs(CAPS_10H, 0x10);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, ctl, 1), 1);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, OP_EN | 0x100 | 0x7f00008ull << 32, 1),
			  0x1000 - 8);
	use_ibs(CAPS_15H, 0x15);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, OP_EN | 0x100 | 0x7f00008ull << 32, 1), 1);
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, OP_EN | 0x7f00100 | 0x100008ull << 32, 1),
			  0x7f01000 - 0x100008);
	/* Latencies are above it. */
	ck_assert_uint_eq(hwpmc_ibs_left_nmi(&ibs, OP, OP_EN | 0x100 | OP_LATENCY | 8ull << 32, 1),
			  0x1000 - 8);
}
END_TEST

/* ---- random bits ---------------------------------------------------------------- */

/* Tries all values of the random bits: each is kept. Adds up the periods. */
static unsigned int wrong_random(u64 n, u64 *sum)
{
	u64 before = ~(0x7full << 32), ctl, first;
	unsigned int wrong = 0;

	*sum = 0;
	first = hwpmc_ibs_left_nmi(&ibs, OP, hwpmc_ibs_rearmed_nmi(&ibs, OP, OP_EN | OP_OPS, n,
								   before), 1);
	for (u64 random = 0; random < 128; random++) {
		ctl = hwpmc_ibs_rearmed_nmi(&ibs, OP, OP_EN | OP_OPS, n, before | random << 32);
		wrong += op_max(ctl) - op_count(ctl) != first - random;
		wrong += hwpmc_ibs_left_nmi(&ibs, OP, ctl, 1) != first - random;
		*sum += first - random;
	}
	return wrong;
}

START_TEST(ibs_ops_keep_random_bits_and_the_mean_of_their_periods)
{
	unsigned int wrong = 0;
	u64 sum;

	for (u64 n = 0x90; n <= LONGEST; n += n < 0x1000 || n >= LONGEST - 0x100 ? 1 : 0x3001) {
		wrong += wrong_random(n, &sum);
		/* The mean of 0 to 127 is 63.5, of which a half cannot be armed. */
		wrong += sum < 128 * n || sum > 128 * n + 64;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(ibs_cycles_and_fetches_have_no_random_bits)
{
	for (u64 n = 0x90; n < 0x400; n++)
		ck_assert_uint_eq(hwpmc_ibs_rearmed_nmi(&ibs, OP, OP_EN, n, ~0ull),
				  hwpmc_ibs_armed_nmi(&ibs, OP, OP_EN, n));
	/* Bit 19 of a word of fetches is of their count. */
	ck_assert_uint_eq(hwpmc_ibs_rearmed_nmi(&ibs, FETCH, FETCH_EN | OP_OPS, 0x100, ~0ull),
			  FETCH_EN | OP_OPS | 0x10);
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(ibs_generations_take_config_bits_that_they_have);
	harness_add(ibs_refusal_names_the_lowest_bit_that_is_missing);
	harness_add(ibs_second_control_registers_take_the_bits_of_zen_6);
	harness_add(ibs_modes_are_filtered_by_hardware_where_it_can);
	harness_add(ibs_leaf_without_its_valid_bit_has_the_two_samplers_alone);
	harness_add(ibs_events_without_config_count_ops_and_random_fetches);
	harness_add(ibs_samples_in_both_scopes_and_counts_in_none);
	harness_add(ibs_events_that_the_processor_lacks_are_refused);
	harness_add(ibs_latency_filter_of_zen_5_needs_the_filter_of_l3);
	harness_add(ibs_quirks_follow_the_family);
	harness_add(ibs_periods_have_the_limits_of_the_registers);
	harness_add(ibs_ops_are_armed_for_each_period_and_left_as_armed);
	harness_add(ibs_ops_have_the_upper_bits_of_a_period_in_place);
	harness_add(ibs_ops_whose_count_cannot_be_written_are_armed_in_units);
	harness_add(ibs_fetches_are_armed_for_each_period_and_left_as_armed);
	harness_add(ibs_rest_of_a_period_is_its_end_less_its_count);
	harness_add(ibs_count_has_the_width_of_its_period);
	harness_add(ibs_ops_keep_random_bits_and_the_mean_of_their_periods);
	harness_add(ibs_cycles_and_fetches_have_no_random_bits);
	return harness_run();
}
