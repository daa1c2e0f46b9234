// SPDX-License-Identifier: BSD-2-Clause
/* kmod_row.c - dispositions of a row: what may be added to what. */
#include "core/row.h"
#include "harness.h"

START_TEST(a_free_row_takes_either_scope)
{
	ck_assert(hwpmc_row_admits(0, true));
	ck_assert(hwpmc_row_admits(0, false));
	ck_assert_uint_eq(hwpmc_row_disp(0), HWPMC_DISP_FREE);
}
END_TEST

START_TEST(a_row_never_serves_both_scopes)
{
	s32 thread = hwpmc_row_added(0, false), system = hwpmc_row_added(0, true);

	ck_assert(hwpmc_row_admits(thread, false));
	ck_assert(!hwpmc_row_admits(thread, true));
	ck_assert_uint_eq(hwpmc_row_disp(thread), HWPMC_DISP_THREAD);
	ck_assert(hwpmc_row_admits(system, true));
	ck_assert(!hwpmc_row_admits(system, false));
	ck_assert_uint_eq(hwpmc_row_disp(system), HWPMC_DISP_STANDALONE);
}
END_TEST

START_TEST(a_row_is_free_again_when_all_uses_are_gone)
{
	for (int system = 0; system < 2; system++) {
		s32 users = 0;

		for (int i = 0; i < 5; i++)
			users = hwpmc_row_added(users, system);
		for (int i = 0; i < 5; i++) {
			ck_assert_uint_ne(hwpmc_row_disp(users),
					  HWPMC_DISP_FREE);
			users = hwpmc_row_removed(users, system);
		}
		ck_assert_uint_eq(hwpmc_row_disp(users), HWPMC_DISP_FREE);
	}
}
END_TEST

START_TEST(the_least_used_row_is_preferred)
{
	ck_assert(hwpmc_row_better(0, 1));
	ck_assert(hwpmc_row_better(1, 2));
	ck_assert(hwpmc_row_better(-1, -2));
	ck_assert(!hwpmc_row_better(2, 1));
	ck_assert(!hwpmc_row_better(1, 1));
}
END_TEST

START_TEST(modes_have_a_scope_and_a_purpose)
{
	ck_assert(hwpmc_mode_is_system(HWPMC_MODE_SS));
	ck_assert(hwpmc_mode_is_system(HWPMC_MODE_SC));
	ck_assert(!hwpmc_mode_is_system(HWPMC_MODE_TC));
	ck_assert(hwpmc_mode_is_sampling(HWPMC_MODE_TS));
	ck_assert(!hwpmc_mode_is_sampling(HWPMC_MODE_SC));
}
END_TEST

START_TEST(cpus_of_system_scope_have_ids_of_their_own)
{
	ck_assert_uint_eq(hwpmc_cpus_with_ids(1), 1);
	ck_assert_uint_eq(hwpmc_cpus_with_ids(4095), 4095);
	ck_assert_uint_eq(hwpmc_cpus_with_ids(4096), 4095);
	ck_assert_uint_eq(hwpmc_cpus_with_ids(8192), 4095);
	for (uint32_t cpu = 0; cpu < hwpmc_cpus_with_ids(8192); cpu++) {
		uint32_t id = HWPMC_ID_MAKE(cpu, HWPMC_MODE_SC, 1, 2);

		ck_assert_uint_eq(HWPMC_ID_CPU(id), cpu);
		ck_assert_uint_ne(id, HWPMC_ID_MAKE(HWPMC_CPU_ANY, HWPMC_MODE_SC, 1, 2));
	}
}
END_TEST

int main(void)
{
	harness_add(a_free_row_takes_either_scope);
	harness_add(a_row_never_serves_both_scopes);
	harness_add(a_row_is_free_again_when_all_uses_are_gone);
	harness_add(the_least_used_row_is_preferred);
	harness_add(modes_have_a_scope_and_a_purpose);
	harness_add(cpus_of_system_scope_have_ids_of_their_own);
	return harness_run();
}
