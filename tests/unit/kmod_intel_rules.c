// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_intel_rules.c - the tables of intel_constraints.c in themselves; they
 * are private to that file, which is therefore part of this one.
 */
#include "backends/intel_constraints.c"
#include "harness.h"

/* A rule that no code reaches hides a mistake of order. */
START_TEST(every_rule_is_the_first_to_fit_some_event)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(models); k++) {
		const struct model *m = &models[k];
		u8 used[64] = { 0 };

		ck_assert_uint_lt(m->nrules, ARRAY_SIZE(used));
		for (u32 n = 0; n <= 0x1ffff; n++)
			for (unsigned int i = 0; i < m->nrules; i++)
				if (rule_matches(&m->rules[i], (n & 0xffff) |
						 (n >> 16) * INTEL_SEL_INV)) {
					used[i] = 1;
					break;
				}
		for (unsigned int i = 0; i < m->nrules; i++)
			ck_assert_msg(used[i], "cputype %#x rule %u",
				      m->cputype, i);
	}
}
END_TEST

START_TEST(rules_are_well_formed)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(models); k++)
		for (unsigned int i = 0; i < models[k].nrules; i++) {
			const struct rule *r = &models[k].rules[i];

			ck_assert_uint_gt(r->first, 0);
			ck_assert_uint_le(r->first, r->last);
			ck_assert_uint_eq(r->value & ~r->bits, 0);
		}
}
END_TEST

START_TEST(every_cputype_has_one_entry_at_most)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++)
		for (unsigned int k = i + 1; k < ARRAY_SIZE(models); k++)
			ck_assert_uint_ne(models[i].cputype, models[k].cputype);
}
END_TEST

/* The first of the one event's rows, the last of the first four of the other's. */
START_TEST(offcore_events_have_rows_of_their_own)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(models); k++) {
		const struct hwpmc_intel_offcore *o = models[k].offcore;
		u64 first, second;

		if (!o)
			continue;
		ck_assert_uint_ne(o[0].bits, 0);
		first = hwpmc_intel_event_rows(models[k].cputype, o[0].code) & 0xf;
		ck_assert_uint_ne(first, 0);
		if (!o[1].code)
			continue;
		ck_assert_uint_ne(o[1].bits, 0);
		ck_assert_uint_ne(o[0].code, o[1].code);
		second = hwpmc_intel_event_rows(models[k].cputype, o[1].code);
		ck_assert(second & 8);
		ck_assert_uint_ne(first & -first, 8);
	}
}
END_TEST

START_TEST(programmable_instructions_and_cycles_count_on_every_row_of_every_model)
{
	for (u32 type = HWPMC_CPU_CORE; type <= HWPMC_CPU_SAPPHIRE_RAPIDS; type++) {
		ck_assert_uint_eq(hwpmc_intel_event_rows(type, 0xc0) & 0xf, 0xf);
		ck_assert_uint_eq(hwpmc_intel_event_rows(type, 0x3c) & 0xf, 0xf);
		ck_assert_uint_eq(hwpmc_intel_event_rows(type, 0xc4) & 0xf, 0xf);
	}
}
END_TEST

int main(void)
{
	harness_add(every_rule_is_the_first_to_fit_some_event);
	harness_add(rules_are_well_formed);
	harness_add(every_cputype_has_one_entry_at_most);
	harness_add(offcore_events_have_rows_of_their_own);
	harness_add(programmable_instructions_and_cycles_count_on_every_row_of_every_model);
	return harness_run();
}
