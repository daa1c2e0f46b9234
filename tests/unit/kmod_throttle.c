// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_throttle.c - when sampling on a CPU has to pause: the cost of its NMIs, and
 * NMIs that keep other interrupts away.
 */
#include "sampling/throttle_state.h"
#include "harness.h"

#define WINDOW	1000ULL		/* ticks; also the patience with an interrupt */
#define MANY	HWPMC_NMIS_MANY
#define START	50000ULL

enum { GO_ON = HWPMC_STARVATION_GO_ON, PROBE = HWPMC_STARVATION_PROBE,
	PAUSE = HWPMC_STARVATION_PAUSE };

/* ---- cost ---------------------------------------------------------------- */

START_TEST(cost_is_over_where_more_than_the_share_of_a_window_is_spent)
{
	struct hwpmc_cost cost = { .began = START };

	hwpmc_cost_add(&cost, START, START + 250, WINDOW);
	ck_assert(!hwpmc_cost_is_over(&cost, WINDOW, 25));
	ck_assert(hwpmc_cost_is_over(&cost, WINDOW, 24));
	hwpmc_cost_add(&cost, START + 999, START + 1000, WINDOW);
	ck_assert(hwpmc_cost_is_over(&cost, WINDOW, 25));
	ck_assert_uint_eq(hwpmc_cost_percent(&cost, START + 1000), 25);
}
END_TEST

START_TEST(nmi_that_ends_after_the_window_begins_the_next_one)
{
	struct hwpmc_cost cost = { .began = START };

	hwpmc_cost_add(&cost, START, START + 900, WINDOW);
	hwpmc_cost_add(&cost, START + 991, START + WINDOW + 1, WINDOW);
	ck_assert_uint_eq(cost.began, START + 991);
	ck_assert_uint_eq(cost.spent, 10);
	ck_assert(!hwpmc_cost_is_over(&cost, WINDOW, 1));
}
END_TEST

START_TEST(cost_of_an_nmi_is_what_it_took_or_the_most)
{
	ck_assert_uint_eq(hwpmc_cost_began(START, START + 100, 100), START);
	ck_assert_uint_eq(hwpmc_cost_began(START, START + 101, 100), START + 1);
	ck_assert_uint_eq(hwpmc_cost_began(START, START + 5 * WINDOW, 100),
			  START + 5 * WINDOW - 100);
}
END_TEST

START_TEST(nmi_that_is_longer_than_a_window_costs_all_of_its_time)
{
	struct hwpmc_cost cost = { 0 };

	hwpmc_cost_add(&cost, START, START + 5 * WINDOW, WINDOW);
	ck_assert(hwpmc_cost_is_over(&cost, WINDOW, 100));
	ck_assert_uint_eq(hwpmc_cost_percent(&cost, START + 5 * WINDOW), 99);
}
END_TEST

/* ---- starvation ---------------------------------------------------------- */

/* Of an NMI, as far as it can be measured: MANY fill most of a window. */
#define COST	(WINDOW / 40)

static int nmi(struct hwpmc_starvation *s, bool irqs_on, u64 now)
{
	return hwpmc_starvation_nmi(s, s->timer_irqs, irqs_on, now - COST, now, WINDOW);
}

/* n NMIs without a timer interrupt, none of which may want anything. */
static void quiet_nmis(struct hwpmc_starvation *s, unsigned int n, bool irqs_on,
		       u64 now)
{
	while (n--)
		ck_assert_int_eq(nmi(s, irqs_on, now), GO_ON);
}

/* A CPU whose timer came at START, and that is PROBED since START + WINDOW + 1. */
static struct hwpmc_starvation probed(void)
{
	struct hwpmc_starvation s = { 0 };

	ck_assert_int_eq(hwpmc_starvation_nmi(&s, 1, true, START, START, WINDOW), GO_ON);
	quiet_nmis(&s, MANY, true, START + WINDOW + 1);
	ck_assert_int_eq(nmi(&s, true, START + WINDOW + 1), PROBE);
	ck_assert_int_eq(hwpmc_starvation_state(&s), HWPMC_STARVATION_PROBED);
	return s;
}

