/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_periods - what the first period of a PMC that samples begins with, and that its
 * records wake a reader that waits for them without an end.
 */
#define _GNU_SOURCE
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_session.h"

/* ---- the first period ----------------------------------------------------- */

/* Not what is left of one of 2^40. */
static void check_period_of_10000(struct session *s, uint32_t id)
{
	ok(s, hwpmc_start(s->h, id));
	dev_spin(100000);
	ok(s, hwpmc_stop(s->h, id));
	finish(s);
	ck_assert_uint_ge(s->t.samples, 30);
	check_conserved(s);
}

/* Threads that were sampled have a part of the old period left. */
START_TEST(a_new_period_begins_at_the_next_start)
{
	struct session s;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1ULL << 40);
	ok(&s, hwpmc_attach(s.h, id, 0));
	ok(&s, hwpmc_start(s.h, id));
	dev_spin(1000);
	ok(&s, hwpmc_stop(s.h, id));
	ok(&s, hwpmc_set(s.h, id, 10000));
	check_period_of_10000(&s, id);
	end(&s);
}
END_TEST

/* What another PMC has left of its period stays with the thread, which is a target yet. */
START_TEST(a_new_pmc_of_a_row_begins_a_period_of_its_own)
{
	uint32_t keeps, before, id;
	struct session s;

	begin(&s, FAST, 0);
	keeps = allocate(&s, "branches:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0);
	ok(&s, hwpmc_attach(s.h, keeps, 0));
	before = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1ULL << 40);
	ok(&s, hwpmc_attach(s.h, before, 0));
	ok(&s, hwpmc_start(s.h, before));
	dev_spin(1000);
	ok(&s, hwpmc_release(s.h, before));
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 10000);
	ck_assert_uint_eq(HWPMC_ID_ROW(id), HWPMC_ID_ROW(before));
	ok(&s, hwpmc_attach(s.h, id, 0));
	check_period_of_10000(&s, id);
	end(&s);
}
END_TEST

/* ---- waiting for records -------------------------------------------------- */

static void *go_when_it_waits(void *child)
{
	dev_await_call(getpid(), SYS_poll);
	dev_go(child);
	return NULL;
}

static int leave_out(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

/* Without an end of its own: what wakes the reader is what the child does. */
static void wait_for_records_of(void (*fn)(void *), const char *event, int mode,
				uint32_t flags, uint64_t n)
{
	struct child c = dev_child(fn, NULL);
	struct hwpmc_rings *rings;
	pthread_t thread;
	struct hwpmc *h;
	uint32_t id;

	ck_assert_int_eq(hwpmc_open(&h), 0);
	ck_assert_int_eq(hwpmc_rings_open(h, SMALL_RING, 0, &rings), 0);
	ck_assert_int_eq(hwpmc_allocate(h, event, mode, flags, HWPMC_CPU_ANY, n, &id), 0);
	ck_assert_int_eq(hwpmc_attach(h, id, c.pid), 0);
	ck_assert_int_eq(hwpmc_start(h, id), 0);
	hwpmc_rings_read(rings, leave_out, NULL, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, go_when_it_waits, &c), 0);
	ck_assert_int_eq(hwpmc_rings_wait(rings, -1), 1);
	pthread_join(thread, NULL);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, NULL, 0);
	hwpmc_rings_close(rings);
	hwpmc_close(h);
}

static void spin_and_stay(void *unused)
{
	dev_spin(1000000);
	pause();
}

START_TEST(a_reader_that_waits_is_woken_by_a_sample)
{
	wait_for_records_of(spin_and_stay, "instructions:u", HWPMC_MODE_TS, 0, 1000);
}
END_TEST

static void sleep_and_stay(void *unused)
{
	const struct timespec moment = { .tv_nsec = 1 };

	for (int i = 0; i < 1000; i++)
		nanosleep(&moment, NULL);
	pause();
}

START_TEST(a_reader_that_waits_is_woken_by_a_value)
{
	wait_for_records_of(sleep_and_stay, "instructions:u", HWPMC_MODE_TC,
			    HWPMC_F_LOG_PROCCSW, 0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(NULL, dev_still_counts);
	harness_add(a_new_period_begins_at_the_next_start);
	harness_add(a_new_pmc_of_a_row_begins_a_period_of_its_own);
	harness_add_timed(a_reader_that_waits_is_woken_by_a_sample, 30);
	harness_add_timed(a_reader_that_waits_is_woken_by_a_value, 30);
	return harness_run();
}
