/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_tsan.c - threads that share a handle, under ThreadSanitizer, which ends a process that
 * raced with 66. The library is compiled into this program with it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define THREADS	8
#define ROUNDS	100
#define RACED	66

/* TSan reads the options when the program begins. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0:exitcode=66";
}

static struct hwpmc *h;
static pthread_barrier_t together;

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

static void with_threads(void *(*fn)(void *), void *arg)
{
	pthread_t thread[THREADS];

	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		ck_assert(!pthread_create(&thread[i], NULL, fn, arg));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	hwpmc_close(h);
}

/* ---- the control -------------------------------------------------------------- */

static int unprotected;

static void *race(void *unused)
{
	for (int i = 0; i < 1000; i++)
		unprotected++;
	return NULL;
}

START_TEST(threads_that_race_are_found_here)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		/* The report is expected. */
		fclose(stderr);
		close(STDERR_FILENO);
		pthread_create(&thread, NULL, race, NULL);
		race(NULL);
		pthread_join(thread, NULL);
		exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), RACED);
}
END_TEST

/* ---- one handle ----------------------------------------------------------------- */

static uint32_t allocate(const char *event)
{
	uint32_t id;

	ok(hwpmc_allocate(h, event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, 0));
	ok(hwpmc_start(h, id));
	return id;
}

static void use_region(uint32_t id)
{
	struct hwpmc_region *r = hwpmc_region_new(h, "test", &id, 1);
	struct hwpmc_region_stats s;

	ck_assert_msg(r != NULL, "%s", hwpmc_error(h));
	for (int i = 0; i < 3; i++) {
		hwpmc_region_begin(r);
		hwpmc_region_end(r);
	}
	ok(hwpmc_region_get(r, 0, &s));
	ck_assert_uint_eq(s.count + s.dropped, 3);
	hwpmc_region_free(r);
}

static void use_mapped(uint32_t id)
{
	struct hwpmc_counter c;
	uint64_t value;

	ok(hwpmc_counter_open(h, id, &c));
	ok(hwpmc_counter_read(&c, &value));
	ck_assert_uint_gt(value, 0);
}

/* All threads use this PMC, and one of them releases it. */
static uint32_t shared;

static void *use_shared(void *unused)
{
	for (int round = 0; round < ROUNDS; round++) {
		bool first = pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD;

		if (first)
			shared = allocate("instructions:u");
		pthread_barrier_wait(&together);
		use_region(shared);
		use_mapped(shared);
		first = pthread_barrier_wait(&together) == PTHREAD_BARRIER_SERIAL_THREAD;
		if (first)
			ok(hwpmc_release(h, shared));
	}
	return NULL;
}

START_TEST(threads_use_a_pmc_that_is_released_each_round)
{
	with_threads(use_shared, NULL);
}
END_TEST

static int ignore_event(const struct hwpmc_event_info *info, void *arg)
{
	*(unsigned int *)arg += info->name != NULL;
	return 0;
}

/* Names are looked up, listed and refused while other threads do it the first time. */
static void *use_names(void *unused)
{
	struct hwpmc_event ev;
	unsigned int n = 0;

	pthread_barrier_wait(&together);
	ok(hwpmc_event_parse(h, "instructions:u", &ev));
	ck_assert_int_lt(hwpmc_event_parse(h, "no-such-event", &ev), 0);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "no-such-event"));
	ck_assert_int_eq(hwpmc_event_each(h, HWPMC_CLASS_SOFT, ignore_event, &n), 0);
	ck_assert_uint_gt(n, 0);
	return NULL;
}

START_TEST(threads_look_up_names_at_the_same_time)
{
	with_threads(use_names, NULL);
}
END_TEST

static unsigned int opened;

/* Threads allocate, use and release PMCs of their own. */
static void *use_own(void *unused)
{
	static const char *const event[] = { "instructions:u", "branches:u", "cycles:u" };

	pthread_barrier_wait(&together);
	for (int round = 0; round < ROUNDS / 10; round++) {
		uint64_t value;
		uint32_t id;

		/* More threads than counters. */
		if (hwpmc_open_counter(h, event[round % 3], HWPMC_MODE_TC, 0, 0, 0, &id))
			continue;
		ok(hwpmc_start(h, id));
		ok(hwpmc_read(h, id, &value));
		ok(hwpmc_release(h, id));
		__atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

START_TEST(threads_open_read_and_release_their_own_pmcs)
{
	with_threads(use_own, NULL);
	ck_assert_uint_ge(opened, ROUNDS / 10);
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_WATCHDOG);
	harness_add(threads_that_race_are_found_here);
	harness_add(threads_use_a_pmc_that_is_released_each_round);
	harness_add(threads_look_up_names_at_the_same_time);
	harness_add(threads_open_read_and_release_their_own_pmcs);
	return harness_run();
}
