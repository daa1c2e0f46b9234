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
	for (unsigned int k = 0; k < ARRAY_SIZE(rule_models); k++) {
		const struct model *m = &rule_models[k];
		u8 used[64] = { 0 };

		ck_assert_uint_lt(m->nrules, ARRAY_SIZE(used));
		for (u32 n = 0; n <= 0x1ffff; n++)
			for (unsigned int i = 0; i < m->nrules; i++)
				if (intel_rule_matches(&m->rules[i], (n & 0xffff) |
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
	for (unsigned int k = 0; k < ARRAY_SIZE(rule_models); k++)
		for (unsigned int i = 0; i < rule_models[k].nrules; i++) {
			const struct rule *r = &rule_models[k].rules[i];

			ck_assert_uint_gt(r->first, 0);
			ck_assert_uint_le(r->first, r->last);
			ck_assert_uint_eq(r->value & ~r->bits, 0);
		}
}
END_TEST

START_TEST(every_cputype_has_one_entry_at_most)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rule_models); i++)
		for (unsigned int k = i + 1; k < ARRAY_SIZE(rule_models); k++)
			ck_assert_uint_ne(rule_models[i].cputype, rule_models[k].cputype);
}
END_TEST

/* Where the model has them: the encoder takes the first of the first register's rows, the
 * last of four of the second's, the second of the front end's. */
static u64 row_of_register(u32 cputype, const struct hwpmc_intel_extra *e)
{
	u64 rows = hwpmc_intel_event_rows(cputype, e->code) & 0xf;

	switch (e->reg) {
	case HWPMC_INTEL_RSP0:
		return rows & -rows;
	case HWPMC_INTEL_RSP1:
		return rows & 8;
	case HWPMC_INTEL_SNOOP1:
		return rows & 4;
	default:
		return rows & 2;
	}
}

START_TEST(events_of_a_register_have_one_row_and_no_other_registers)
{
	for (unsigned int k = 0; k < ARRAY_SIZE(rule_models); k++) {
		u64 of_reg[HWPMC_INTEL_REGS] = { 0 };
		const struct hwpmc_intel_extra *e, *f;

		for (e = rule_models[k].extra; e && e->code; e++) {
			if (e->reg == HWPMC_INTEL_LATENCY)
				continue;
			ck_assert_uint_ne(e->bits, 0);
			ck_assert_uint_ne(row_of_register(rule_models[k].cputype, e), 0);
			of_reg[e->reg] |= row_of_register(rule_models[k].cputype, e);
			for (f = rule_models[k].extra; f != e; f++)
				ck_assert_uint_ne(f->code, e->code);
		}
		for (int i = 0; i < HWPMC_INTEL_REGS; i++) {
			ck_assert_uint_eq(of_reg[i] & (of_reg[i] - 1), 0);
			for (int j = 0; j < i; j++)
				ck_assert_uint_eq(of_reg[i] & of_reg[j], 0);
		}
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
	harness_add(events_of_a_register_have_one_row_and_no_other_registers);
	harness_add(programmable_instructions_and_cycles_count_on_every_row_of_every_model);
	return harness_run();
}
