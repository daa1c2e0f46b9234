// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_cputype.c - model numbers and FreeBSD's numbers for them.
 */
#include "backends/cputype.h"
#include "harness.h"

START_TEST(known_intel_models_have_the_numbers_of_freebsd)
{
	static const struct { u32 model, cputype; } known[] = {
		{ 0x0e, 0x87 }, { 0x0f, 0x88 }, { 0x17, 0x89 }, { 0x1c, 0x8a },
		{ 0x1a, 0x8b }, { 0x2c, 0x8c }, { 0x2a, 0x8d }, { 0x3a, 0x8e },
		{ 0x2d, 0x8f }, { 0x3e, 0x90 }, { 0x3c, 0x91 }, { 0x37, 0x92 },
		{ 0x2e, 0x93 }, { 0x2f, 0x94 }, { 0x3f, 0x95 }, { 0x3d, 0x96 },
		{ 0x4f, 0x97 }, { 0x5e, 0x98 }, { 0x55, 0x99 }, { 0x5c, 0x9a },
		{ 0x7e, 0x9b }, { 0x6a, 0x9c }, { 0x97, 0x9d }, { 0x7a, 0x9e },
		{ 0x86, 0x9f }, { 0xcf, 0xa0 }, { 0xbe, 0xa1 }, { 0xad, 0xa2 },
		{ 0xac, 0xa3 }, { 0x8f, 0xa4 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		ck_assert_uint_eq(hwpmc_cputype_intel(known[i].model),
				  known[i].cputype);
}
END_TEST

START_TEST(every_intel_model_has_one_cputype_or_is_generic)
{
	for (u32 model = 0; model < 0x200; model++) {
		u32 type = hwpmc_cputype_intel(model);

		ck_assert(type == HWPMC_CPU_GENERIC ||
			  (type >= HWPMC_CPU_CORE &&
			   type <= HWPMC_CPU_SAPPHIRE_RAPIDS));
	}
	ck_assert_uint_eq(hwpmc_cputype_intel(0x00), HWPMC_CPU_GENERIC);
	/* not the model 0x55 with a bit more */
	ck_assert_uint_eq(hwpmc_cputype_intel(0x155), HWPMC_CPU_GENERIC);
}
END_TEST

/* FreeBSD has no number for these; their events have rules all the same. */
START_TEST(a_model_without_a_number_of_freebsd_has_the_rules_of_its_core)
{
	static const struct { u32 model, core; } known[] = {
		{ 0xaf, HWPMC_CORE_CRESTMONT }, { 0xb6, HWPMC_CORE_CRESTMONT },
		{ 0xdd, HWPMC_CORE_DARKMONT },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++) {
		ck_assert_uint_eq(hwpmc_core_intel(known[i].model), known[i].core);
		ck_assert_uint_eq(hwpmc_cputype_intel(known[i].model), HWPMC_CPU_GENERIC);
	}
	ck_assert_uint_eq(hwpmc_core_intel(0x8f), HWPMC_CPU_SAPPHIRE_RAPIDS);
	ck_assert_uint_eq(hwpmc_core_intel(0x57), HWPMC_CPU_GENERIC);
}
END_TEST

int main(void)
{
	harness_add(known_intel_models_have_the_numbers_of_freebsd);
	harness_add(every_intel_model_has_one_cputype_or_is_generic);
	harness_add(a_model_without_a_number_of_freebsd_has_the_rules_of_its_core);
	return harness_run();
}
