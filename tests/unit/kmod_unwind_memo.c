// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_unwind_memo.c - tags of the states of mappings and tables: what walks by unwind tables
 * remember under a tag belongs to no other state, whatever numbers a program brings about.
 */
#include "harness.h"
#include "sampling/unwind_memo.h"

static struct hwpmc_unwind_states states;

START_TEST(unwind_tag_stays_while_both_numbers_stay)
{
	u64 tag = unwind_tag_nmi(&states, 5, 7);

	ck_assert_uint_ne(tag, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(unwind_tag_nmi(&states, 5, 7), tag);
	/* In the same place. */
	ck_assert_uint_ne(unwind_tag_nmi(&states, 5, 7 + UNWIND_STATES), tag);
	ck_assert_uint_ne(unwind_tag_nmi(&states, 5 + UNWIND_STATES, 7), tag);
}
END_TEST

/* All bits of both matter: a program can have its number wrap any part of them. */
START_TEST(unwind_tag_is_by_each_bit_of_both_numbers)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		u64 other = 1ULL << bit, tag = unwind_tag_nmi(&states, 1, 1);

		ck_assert_uint_ne(unwind_tag_nmi(&states, 1 ^ other ?: 2, 1), tag);
		tag = unwind_tag_nmi(&states, 1, 1);
		ck_assert_uint_ne(unwind_tag_nmi(&states, 1, 1 ^ other), tag);
	}
}
END_TEST

/* Two states in one place: the one that was there before is a new one when it comes back. */
START_TEST(unwind_tag_of_a_replaced_state_never_comes_again)
{
	u64 first = unwind_tag_nmi(&states, 1, 0);
	u64 second = unwind_tag_nmi(&states, 1 + UNWIND_STATES, 0);
	u64 third = unwind_tag_nmi(&states, 1, 0);

	ck_assert_uint_ne(second, first);
	ck_assert_uint_ne(third, first);
	ck_assert_uint_ne(third, second);
}
END_TEST

/* The same number of mappings and tables, in places of their own. */
START_TEST(unwind_tag_differs_where_the_numbers_change_places)
{
	ck_assert_uint_ne(unwind_tag_nmi(&states, 3, 4), unwind_tag_nmi(&states, 4, 3));
}
END_TEST

int main(void)
{
	harness_add(unwind_tag_stays_while_both_numbers_stay);
	harness_add(unwind_tag_is_by_each_bit_of_both_numbers);
	harness_add(unwind_tag_of_a_replaced_state_never_comes_again);
	harness_add(unwind_tag_differs_where_the_numbers_change_places);
	return harness_run();
}
