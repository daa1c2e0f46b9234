// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_nmi.c - whose NMI it is, for each combination of what the handler may know.
 */
#include "sampling/nmi_decide.h"
#include "harness.h"

#define YES	1
#define NO	0

/* overflows, unstoppable, owned, masked, expected; all 3 * 3 * 8 of them. */
#define FACTS	(3 * 3 * 8)

static struct hwpmc_nmi_facts facts_at(unsigned int i)
{
	return (struct hwpmc_nmi_facts){
		.overflows = i / 8 % 3,
		.unstoppable = i / 24,
		.owned = i & 1,
		.masked = i & 2,
		.expected = i & 4,
	};
}

/* Where no counter has overflowed. */
static const struct {
	bool owned, masked, expected;
	enum hwpmc_nmi_verdict verdict;
} quiet[] = {
	{ NO, NO, NO, HWPMC_NMI_FOREIGN },
	{ NO, NO, YES, HWPMC_NMI_SPENT },
	{ NO, YES, NO, HWPMC_NMI_FOREIGN },
	{ NO, YES, YES, HWPMC_NMI_SPENT },
	{ YES, NO, NO, HWPMC_NMI_FOREIGN },
	{ YES, NO, YES, HWPMC_NMI_SPENT },
	{ YES, YES, NO, HWPMC_NMI_RAISED },
	{ YES, YES, YES, HWPMC_NMI_RAISED },
};

START_TEST(nmi_without_an_overflow_is_decided_by_owner_mask_and_expectation)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(quiet); i++) {
		struct hwpmc_nmi_facts f = {
			.owned = quiet[i].owned,
			.masked = quiet[i].masked,
			.expected = quiet[i].expected,
		};

		ck_assert_int_eq(hwpmc_nmi_decide(&f), quiet[i].verdict);
	}
}
END_TEST

START_TEST(nmi_that_finds_an_overflow_is_ours_whatever_else_is_known)
{
	for (unsigned int i = 0; i < FACTS; i++) {
		struct hwpmc_nmi_facts f = facts_at(i);

		if (f.overflows || f.unstoppable)
			ck_assert_int_eq(hwpmc_nmi_decide(&f), HWPMC_NMI_RAISED);
	}
}
END_TEST

/* The accesses that are saved must not change the verdict. */
START_TEST(fact_that_is_not_asked_for_does_not_change_the_verdict)
{
	for (unsigned int i = 0; i < FACTS; i++) {
		struct hwpmc_nmi_facts f = facts_at(i), lazy = f;

		lazy.masked = false;
		lazy.expected = false;
		if (hwpmc_nmi_asks_masked(&lazy))
			lazy.masked = f.masked;
		if (hwpmc_nmi_asks_expected(&lazy))
			lazy.expected = f.expected;
		ck_assert_int_eq(hwpmc_nmi_decide(&lazy), hwpmc_nmi_decide(&f));
	}
}
END_TEST

/* Not for the usual one, which finds the overflow that it was raised for. */
START_TEST(apic_is_read_only_for_an_nmi_without_an_overflow_or_with_several)
{
	for (unsigned int i = 0; i < FACTS; i++) {
		struct hwpmc_nmi_facts f = facts_at(i);

		ck_assert_int_eq(hwpmc_nmi_asks_masked(&f),
				 f.overflows + f.unstoppable != 1 && f.owned);
	}
}
END_TEST

/* Consumed without need, the NMI that it stands for would be an unknown one. */
START_TEST(expectation_is_consumed_only_where_nothing_else_explains_the_nmi)
{
	for (unsigned int i = 0; i < FACTS; i++) {
		struct hwpmc_nmi_facts f = facts_at(i);

		if (hwpmc_nmi_decide(&f) != HWPMC_NMI_SPENT)
			continue;
		ck_assert(f.expected && !f.overflows && !f.unstoppable);
		ck_assert(!(f.owned && f.masked));
	}
}
END_TEST

