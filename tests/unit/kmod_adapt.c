// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_adapt.c - the next period of a PMC with a frequency: what the last interval says,
 * within its bounds, for all numbers that can come.
 */
#include "core/adapt.h"
#include "harness.h"

#define KHZ	2400000ULL
#define LEAST	1000ULL

static struct hwpmc_adapt made(u64 interval)
{
	struct hwpmc_adapt a;

	hwpmc_adapt_init(&a, interval, LEAST);
	return a;
}

START_TEST(an_interval_as_wanted_leaves_the_period)
{
	for (u64 hz = 1; hz <= 1000000; hz *= 10) {
		struct hwpmc_adapt a = made(KHZ * 1000 / hz);

		ck_assert_uint_eq(hwpmc_adapt_period(&a, 123456, KHZ * 1000 / hz), 123456);
	}
}
END_TEST

START_TEST(a_period_follows_the_rate_of_its_events)
{
	struct hwpmc_adapt a = made(1000000);

	ck_assert_uint_eq(hwpmc_adapt_period(&a, 40000, 500000), 80000);
	ck_assert_uint_eq(hwpmc_adapt_period(&a, 40000, 4000000), 10000);
}
END_TEST

START_TEST(one_interval_changes_a_period_by_a_factor_of_8_at_most)
{
	struct hwpmc_adapt a = made(1 << 30);

	ck_assert_uint_eq(hwpmc_adapt_period(&a, 80000, 0), 640000);
	ck_assert_uint_eq(hwpmc_adapt_period(&a, 80000, 1), 640000);
	ck_assert_uint_eq(hwpmc_adapt_period(&a, 80000, ~0ULL), 10000);
}
END_TEST

START_TEST(a_period_stays_between_the_shortest_and_the_longest)
{
	struct hwpmc_adapt a = made(1000000);

	ck_assert_uint_eq(hwpmc_adapt_period(&a, LEAST, ~0ULL), LEAST);
	ck_assert_uint_eq(hwpmc_adapt_period(&a, HWPMC_ADAPT_MOST, 0), HWPMC_ADAPT_MOST);
	ck_assert_uint_eq(hwpmc_adapt_period(&a, ~0ULL, 1000000), HWPMC_ADAPT_MOST);
}
END_TEST

START_TEST(no_interval_divides_by_0_or_overflows)
{
	for (int i = 0; i < 64; i++) {
		struct hwpmc_adapt a = made(i ? 1ULL << i : 0);

		for (int p = 0; p < 64; p++)
			for (int t = 0; t < 64; t++) {
				u64 next = hwpmc_adapt_period(&a, 1ULL << p, 1ULL << t);

				ck_assert_uint_ge(next, LEAST);
				ck_assert_uint_le(next, HWPMC_ADAPT_MOST);
				if (p < 40 && 1ULL << p >= 8 * LEAST)
					ck_assert_uint_ge(next, 1ULL << (p - 3));
				if (p < 40 && 1ULL << p >= LEAST)
					ck_assert_uint_le(next, 1ULL << (p + 3));
			}
	}
	ck_assert_uint_eq(made(0).interval, 1);
}
END_TEST

/* A program whose rate changes a thousandfold: samples come as wanted again soon. */
START_TEST(a_new_rate_is_followed_within_few_samples)
{
	struct hwpmc_adapt a = made(2400000);
	u64 period = LEAST, ticks = 0;

	for (int i = 0; i < 10; i++) {
		ticks = period / 2;	/* two events a tick */
		period = hwpmc_adapt_period(&a, period, ticks);
	}
	ck_assert_uint_ge(ticks, 2399000);
	ck_assert_uint_le(ticks, 2401000);
	for (int i = 0; i < 10; i++) {
		ticks = period * 500;	/* an event in 500 ticks */
		period = hwpmc_adapt_period(&a, period, ticks);
	}
	ck_assert_uint_ge(ticks, 2390000);
	ck_assert_uint_le(ticks, 2410000);
}
END_TEST

int main(void)
{
	harness_add(an_interval_as_wanted_leaves_the_period);
	harness_add(a_period_follows_the_rate_of_its_events);
	harness_add(one_interval_changes_a_period_by_a_factor_of_8_at_most);
	harness_add(a_period_stays_between_the_shortest_and_the_longest);
	harness_add(no_interval_divides_by_0_or_overflows);
	harness_add(a_new_rate_is_followed_within_few_samples);
	return harness_run();
}