START_TEST(timer_interrupt_between_nmis_is_a_sign_of_life)
{
	struct hwpmc_starvation s = { 0 };

	for (unsigned int i = 1; i < 100; i++) {
		ck_assert_int_eq(hwpmc_starvation_nmi(&s, i, true, START + i * WINDOW,
						      START + i * WINDOW, WINDOW), GO_ON);
		ck_assert_uint_eq(s.nmis, 0);
		ck_assert_uint_eq(s.alive, START + i * WINDOW);
	}
	ck_assert_int_eq(hwpmc_starvation_state(&s), HWPMC_STARVATION_RUNNING);
}
END_TEST

START_TEST(many_nmis_within_patience_ask_for_nothing)
{
	struct hwpmc_starvation s = { 0 };

	hwpmc_starvation_nmi(&s, 1, true, START, START, WINDOW);
	quiet_nmis(&s, 100 * MANY, true, START + WINDOW);
}
END_TEST

START_TEST(few_nmis_beyond_patience_ask_for_nothing)
{
	struct hwpmc_starvation s = { 0 };

	hwpmc_starvation_nmi(&s, 1, true, START, START, WINDOW);
	quiet_nmis(&s, MANY, true, START + 100 * WINDOW);
}
END_TEST

START_TEST(many_nmis_without_an_interrupt_ask_for_one_once)
{
	struct hwpmc_starvation s = probed();

	ck_assert_uint_eq(s.nmis, 0);
	ck_assert_uint_eq(s.nmis_irqs_on, 0);
	quiet_nmis(&s, MANY, true, START + WINDOW + 2);
}
END_TEST

START_TEST(probe_that_cannot_come_between_nmis_pauses)
{
	struct hwpmc_starvation s = probed();

	quiet_nmis(&s, MANY, true, START + WINDOW + 2);
	ck_assert_int_eq(nmi(&s, true, START + WINDOW + 2), PAUSE);
}
END_TEST

START_TEST(nmis_that_find_interrupts_off_wait_for_all_of_patience)
{
	struct hwpmc_starvation s = probed();
	u64 asked = START + WINDOW + 1;

	quiet_nmis(&s, 100 * MANY, false, asked + WINDOW);
	ck_assert_int_eq(nmi(&s, false, asked + WINDOW + 1), PAUSE);
}
END_TEST

START_TEST(few_nmis_since_the_probe_do_not_pause_however_late_it_is)
{
	struct hwpmc_starvation s = probed();
	u64 now = START + WINDOW + 2;

	quiet_nmis(&s, MANY, false, now + WINDOW);
	ck_assert_int_eq(nmi(&s, false, now + WINDOW), PAUSE);
}
END_TEST

/* Interrupts are off for just under a second: 4 kHz, where an NMI takes 2 us of a window of 10 ms. */
START_TEST(nmis_with_room_between_them_do_not_pause_without_interrupts)
{
	struct hwpmc_starvation s = { 0 };
	u64 us = 1000, window = 10000 * us, now = START;
	unsigned int probes = 0;

	hwpmc_starvation_nmi(&s, 1, true, now, now, window);
	for (unsigned int i = 0; i < 4 * 1000; i++) {
		int action = hwpmc_starvation_nmi(&s, 1, false, now, now + 2 * us, window);

		ck_assert_int_ne(action, PAUSE);
		probes += action == PROBE;
		now += 250 * us;
	}
	ck_assert_uint_eq(probes, 1);
}
END_TEST

/* Another handler takes the time between them, which cannot be measured. */
START_TEST(many_nmis_that_find_interrupts_on_pause)
{
	struct hwpmc_starvation s = { 0 };
	u64 us = 1000, window = 10000 * us, now = START;
	int action = GO_ON;

	hwpmc_starvation_nmi(&s, 1, true, now, now, window);
	for (unsigned int i = 0; i < 200 && action != PAUSE; i++) {
		now += 250 * us;
		action = hwpmc_starvation_nmi(&s, 1, true, now, now + 2 * us, window);
	}
	ck_assert_int_eq(action, PAUSE);
}
END_TEST

/*
 * The same where interrupts are off: the code that has them off may get no further, for each
 * NMI is pending when the last one returns. It ends within two seconds.
 */
