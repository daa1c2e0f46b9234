/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_region.c - the values of regions: least, median and most of what was added,
 * compared with all values in order.
 */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "spread.h"

static uint64_t random_bits(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_all(struct spread *s, const uint64_t *v, unsigned int n)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < n; i++)
		spread_add(s, v[i]);
}

static struct spread s;
static uint64_t v[100000];

START_TEST(without_values_all_is_0)
{
	ck_assert_uint_eq(spread_median(&s), 0);
	ck_assert_uint_eq(s.min, 0);
	ck_assert_uint_eq(s.max, 0);
	ck_assert(spread_is_exact(&s));
}
END_TEST

START_TEST(median_of_a_few_values_is_one_of_them)
{
	static const uint64_t odd[] = { 9, 1, 5 }, even[] = { 8, 2, 6, 4 };

	add_all(&s, odd, 3);
	ck_assert_uint_eq(spread_median(&s), 5);
	add_all(&s, even, 4);
	ck_assert_uint_eq(spread_median(&s), 4);
	ck_assert_uint_eq(s.min, 2);
	ck_assert_uint_eq(s.max, 8);
	ck_assert_uint_eq(s.sum, 20);
	/* Asking does not end adding. */
	spread_add(&s, 3);
	ck_assert_uint_eq(spread_median(&s), 4);
}
END_TEST

static void check_exact(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		v[i] = random_bits() >> random_bits() % 64;
	add_all(&s, v, n);
	ck_assert(spread_is_exact(&s));
	qsort(v, n, sizeof(v[0]), by_value);
	ck_assert_uint_eq(spread_median(&s), v[(n - 1) / 2]);
	ck_assert_uint_eq(s.min, v[0]);
	ck_assert_uint_eq(s.max, v[n - 1]);
}

START_TEST(median_is_exact_up_to_4096_values)
{
	for (unsigned int n = 1; n < SPREAD_KEPT; n += 1 + n / 3)
		check_exact(n);
	check_exact(SPREAD_KEPT);
}
END_TEST

static void check_sketch(unsigned int n)
{
	uint64_t exact, median, off;

	add_all(&s, v, n);
	ck_assert(!spread_is_exact(&s));
	qsort(v, n, sizeof(v[0]), by_value);
	exact = v[(n - 1) / 2];
	median = spread_median(&s);
	off = median > exact ? median - exact : exact - median;
	ck_assert_msg(off <= exact / 256, "%llu instead of %llu",
		      (unsigned long long)median, (unsigned long long)exact);
	ck_assert_uint_eq(s.min, v[0]);
	ck_assert_uint_eq(s.max, v[n - 1]);
	ck_assert_uint_eq(s.count, n);
}

START_TEST(median_of_many_values_is_within_a_256th)
{
	for (unsigned int shift = 0; shift < 60; shift++) {
		for (unsigned int i = 0; i < 6000; i++)
			v[i] = random_bits() >> shift;
		check_sketch(6000);
	}
	for (unsigned int i = 0; i < 100000; i++)
		v[i] = random_bits() >> random_bits() % 64;
	check_sketch(100000);
}
END_TEST

/* Each edge of a bucket is the median once, between far ends. */
START_TEST(edges_of_buckets_are_told_within_a_256th)
{
	for (unsigned int bit = 0; bit < 64; bit++)
		for (int part = 0; part < 8; part++) {
			uint64_t at = (1ull << bit) + ((1ull << bit) / 8) * part;

			for (int off = -1; off <= 1; off++) {
				for (unsigned int i = 0; i < 4100; i++)
					v[i] = at + off;
				v[0] = 0;
				v[1] = UINT64_MAX;
				check_sketch(4100);
			}
		}
}
END_TEST

START_TEST(small_values_keep_an_exact_median_however_many)
{
	for (unsigned int i = 0; i < 100000; i++)
		v[i] = random_bits() % 256;
	add_all(&s, v, 100000);
	qsort(v, 100000, sizeof(v[0]), by_value);
	ck_assert_uint_eq(spread_median(&s), v[49999]);
}
END_TEST

START_TEST(a_sum_that_is_too_large_stays_so)
{
	memset(&s, 0, sizeof(s));
	spread_add(&s, UINT64_MAX - 1);
	spread_add(&s, 1);
	ck_assert_uint_eq(s.sum, UINT64_MAX);
	spread_add(&s, 7);
	ck_assert_uint_eq(s.sum, UINT64_MAX);
	spread_add(&s, 0);
	ck_assert_uint_eq(s.sum, UINT64_MAX);
	ck_assert_uint_eq(s.count, 4);
}
END_TEST

static struct spread both, other;

START_TEST(merged_spreads_are_those_of_all_values)
{
	memset(&s, 0, sizeof(s));
	memset(&both, 0, sizeof(both));
	memset(&other, 0, sizeof(other));
	spread_merge(&both, &other);
	ck_assert_uint_eq(both.count, 0);
	for (unsigned int i = 0; i < SPREAD_KEPT; i++)
		spread_add(&s, 10 + i % 7);
	spread_merge(&both, &s);
	ck_assert(spread_is_exact(&both));
	ck_assert_uint_eq(spread_median(&both), spread_median(&s));
	spread_add(&other, 3);
	spread_add(&other, 1000);
	spread_merge(&both, &other);
	ck_assert(!spread_is_exact(&both));
	ck_assert_uint_eq(both.count, SPREAD_KEPT + 2);
	ck_assert_uint_eq(both.min, 3);
	ck_assert_uint_eq(both.max, 1000);
	ck_assert_uint_eq(both.sum, s.sum + 1003);
	ck_assert_uint_eq(spread_median(&both), 13);
	/* Less than what is kept: exact, whichever is merged. */
	memset(&both, 0, sizeof(both));
	spread_merge(&both, &other);
	spread_merge(&both, &other);
	ck_assert_uint_eq(both.count, 4);
	ck_assert_uint_eq(spread_median(&both), 3);
}
END_TEST

int main(void)
{
	harness_add(merged_spreads_are_those_of_all_values);
	harness_add(without_values_all_is_0);
	harness_add(median_of_a_few_values_is_one_of_them);
	harness_add(median_is_exact_up_to_4096_values);
	harness_add(median_of_many_values_is_within_a_256th);
	harness_add_timed(edges_of_buckets_are_told_within_a_256th, 30);
	harness_add(small_values_keep_an_exact_median_however_many);
	harness_add(a_sum_that_is_too_large_stays_so);
	return harness_run();
}
