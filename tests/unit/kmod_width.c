// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_width.c - what counters of every width have counted between two reads.
 */
#include "backends/width.h"
#include "harness.h"

static const unsigned int widths[] = { 31, 32, 40, 48, 64 };

START_TEST(mask_of_a_width_has_exactly_its_bits)
{
	for (unsigned int w = 1; w <= 64; w++) {
		u64 mask = hwpmc_width_mask(w);

		ck_assert_int_eq(__builtin_popcountll(mask), w);
		ck_assert_uint_eq(mask & (mask + 1), 0);
	}
}
END_TEST

START_TEST(delta_without_a_wrap_is_the_difference)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		u64 mask = hwpmc_width_mask(widths[i]);

		ck_assert_uint_eq(hwpmc_width_delta(0, 0, mask), 0);
		ck_assert_uint_eq(hwpmc_width_delta(5, 1005, mask), 1000);
		ck_assert_uint_eq(hwpmc_width_delta(0, mask, mask), mask);
		ck_assert_uint_eq(hwpmc_width_delta(mask, mask, mask), 0);
	}
}
END_TEST

START_TEST(delta_across_the_wrap_loses_and_invents_nothing)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		u64 mask = hwpmc_width_mask(widths[i]);

		ck_assert_uint_eq(hwpmc_width_delta(mask, 0, mask), 1);
		ck_assert_uint_eq(hwpmc_width_delta(mask - 999, 0, mask), 1000);
		ck_assert_uint_eq(hwpmc_width_delta(mask - 999, 500, mask), 1500);
		/* one short of a whole turn */
		ck_assert_uint_eq(hwpmc_width_delta(7, 6, mask), mask);
	}
}
END_TEST

START_TEST(delta_does_not_look_at_bits_above_the_width)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		u64 mask = hwpmc_width_mask(widths[i]);

		ck_assert_uint_eq(hwpmc_width_delta(~mask | 3, 10, mask), 7);
		ck_assert_uint_eq(hwpmc_width_delta(3, ~mask | 10, mask), 7);
	}
}
END_TEST

/* A counter that runs on: whatever the start, n events read as n. */
START_TEST(delta_of_any_start_and_count_is_the_count)
{
	u64 x = 88172645463325252ULL;

	for (int round = 0; round < 100000; round++) {
		u64 mask, start, n;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		mask = hwpmc_width_mask(widths[round % ARRAY_SIZE(widths)]);
		start = x & mask;
		n = x * 0x9e3779b97f4a7c15ULL & mask;
		ck_assert_uint_eq(hwpmc_width_delta(start, (start + n) & mask,
						    mask), n);
	}
}
END_TEST

/* Two harvests may be twice the interval apart. Widths below 32 are of no counter. */
START_TEST(harvests_are_less_than_half_the_range_apart)
{
	ck_assert_uint_eq(hwpmc_width_wrap_ms(64), 0);
	for (unsigned int width = 1; width <= 56; width++) {
		/* Instructions; outstanding requests or floating point, 64 a cycle at 8 GHz. */
		u64 a_second = width < 48 ? 34359738368ull : 64 * 8000000000ull;
		u64 ms = hwpmc_width_wrap_ms(width);

		ck_assert_uint_ge(ms, 1);
		if (width >= 32)
			ck_assert_uint_le(2 * ms * (a_second / 1000), 1ULL << (width - 1));
	}
	ck_assert_uint_eq(hwpmc_width_wrap_ms(48), 128000);
}
END_TEST

int main(void)
{
	harness_add(harvests_are_less_than_half_the_range_apart);
	harness_add(mask_of_a_width_has_exactly_its_bits);
	harness_add(delta_without_a_wrap_is_the_difference);
	harness_add(delta_across_the_wrap_loses_and_invents_nothing);
	harness_add(delta_does_not_look_at_bits_above_the_width);
	harness_add(delta_of_any_start_and_count_is_the_count);
	return harness_run();
}
