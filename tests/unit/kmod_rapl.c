// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_rapl.c - registers and units of energy by model, and how often they are read.
 */
#include "backends/rapl_units.h"
#include "harness.h"

static struct hwpmc_rapl_units u;

static void use_intel(u32 model, u64 unit)
{
	ck_assert(hwpmc_rapl_model(&u, true, false, 6, model));
	hwpmc_rapl_unit(&u, unit);
}

START_TEST(energy_is_in_microjoules_on_every_model)
{
	use_intel(0x5e, 0xa0e03);		/* 2^-14 J */
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 1), 61);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 1 << 14), 1000000);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_DRAM, 1 << 14), 1000000);
	use_intel(0x55, 0xa0e03);		/* memory has its own unit */
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 1 << 14), 1000000);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_DRAM, 1 << 16), 1000000);
	use_intel(0x8f, 0xa0e03);		/* and the platform */
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_DRAM, 1 << 14), 1000000);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PLATFORM, 7), 7000000);
	for (unsigned int i = 0; i < 2; i++) {
		use_intel(0xad + i, 0xa0e03);	/* Granite Rapids */
		ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 1 << 14), 1000000);
		ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PLATFORM, 7), 7000000);
	}
	use_intel(0x37, 0x505);			/* 2^5 microjoules */
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 3), 96);
	ck_assert(hwpmc_rapl_model(&u, false, true, 0x17, 1));
	hwpmc_rapl_unit(&u, 0xa1003);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 1 << 16), 1000000);
}
END_TEST

START_TEST(energy_of_years_is_exact)
{
	use_intel(0x5e, 0xa0e03);
	/* 2^50 units of 2^-14 J, and one: nothing of the product is lost. */
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, (1ULL << 50) + (1 << 14)),
			  (1ULL << 36) * 1000000 + 1000000);
	use_intel(0x5e, 0xa1f03);
	for (u64 n = 1; n < 1ULL << 62; n = n * 3 + 1)
		ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, n),
				  (u64)(((unsigned __int128)n * 1000000) >> 31));
	use_intel(0x5e, 0xa0003);
	ck_assert_uint_eq(hwpmc_rapl_microjoules(&u, RAPL_PKG, 5), 5000000);
}
END_TEST

START_TEST(a_model_whose_unit_is_not_certain_has_no_energy)
{
	ck_assert(!hwpmc_rapl_model(&u, true, false, 6, 0x4d));
	ck_assert_uint_eq(u.msr, 0);
}
END_TEST

START_TEST(registers_are_those_of_the_vendor)
{
	use_intel(0x5e, 0xa0e03);
	ck_assert_uint_eq(u.msr, 0x606);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_PKG), 0x611);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_DRAM), 0x619);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_CORES), 0x639);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_GPU), 0x641);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_PLATFORM), 0x64d);
	ck_assert(hwpmc_rapl_model(&u, false, true, 0x19, 0x61));
	ck_assert_uint_eq(u.msr, 0xc0010299);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_PKG), 0xc001029b);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_CORES), 0xc001029a);
	ck_assert_uint_eq(hwpmc_rapl_register(&u, RAPL_DRAM), 0);
	ck_assert(!hwpmc_rapl_model(&u, false, true, 0x15, 2));
	ck_assert(!hwpmc_rapl_model(&u, true, false, 15, 4));
	ck_assert(!hwpmc_rapl_model(&u, false, false, 6, 0x5e));
}
END_TEST

/* Half of the time that 2 kW take for 2^32 units. */
START_TEST(no_register_of_energy_wraps_between_two_harvests)
{
	use_intel(0x5e, 0xa0e03);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 60000);
	use_intel(0x5e, 0xa1003);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 16384);
	use_intel(0x55, 0xa0e03);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 16384);
	use_intel(0x5e, 0xa1403);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 1024);
	use_intel(0x5e, 0xa1f03);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 10);
	use_intel(0x37, 0x503);
	ck_assert_uint_eq(hwpmc_rapl_wrap_ms(&u), 34359);
}
END_TEST

int main(void)
{
	harness_add(a_model_whose_unit_is_not_certain_has_no_energy);
	harness_add(energy_is_in_microjoules_on_every_model);
	harness_add(energy_of_years_is_exact);
	harness_add(registers_are_those_of_the_vendor);
	harness_add(no_register_of_energy_wraps_between_two_harvests);
	return harness_run();
}