START_TEST(more_overflows_than_the_nmi_s_own_may_raise_another_nmi)
{
	static const struct {
		unsigned int overflows, unstoppable, second_look;
		unsigned int to_come;
	} look[] = {
		{ 0, 0, 0, 0 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 },
		{ 2, 0, 0, 1 }, { 0, 2, 0, 1 }, { 1, 1, 0, 1 },
		{ 0, 0, 1, 1 }, { 1, 0, 1, 1 }, { 0, 1, 1, 1 },
		{ 0, 0, 2, 2 }, { 3, 0, 0, 2 }, { 2, 2, 2, 5 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(look); i++) {
		struct hwpmc_nmi_facts f = {
			.overflows = look[i].overflows,
			.unstoppable = look[i].unstoppable,
		};

		ck_assert_uint_eq(hwpmc_nmi_to_come(&f, look[i].second_look),
				  look[i].to_come);
	}
}
END_TEST

START_TEST(interrupts_that_the_apic_has_dropped_are_not_expected)
{
	struct hwpmc_nmi_facts f = { .owned = true, .overflows = 2, .unstoppable = 2,
				     .masked = true };

	ck_assert_uint_eq(hwpmc_nmi_to_come(&f, 0), 0);
	/* After it was unmasked. */
	ck_assert_uint_eq(hwpmc_nmi_to_come(&f, 2), 2);
	f.masked = false;
	ck_assert_uint_eq(hwpmc_nmi_to_come(&f, 2), 5);
}
END_TEST

/* Instruction-based sampling of AMD's: the counter's own comes as well, later. */
START_TEST(nmi_of_others_leaves_the_counters_own_expected)
{
	for (unsigned int i = 0; i < FACTS; i++) {
		struct hwpmc_nmi_facts f = facts_at(i), o = f;

		o.others = true;
		if (f.masked)
			continue;
		if (f.overflows + f.unstoppable) {
			ck_assert_int_eq(hwpmc_nmi_decide(&o), HWPMC_NMI_RAISED);
			ck_assert_uint_eq(hwpmc_nmi_to_come(&o, 1),
					  hwpmc_nmi_to_come(&f, 1) + 1);
		} else {
			ck_assert_int_eq(hwpmc_nmi_decide(&o), HWPMC_NMI_FOREIGN);
			ck_assert(!hwpmc_nmi_asks_expected(&o));
		}
	}
}
END_TEST

START_TEST(expected_nmis_add_up_to_a_bound_and_to_one_where_the_apic_merges_them)
{
	ck_assert_uint_eq(hwpmc_nmi_expect(0, 1, false), 1);
	ck_assert_uint_eq(hwpmc_nmi_expect(0, 2, false), 2);
	ck_assert_uint_eq(hwpmc_nmi_expect(2, 3, false), 5);
	ck_assert_uint_eq(hwpmc_nmi_expect(HWPMC_NMI_MOST - 1, 1, false), HWPMC_NMI_MOST);
	ck_assert_uint_eq(hwpmc_nmi_expect(HWPMC_NMI_MOST, 2, false), HWPMC_NMI_MOST);
	ck_assert_uint_eq(hwpmc_nmi_expect(0, 1, true), 1);
	ck_assert_uint_eq(hwpmc_nmi_expect(0, 2, true), 1);
	ck_assert_uint_eq(hwpmc_nmi_expect(1, 1, true), 1);
}
END_TEST

int main(void)
{
	harness_add(nmi_without_an_overflow_is_decided_by_owner_mask_and_expectation);
	harness_add(nmi_that_finds_an_overflow_is_ours_whatever_else_is_known);
	harness_add(fact_that_is_not_asked_for_does_not_change_the_verdict);
	harness_add(apic_is_read_only_for_an_nmi_without_an_overflow_or_with_several);
	harness_add(expectation_is_consumed_only_where_nothing_else_explains_the_nmi);
	harness_add(more_overflows_than_the_nmi_s_own_may_raise_another_nmi);
	harness_add(interrupts_that_the_apic_has_dropped_are_not_expected);
	harness_add(nmi_of_others_leaves_the_counters_own_expected);
	harness_add(expected_nmis_add_up_to_a_bound_and_to_one_where_the_apic_merges_them);
	return harness_run();
}
