/* SPDX-License-Identifier: BSD-2-Clause */
/* tools_selftest.c - the rules by which hwpmc selftest decides: each bound from both sides. */
#include <stddef.h>

#include "harness.h"
#include "selftest/judge.h"

START_TEST(selftest_bounds_of_ratios_are_kept)
{
	ck_assert(judge_slots(1000, 1000));
	ck_assert(judge_slots(1000, 12000));
	ck_assert(!judge_slots(1000, 999));
	ck_assert(!judge_slots(1000, 12001));
	ck_assert(!judge_slots(0, 0));
	ck_assert(judge_ref_clock(1));
	ck_assert(judge_ref_clock(0.9901));
	ck_assert(judge_ref_clock(1.0099));
	ck_assert(!judge_ref_clock(0.9899));
	ck_assert(!judge_ref_clock(1.0101));
	ck_assert(!judge_ref_clock(0));
}
END_TEST

START_TEST(selftest_counts_of_the_same_code_must_agree)
{
	ck_assert(judge_agree((uint64_t[]){ 1000, 980, 990 }, 3));
	ck_assert(!judge_agree((uint64_t[]){ 1000, 979, 990 }, 3));
	ck_assert(!judge_agree((uint64_t[]){ 0, 0 }, 2));
	ck_assert(judge_agree((uint64_t[]){ 5 }, 1));
}
END_TEST

START_TEST(selftest_asks_for_half_of_the_periods_and_no_more_than_all)
{
	ck_assert(judge_half(1000, 100, 10));
	ck_assert(judge_half(1000, 100, 11));
	ck_assert(!judge_half(1000, 100, 12));
	ck_assert(judge_half(1000, 100, 5));
	ck_assert(!judge_half(1000, 100, 4));
	ck_assert(!judge_half(50, 100, 0));
}
END_TEST

int main(void)
{
	harness_add(selftest_bounds_of_ratios_are_kept);
	harness_add(selftest_counts_of_the_same_code_must_agree);
	harness_add(selftest_asks_for_half_of_the_periods_and_no_more_than_all);
	return harness_run();
}
