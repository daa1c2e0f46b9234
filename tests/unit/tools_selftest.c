/* SPDX-License-Identifier: BSD-2-Clause */
/* tools_selftest.c - the rules by which hwpmc selftest decides: each bound from both sides. */
#include <stddef.h>

#include "harness.h"
#include "selftest/judge.h"
#include "selftest/selftest.h"

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

START_TEST(selftest_takes_the_least_count_for_exact_or_close)
{
	ck_assert(judge_same(400020, 400000, true));
	ck_assert(judge_same(399980, 400000, true));
	ck_assert(!judge_same(400021, 400000, true));
	ck_assert(!judge_same(399979, 400000, true));
	ck_assert(judge_same(402000, 400000, false));
	ck_assert(!judge_same(402001, 400000, false));
	ck_assert(!judge_same(397999, 400000, false));
}
END_TEST

START_TEST(selftest_rows_of_one_event_must_agree)
{
	ck_assert(judge_rows((uint64_t[]){ 100000, 95000 - 64 }, 2));
	ck_assert(!judge_rows((uint64_t[]){ 100000, 95000 - 65 }, 2));
	ck_assert(judge_rows((uint64_t[]){ 3, 60 }, 2));
	ck_assert(!judge_rows((uint64_t[]){ 0, 1000 }, 2));
	ck_assert(judge_filtered(10, 0));
	ck_assert(!judge_filtered(9, 0));
	ck_assert(!judge_filtered(100, 1));
}
END_TEST

START_TEST(selftest_allows_what_interrupts_add_in_the_time)
{
	ck_assert(judge_switches(8, 0));
	ck_assert(judge_switches(-8, 0));
	ck_assert(!judge_switches(9, 0));
	ck_assert(!judge_switches(-9, 0));
	ck_assert(judge_switches(808, 100));
	ck_assert(!judge_switches(809, 100));
}
END_TEST

START_TEST(selftest_wants_99_of_100_regions_exact)
{
	ck_assert(judge_edges(99, 1));
	ck_assert(!judge_edges(98, 2));
	ck_assert(judge_edges(1, 0));
	ck_assert(!judge_edges(0, 0));
}
END_TEST

START_TEST(selftest_conserves_but_for_a_period_of_each_row)
{
	ck_assert(judge_conserved(1000, 998));
	ck_assert(judge_conserved(1000, 1002));
	ck_assert(!judge_conserved(1000, 997));
	ck_assert(!judge_conserved(1000, 1003));
	ck_assert(!judge_conserved(0, 0));
}
END_TEST

START_TEST(selftest_percentiles_and_skid_have_their_bounds)
{
	static const uint64_t at[] = { 5, 0, 4, 1 }, none[4];

	ck_assert_uint_eq(judge_percentile(at, 4, 50), 0);
	ck_assert_uint_eq(judge_percentile(at, 4, 51), 2);
	ck_assert_uint_eq(judge_percentile(at, 4, 90), 2);
	ck_assert_uint_eq(judge_percentile(at, 4, 91), 3);
	ck_assert_uint_eq(judge_percentile(none, 4, 50), 0);
	ck_assert(judge_skid(199));
	ck_assert(!judge_skid(200));
}
END_TEST

START_TEST(selftest_energy_and_clocks_are_close_to_the_kernel_s)
{
	ck_assert(judge_energy(1011000, 1000000));
	ck_assert(!judge_energy(1011001, 1000000));
	ck_assert(judge_energy(989000, 1000000));
	ck_assert(!judge_energy(988999, 1000000));
	/* A unit that is wrong. */
	ck_assert(!judge_energy(61, 1000000));
	ck_assert(judge_clocks(1.5, 1.5));
	ck_assert(judge_clocks(1.507, 1.5));
	ck_assert(!judge_clocks(1.508, 1.5));
	ck_assert(!judge_clocks(1.492, 1.5));
}
END_TEST

START_TEST(selftest_costs_are_never_negative)
{
	struct selftest t = { .quiet = true };

	st_cost(&t, "read", "a read", 12.5, 4.25);
	st_cost(&t, "switch", "a switch", -3, -1.5);
	st_cost(&t, "sample", "a sample", 7, -0.1);
	ck_assert_uint_eq(t.ncost, 3);
	ck_assert(t.cost[0].ticks == 12.5 && t.cost[0].ns == 4.25);
	ck_assert(t.cost[1].ticks == 0 && t.cost[1].ns == 0);
	ck_assert(t.cost[2].ticks == 0 && t.cost[2].ns == 0);
}
END_TEST

START_TEST(selftest_step_fails_with_one_check_and_holds_with_one)
{
	ck_assert_int_eq(judge_step(5, 1, 0, 0), ST_FAILED);
	ck_assert_int_eq(judge_step(1, 0, 3, 2), ST_HELD);
	ck_assert_int_eq(judge_step(0, 0, 3, 2), ST_MEASURED);
	ck_assert_int_eq(judge_step(0, 0, 3, 0), ST_NOT_TRIED);
}
END_TEST

int main(void)
{
	harness_add(selftest_bounds_of_ratios_are_kept);
	harness_add(selftest_counts_of_the_same_code_must_agree);
	harness_add(selftest_asks_for_half_of_the_periods_and_no_more_than_all);
	harness_add(selftest_takes_the_least_count_for_exact_or_close);
	harness_add(selftest_rows_of_one_event_must_agree);
	harness_add(selftest_allows_what_interrupts_add_in_the_time);
	harness_add(selftest_wants_99_of_100_regions_exact);
	harness_add(selftest_conserves_but_for_a_period_of_each_row);
	harness_add(selftest_percentiles_and_skid_have_their_bounds);
	harness_add(selftest_energy_and_clocks_are_close_to_the_kernel_s);
	harness_add(selftest_costs_are_never_negative);
	harness_add(selftest_step_fails_with_one_check_and_holds_with_one);
	return harness_run();
}
