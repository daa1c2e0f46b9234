/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * harness.h - test programs in C: libcheck's tests and assertions, with TAP on
 * stdout as the runners want it: the plan and all names first, one line as
 * each test ends, skips with their reason.
 *
 *	START_TEST(second_attach_to_same_process_is_eexist)
 *	{
 *		ck_assert_int_eq(attach(pid), 0);
 *	}
 *	END_TEST
 *
 *	int main(void)
 *	{
 *		harness_add(second_attach_to_same_process_is_eexist);
 *		return harness_run();
 *	}
 *
 * Each test runs in a process of its own (HARNESS_FORK=no: in this one, for a
 * debugger). HARNESS_ONLY=text[,text...] runs only the tests whose name has one of
 * the texts.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <check.h>

/*
 * Add a test. Its limit is 10 s times HARNESS_SCALE (1; in a guest 4) of CPU time on
 * each CPU; if it blocks, ten times as much of wall time.
 */
void harness_add(const TTest *test);
/* The same with another limit, before scaling. */
void harness_add_timed(const TTest *test, int seconds);
/* Run around each test that is added from here on, in the test's process. */
void harness_fixture(void (*setup)(void), void (*teardown)(void));
/* Run them all; what main() returns. */
int harness_run(void);

/* In a test's own body only: end it as skipped, saying what is missing. */
#define SKIP(...) do { harness_skip(__VA_ARGS__); return; } while (0)
void harness_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
