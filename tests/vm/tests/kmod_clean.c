/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_clean.c - the last program of a group that storms: what is left of it.
 */
#include "harness.h"
#include "kmod_dev.h"

START_TEST(after_all_that_each_register_is_clear_and_a_count_exact)
{
	if (access(HWPMC_DEVICE, F_OK))
		ck_assert_int_eq(dev_busy_register(), 0);
	dev_setup();
	dev_check_registers_clear();
	dev_still_counts();
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
	ck_assert_int_eq(dev_busy_register(), 0);
}
END_TEST

int main(void)
{
	harness_add(after_all_that_each_register_is_clear_and_a_count_exact);
	return harness_run();
}
