// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_ibs - the pure parts of the emulated PMU's instruction-based sampling: what each model
 * has, and the words that a sample is made of.
 */
#include "harness.h"
#include "ibs.h"

START_TEST(ibs_models_have_the_caps_of_their_dumps)
{
	static const struct { int family, model; uint32_t caps; } dump[] = {
		{ 0x10, 4, 0x1f }, { 0x15, 2, 0xff }, { 0x15, 0x60, 0x7ff }, { 0x16, 0, 0xff },
		{ 0x17, 1, 0x3ff }, { 0x17, 0x31, 0x3ff }, { 0x19, 1, 0x3ff },
		{ 0x19, 0x21, 0x3ff }, { 0x19, 0x50, 0x3ff }, { 0x19, 0x11, 0xbff },
		{ 0x19, 0x61, 0xbff }, { 0x19, 0xa0, 0xbff }, { 0x1a, 2, 0x81bff },
		{ 0x1a, 0x50, 0x9fbff }, { 0x1a, 0x70, 0x81bff }, { 0x1a, 0xc0, 0x9fbff }, { 6, 85, 0 },
	};

	for (size_t i = 0; i < sizeof(dump) / sizeof(dump[0]); i++)
		ck_assert_uint_eq(ibs_model_caps(dump[i].family, dump[i].model), dump[i].caps);
}
END_TEST

START_TEST(ibs_registers_follow_from_caps)
{
	ck_assert(ibs_model_has(0x1f, IBS_OP_DATA3));
	ck_assert(!ibs_model_has(0x1f, IBS_TARGET));
	ck_assert(ibs_model_has(0xff, IBS_TARGET));
	ck_assert(!ibs_model_has(0xff, IBS_FETCH_EXTD));
	ck_assert(ibs_model_has(0x3ff, IBS_FETCH_EXTD));
	ck_assert(!ibs_model_has(0x3ff, IBS_OP_DATA4));
	ck_assert(ibs_model_has(0x7ff, IBS_OP_DATA4));
	ck_assert(!ibs_model_has(0x81bff, IBS_OP_CTL2));
	ck_assert(ibs_model_has(0x9fbff, IBS_OP_CTL2));
	ck_assert(ibs_model_has(0x9fbff, IBS_FETCH_CTL2));
	ck_assert(!ibs_model_has(0xffffffff, IBS_REGS));
	ck_assert_uint_eq(ibs_model_ctl2_bits(0x9fbff, IBS_OP_CTL2), 0xf);
	ck_assert_uint_eq(ibs_model_ctl2_bits(0x9fbff, IBS_FETCH_CTL2), 0x7f);
	ck_assert_uint_eq(ibs_model_ctl2_bits(CAP_DIS, IBS_FETCH_CTL2), 1);
}
END_TEST

START_TEST(ibs_periods_have_the_bits_that_caps_say)
{
	uint64_t ctl = 0x7fULL << 20 | 0xffff;

	ck_assert_uint_eq(ibs_model_op_max(0x3ff, ctl), 0x7fffff0);
	ck_assert_uint_eq(ibs_model_op_max(0x1f, ctl), 0xffff0);
	ck_assert_uint_eq(ibs_model_op_mask(0x3ff), 0x7ffffff);
	ck_assert_uint_eq(ibs_model_op_mask(0x1f), 0xfffff);
	ck_assert_uint_eq(ibs_model_op_bits(0x1f), 0xfffffULL << 32 | 0xeffff);
	ck_assert_uint_eq(ibs_model_op_bits(0x3ff), 0x7ffffffULL << 32 | 0x7feffff);
	ck_assert_uint_eq(ibs_model_op_bits(0xbff), 0x7ffffffULL << 32 | 0x7ffffff);
	ck_assert_uint_eq(ibs_model_op_bits(0x81bff), 0xffffffffULL << 32 | 0x7ffffff);
	ck_assert_uint_eq(ibs_model_fetch_bits(0x3ff), 0x7ffffffffffffffULL);
	ck_assert_uint_eq(ibs_model_fetch_bits(0xbff), 0x3fffffffffffffffULL);
}
END_TEST