START_TEST(nmis_that_find_interrupts_off_for_a_second_pause)
{
	static const u64 apart[] = { 250, 1000, 30000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(apart); i++) {
		u64 us = 1000, window = 10000 * us, now = START;
		struct hwpmc_starvation s = { 0 };
		int action;

		hwpmc_starvation_nmi(&s, 1, true, now, now, window);
		do {
			now += apart[i] * us;
			ck_assert_uint_lt(now, START + 200 * window);
			action = hwpmc_starvation_nmi(&s, 1, false, now, now + 2 * us, window);
		} while (action != PAUSE);
		ck_assert_uint_gt(now, START + 100 * window);
	}
}
END_TEST

/* One ends, and half of what it took later the next one begins, whatever it took. */
START_TEST(nmis_without_room_between_them_pause_after_that_too)
{
	static const u64 costs[] = { 200, 2000, 30000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(costs); i++) {
		u64 window = 10000 * 1000, now = START + window + 1, began = now;
		struct hwpmc_starvation s = { .alive = START, .probed = now, .since = now };

		/* Room, for ten windows. */
		for (unsigned int j = 0; j < 400; j++, now += 250 * 1000)
			ck_assert_int_eq(hwpmc_starvation_nmi(&s, 0, false, now, now + costs[i],
							      window), GO_ON);
		began = now;
		while ((int)hwpmc_starvation_nmi(&s, 0, false, now, now + costs[i],
						 window) != PAUSE) {
			now += costs[i] + costs[i] / 2 + 1;
			ck_assert_uint_lt(now, began + 3 * window);
		}
	}
}
END_TEST

START_TEST(probe_that_comes_ends_the_suspicion)
{
	struct hwpmc_starvation s = probed();
	u64 came = START + WINDOW + 50;

	hwpmc_starvation_probe_came(&s, came);
	ck_assert_int_eq(hwpmc_starvation_state(&s), HWPMC_STARVATION_RUNNING);
	quiet_nmis(&s, 100 * MANY, true, came + WINDOW);
	ck_assert_int_eq(nmi(&s, true, came + WINDOW + 1), PROBE);
}
END_TEST

/* The timer tells the same as the probe: the NMIs before it do not count. */
START_TEST(timer_interrupt_while_probed_counts_nmis_from_0)
{
	struct hwpmc_starvation s = probed();
	u64 now = START + WINDOW + 2;

	quiet_nmis(&s, MANY, true, now);
	ck_assert_int_eq(hwpmc_starvation_nmi(&s, 2, true, now, now, WINDOW), GO_ON);
	ck_assert_int_eq(hwpmc_starvation_state(&s), HWPMC_STARVATION_PROBED);
	quiet_nmis(&s, MANY, true, now);
	ck_assert_int_eq(nmi(&s, true, now), PAUSE);
}
END_TEST

int main(void)
{
	harness_add(cost_is_over_where_more_than_the_share_of_a_window_is_spent);
	harness_add(nmi_that_ends_after_the_window_begins_the_next_one);
	harness_add(cost_of_an_nmi_is_what_it_took_or_the_most);
	harness_add(nmi_that_is_longer_than_a_window_costs_all_of_its_time);
	harness_add(timer_interrupt_between_nmis_is_a_sign_of_life);
	harness_add(many_nmis_within_patience_ask_for_nothing);
	harness_add(few_nmis_beyond_patience_ask_for_nothing);
	harness_add(many_nmis_without_an_interrupt_ask_for_one_once);
	harness_add(probe_that_cannot_come_between_nmis_pauses);
	harness_add(nmis_that_find_interrupts_off_wait_for_all_of_patience);
	harness_add(few_nmis_since_the_probe_do_not_pause_however_late_it_is);
	harness_add(nmis_with_room_between_them_do_not_pause_without_interrupts);
	harness_add(many_nmis_that_find_interrupts_on_pause);
	harness_add(nmis_that_find_interrupts_off_for_a_second_pause);
	harness_add(nmis_without_room_between_them_pause_after_that_too);
	harness_add(probe_that_comes_ends_the_suspicion);
	harness_add(timer_interrupt_while_probed_counts_nmis_from_0);
	return harness_run();
}
