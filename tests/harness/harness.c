// SPDX-License-Identifier: BSD-2-Clause
/*
 * harness.c - see harness.h. Each test is given to libcheck as a runner of its
 * own: that is how its result can be printed, with its name, as it ends. The
 * reason of a skip comes back from the test's process through a shared page.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"

#define MAX_TESTS	512
#define REASON_SIZE	512

/*
 * Wall seconds for each second of a test's limit. Only a test that waits for an event
 * that never comes gets there; one that spins is ended by its CPU time before.
 */
#define WALL_FACTOR	10

struct test {
	const TTest *test;
	int seconds;
	void (*setup)(void), (*teardown)(void);
};

static struct test tests[MAX_TESTS];
static int n_tests;
static void (*cur_setup)(void), (*cur_teardown)(void);
static char *skip_reason;
static rlim_t cpu_seconds;	/* of the test that runs */

static const char *env_or(const char *name, const char *otherwise)
{
	const char *val = getenv(name);

	return val && *val ? val : otherwise;
}

/* HARNESS_ONLY: one of these texts, between commas, is in the name. */
static bool is_wanted(const char *name)
{
	char texts[4096], *save, *text;

	snprintf(texts, sizeof(texts), "%s", env_or("HARNESS_ONLY", ""));
	text = strtok_r(texts, ",", &save);
	if (!text)
		return true;
	for (; text; text = strtok_r(NULL, ",", &save))
		if (strstr(name, text))
			return true;
	return false;
}

void harness_add_timed(const TTest *test, int seconds)
{
	if (n_tests == MAX_TESTS) {
		fprintf(stderr, "harness: too many tests\n");
		exit(2);
	}
	if (!is_wanted(test->name))
		return;
	tests[n_tests++] = (struct test){
		test, seconds, cur_setup, cur_teardown,
	};
}

void harness_add(const TTest *test)
{
	harness_add_timed(test, 10);
}

void harness_fixture(void (*setup)(void), void (*teardown)(void))
{
	cur_setup = setup;
	cur_teardown = teardown;
}

void harness_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, REASON_SIZE, fmt, ap);
	va_end(ap);
	if (!*skip_reason)
		strcpy(skip_reason, "no reason given");
}

/*
 * The limit of a test is CPU time, which a busy machine does not shorten. It holds for
 * each process of the test. Threads add up, so it is multiplied by the number of CPUs.
 */
static void limit_cpu_time(void)
{
	const struct rlimit limit = { cpu_seconds, cpu_seconds + 5 };

	if (setrlimit(RLIMIT_CPU, &limit))
		ck_abort_msg("setrlimit(RLIMIT_CPU, %lu) fails",
			     (unsigned long)cpu_seconds);
}

static bool has_process_per_test(void)
{
	return strcmp(env_or("HARNESS_FORK", "yes"), "no");
}

static SRunner *runner_of(const struct test *t)
{
	double seconds = t->seconds * atof(env_or("HARNESS_SCALE", "1"));
	Suite *suite = suite_create(t->test->name);
	TCase *tcase = tcase_create(t->test->name);
	SRunner *runner;

	cpu_seconds = seconds * sysconf(_SC_NPROCESSORS_CONF) + 1;
	tcase_set_timeout(tcase, seconds * WALL_FACTOR);
	if (has_process_per_test())
		tcase_add_checked_fixture(tcase, limit_cpu_time, NULL);
	if (t->setup || t->teardown)
		tcase_add_checked_fixture(tcase, t->setup, t->teardown);
	tcase_add_test(tcase, t->test);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner,
				has_process_per_test() ? CK_FORK : CK_NOFORK);
	return runner;
}

static void print_line(const char *s)
{
	for (; *s; s++)
		putchar(*s == '\n' || *s == '\t' ? ' ' : *s);
	putchar('\n');
	fflush(stdout);
}

static void print_failure(int number, const char *name, SRunner *runner)
{
	TestResult **fails = srunner_failures(runner);
	const char *file = tr_lfile(fails[0]);
	char line[2048];

	snprintf(line, sizeof(line), "not ok %d - %s # %s:%d: %s", number, name,
		 file ? file : "?", tr_lno(fails[0]), tr_msg(fails[0]));
	print_line(line);
	free(fails);
}

static bool run_one(int number, const struct test *t)
{
	SRunner *runner = runner_of(t);
	bool ok;

	*skip_reason = 0;
	srunner_run_all(runner, CK_SILENT);
	ok = srunner_ntests_failed(runner) == 0 && srunner_ntests_run(runner);
	if (!ok) {
		print_failure(number, t->test->name, runner);
	} else {
		printf("ok %d - %s", number, t->test->name);
		if (*skip_reason)
			printf(" # SKIP %s", skip_reason);
		print_line("");
	}
	srunner_free(runner);
	return ok;
}

int harness_run(void)
{
	int failed = 0;

	skip_reason = mmap(NULL, REASON_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		perror("harness: mmap");
		return 2;
	}
	printf("1..%d\n", n_tests);
	for (int i = 0; i < n_tests; i++)
		printf("# plan %d - %s\n", i + 1, tests[i].test->name);
	fflush(stdout);
	for (int i = 0; i < n_tests; i++)
		failed += !run_one(i + 1, &tests[i]);
	return failed != 0;
}