static struct ibs_words words(struct ibs_facts f, uint64_t n, uint32_t caps)
{
	struct ibs_words w;

	ibs_op_words(&f, ibs_dice(0, n), caps, true, &w);
	return w;
}

START_TEST(ibs_words_say_what_the_op_did)
{
	struct ibs_facts load = { .load = true, .has_lin = true, .has_phys = true, .width = 3,
				  .lin = 0x1004 };
	struct ibs_words w = words(load, 1, 0xbff);

	ck_assert_uint_eq(w.data3 & 3, DATA3_LOAD);
	ck_assert_uint_eq(w.data3 >> 17 & 3, 3);
	ck_assert_uint_eq(w.data3 >> 22 & 0xf, 4);
	ck_assert(w.data3 & DATA3_MISALIGN);
	ck_assert(!(w.data & DATA_BRANCH));
	w = words((struct ibs_facts){ .store = true, .lin = 0x1000, .has_lin = true }, 1, 0xbff);
	ck_assert_uint_eq(w.data3 & 3, DATA3_STORE);
	ck_assert_uint_eq(w.data3 >> 17 & 3, 1);
	ck_assert(!(w.data3 & DATA3_MISALIGN));
	w = words((struct ibs_facts){ .branch = true, .ret = true, .taken = true }, 1, 0xbff);
	ck_assert_uint_eq(w.data3, 0);
	ck_assert_uint_eq(w.data >> 34 & 0xb, 0xb);
	ck_assert_uint_gt(w.data >> 16 & 0xffff, w.data & 0xffff);
}
END_TEST

/* One of 16 loads misses L3. Loads that missed L2, and no others, have a source, which depends on
 * the model. */
START_TEST(ibs_words_of_loads_are_consistent)
{
	struct ibs_facts load = { .load = true, .has_lin = true, .width = 3 };
	unsigned int missed = 0, l2 = 0;

	for (unsigned int n = 0; n < 16000; n++) {
		struct ibs_words w = words(load, n, n & 1 ? 0xbff : 0x3ff);

		missed += w.l3_miss;
		l2 += !!(w.data3 & DATA3_L2_MISS);
		ck_assert_uint_eq(w.latency, w.data3 >> 32 & 0xffff);
		ck_assert_int_eq(!!(w.data3 & DATA3_MISS), w.latency > 0);
		ck_assert_int_eq(!!(w.data3 & DATA3_L2_MISS), w.data2 != 0);
		ck_assert_int_eq(w.l3_miss, (w.data2 & 7) == 3);
		ck_assert_uint_le(w.data2 & 7, 3);
		if (w.data2 && !w.l3_miss && !(n & 1))
			ck_assert_uint_eq(w.data2 & 7, 2);
		ck_assert_int_eq(!!(w.data3 & DATA3_L2_TLB), w.data3 >> 48 > 0);
	}
	ck_assert_uint_gt(missed, 850);
	ck_assert_uint_lt(missed, 1150);
	ck_assert_uint_gt(l2, 2 * missed);
}
END_TEST

START_TEST(ibs_filters_pass_what_they_should)
{
	struct ibs_words hit = { 0 }, slow = { .latency = 300 };
	struct ibs_words far = { .latency = 300, .l3_miss = true };
	uint64_t lat = OP_LAT_EN | 1ULL << OP_LAT_SHIFT;	/* 256 */

	ck_assert(ibs_op_passes(0, &hit, 0x81bff, true));
	ck_assert(!ibs_op_passes(OP_L3_ONLY, &hit, 0xbff, false));
	ck_assert(!ibs_op_passes(OP_L3_ONLY, &slow, 0xbff, false));
	ck_assert(ibs_op_passes(OP_L3_ONLY, &far, 0xbff, false));
	ck_assert(ibs_op_passes(lat, &slow, 0x81bff, false));
	ck_assert(!ibs_op_passes(lat, &hit, 0x81bff, false));
	ck_assert(ibs_op_passes(lat, &hit, 0x81bff, true));	/* not alone on Zen 5 */
	ck_assert(!ibs_op_passes(lat | OP_L3_ONLY, &slow, 0x81bff, true));
	ck_assert(ibs_op_passes(lat | OP_L3_ONLY, &far, 0x81bff, true));
	ck_assert(!ibs_op_passes(lat | 1ULL << (OP_LAT_SHIFT + 1) | OP_L3_ONLY, &far, 0x81bff,
				 true));
}
END_TEST

