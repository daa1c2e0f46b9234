/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_late.c - interrupts of AMD's that come a little later than their overflow, and what that
 * costs where threads switch: a switch does not wait for one that is on its way.
 */
#include <sched.h>

#include "harness.h"
#include "../lib/kmod_pmi.h"

#define PERIOD		2003
#define SWITCHES	2000	/* of each of two threads */

static void spin_and_give_way(void *arg)
{
	for (int i = 0; i < SWITCHES; i++) {
		dev_spin(200 + i % 61);
		sched_yield();
	}
}

/* Two threads take turns while NMIs are late by so many instructions: all periods are sampled
 * or late. */
static void sample_switches(const char *event, uint64_t late)
{
	uint32_t id = allocate(event, HWPMC_MODE_TS, 0, ANY, PERIOD);
	struct child c[2];

	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(spin_and_give_way, NULL);
		dev_pin(c[i].pid, 0);
		ok(hwpmc_attach(h, id, c[i].pid));
	}
	knob(VPMU_KNOB_LATE, late);
	ok(hwpmc_start(h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(hwpmc_stop(h, id));
	check_conserved();
	printf("# %s, late by %lu: %lu samples, %lu late\n", event, late, samples,
	       dropped[HWPMC_DROP_LATE]);
	check_no_unknown_nmi();
}

/* The kernel executes more from there to the switch. */
START_TEST(interrupts_late_by_1000_instructions_cost_user_mode_no_sample)
{
	sample_switches("instructions:u", 1000);
	ck_assert_uint_gt(samples, 1000);
	ck_assert_uint_eq(dropped[HWPMC_DROP_LATE], 0);
	all_is_well();
}
END_TEST

/* Of both modes those overflows are late that happen within that time before a switch. */
START_TEST(interrupts_late_by_300_instructions_cost_as_many_as_switches_meet)
{
	const uint64_t met = 2 * SWITCHES * 300 / PERIOD;

	sample_switches("instructions", 300);
	ck_assert_uint_gt(samples, 3000);
	ck_assert_uint_gt(dropped[HWPMC_DROP_LATE], met / 4);
	ck_assert_uint_lt(dropped[HWPMC_DROP_LATE], met * 3 / 2);
	all_is_well();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(pmi_setup, NULL);
	harness_add(interrupts_late_by_1000_instructions_cost_user_mode_no_sample);
	harness_add(interrupts_late_by_300_instructions_cost_as_many_as_switches_meet);
	return harness_run();
}