START_TEST(ibs_second_filters_pass_modes_latencies_and_streams)
{
	struct ibs_words other = { 0 }, stream = { .data2 = DATA2_STREAM };
	uint64_t user = 0x400000, kernel = ~0ULL, slow = 256ULL << FETCH_LAT_SHIFT;
	uint64_t two = 2ULL << FETCH2_LAT_SHIFT;

	ck_assert(ibs_op_passes2(0, &other, user) && ibs_op_passes2(0, &other, kernel));
	ck_assert(ibs_op_passes2(OP2_NO_KERNEL, &other, user));
	ck_assert(!ibs_op_passes2(OP2_NO_KERNEL, &other, kernel));
	ck_assert(!ibs_op_passes2(OP2_NO_USER, &other, user));
	ck_assert(ibs_op_passes2(OP2_STREAM, &stream, user));
	ck_assert(!ibs_op_passes2(OP2_STREAM, &other, user));
	ck_assert(!ibs_fetch_passes2(FETCH2_NO_KERNEL, 0, kernel));
	ck_assert(ibs_fetch_passes2(FETCH2_NO_USER, 0, kernel));
	ck_assert(!ibs_fetch_passes2(FETCH2_NO_USER, 0, user));
	ck_assert(ibs_fetch_passes2(two, slow, user));
	ck_assert(!ibs_fetch_passes2(two + 2, slow, user));
}
END_TEST

START_TEST(ibs_fetches_miss_in_order)
{
	unsigned int missed = 0;

	for (unsigned int n = 0; n < 16000; n++) {
		uint64_t extd, x = ibs_fetch_result(ibs_dice(3, n), 0xbff, &extd);

		ck_assert(x & FETCH_COMP);
		ck_assert(!(x & FETCH_L3_MISS) || x & FETCH_L2_MISS);
		ck_assert(!(x & FETCH_L2_MISS) || x & FETCH_IC_MISS);
		ck_assert_int_eq(!!(x & FETCH_L2_TLB), extd > 0);
		ck_assert_int_eq(ibs_fetch_passes(FETCH_L3_ONLY, x), !!(x & FETCH_L3_MISS));
		ck_assert(ibs_fetch_passes(0, x));
		missed += !!(x & FETCH_L3_MISS);
	}
	ck_assert_uint_gt(missed, 850);
	ck_assert_uint_lt(missed, 1150);
}
END_TEST

/* Each vCPU has numbers of its own, the same in each run. */
START_TEST(ibs_dice_differ_by_seed_and_repeat)
{
	ck_assert_uint_eq(ibs_dice(1, 7), ibs_dice(1, 7));
	ck_assert_uint_ne(ibs_dice(1, 7), ibs_dice(0, 7));
	ck_assert_uint_ne(ibs_dice(1, 7), ibs_dice(1, 8));
}
END_TEST

int main(void)
{
	harness_add(ibs_models_have_the_caps_of_their_dumps);
	harness_add(ibs_registers_follow_from_caps);
	harness_add(ibs_periods_have_the_bits_that_caps_say);
	harness_add(ibs_words_say_what_the_op_did);
	harness_add(ibs_words_of_loads_are_consistent);
	harness_add(ibs_filters_pass_what_they_should);
	harness_add(ibs_second_filters_pass_modes_latencies_and_streams);
	harness_add(ibs_fetches_miss_in_order);
	harness_add(ibs_dice_differ_by_seed_and_repeat);
	return harness_run();
}
