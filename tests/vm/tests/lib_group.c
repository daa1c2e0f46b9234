/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_group - events as one object: opened, attached and started as a whole or not at all, and
 * read at one moment.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define LOOP		"build/vm/progs/loop"
#define ITERATIONS	"100000"
/* See loop.S: six digits. */
#define INSTRUCTIONS	(3 * 100000 + 7 * 6 + 8)
#define BRANCHES	(100000 + 2 * 6 + 2)
#define ROUNDS		500

static const char *const same_events[] = { "instructions:u", "instructions:u", "r00c0:u" };
#define SAME		3

static struct hwpmc *h;

static void begin(void)
{
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
}

static void end(void)
{
	hwpmc_close(h);
}

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

static struct hwpmc_group *opened(const char *const *events, unsigned int n, uint32_t flags,
				  pid_t pid)
{
	struct hwpmc_group *g;

	ok(hwpmc_group_open(h, events, n, flags, pid, &g));
	return g;
}

static void execute(unsigned long n)
{
	__asm__ __volatile__("1: nop; dec %0; jnz 1b" : "+r"(n) : : "cc");
}

static void is_idle(void)
{
	uint32_t state;

	ok(hwpmc_pmu_state(h, &state));
	ck_assert_uint_eq(state, HWPMC_PMU_IDLE);
}

START_TEST(group_counts_a_program_of_known_length)
{
	static const char *const events[] = { "branches:u", "instructions:u", "r00c0:u" };
	struct hwpmc_group *g;
	uint64_t value[3];
	int fds[2], status;
	char byte;
	pid_t pid;

	begin();
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 0)
			execl(LOOP, LOOP, ITERATIONS, NULL);
		_exit(1);
	}
	g = opened(events, 3, HWPMC_F_EXEC_START, pid);
	ok(hwpmc_group_start(g));
	close(fds[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ok(hwpmc_group_read(g, value));
	ck_assert_uint_eq(value[0], BRANCHES);
	ck_assert_uint_eq(value[1], INSTRUCTIONS);
	ck_assert_uint_eq(value[2], INSTRUCTIONS);
	ok(hwpmc_group_stop(g));
	hwpmc_group_close(g);
	is_idle();
	end();
}
END_TEST

/* A group of n events, of which one cannot be opened: nothing remains. */
static void cannot_open(const char *const *events, unsigned int n, pid_t pid, int err)
{
	struct hwpmc_group *g = (void *)&g;

	ck_assert_int_eq(hwpmc_group_open(h, events, n, 0, pid, &g), -1);
	ck_assert_msg(errno == err, "%s (%s)", hwpmc_error(h), strerror(errno));
	ck_assert_ptr_null(g);
	is_idle();
}

START_TEST(group_that_cannot_open_leaves_nothing)
{
	static const char *const unknown[] = { "instructions:u", "cycles:u", "no-such-event" };
	const char *many[HWPMC_GROUP_MAX];

	begin();
	cannot_open(unknown, 3, 0, ENOENT);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "no-such-event"));
	for (int i = 0; i < HWPMC_GROUP_MAX; i++)
		many[i] = "instructions:u";
	/* More than there are counters. */
	cannot_open(many, HWPMC_GROUP_MAX, 0, EINVAL);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_ROWS_BUSY);
	cannot_open(many, HWPMC_GROUP_MAX + 1, 0, EINVAL);
	cannot_open(many, 0, 0, EINVAL);
	cannot_open(unknown, 2, 4194303, ESRCH);
	many[1] = NULL;
	cannot_open(many, 2, 0, EINVAL);
	hwpmc_group_close(opened(same_events, SAME, 0, 0));
	is_idle();
	end();
}
END_TEST

START_TEST(group_start_is_undone_if_one_pmc_cannot)
{
	struct hwpmc_group *g;
	const uint32_t *id;
	uint64_t value[SAME];
	unsigned int n;

	begin();
	g = opened(same_events, SAME, 0, 0);
	id = hwpmc_group_ids(g, &n);
	ck_assert_uint_eq(n, SAME);
	ok(hwpmc_detach(h, id[1], 0));
	ck_assert_int_eq(hwpmc_group_start(g), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_NO_TARGETS);
	/* Only a PMC that does not run can be written. */
	for (unsigned int i = 0; i < n; i++)
		ok(hwpmc_write(h, id[i], 0));
	ok(hwpmc_attach(h, id[1], 0));
	ok(hwpmc_group_start(g));
	ok(hwpmc_group_start(g));
	ok(hwpmc_group_stop(g));
	ok(hwpmc_group_read(g, value));
	ck_assert_uint_gt(value[0], 0);
	ck_assert_uint_eq(value[0], value[1]);
	ck_assert_uint_eq(value[0], value[2]);
	hwpmc_group_close(g);
	end();
}
END_TEST

/* Another owner has a counter of this row in the process. */
static void take_row(struct hwpmc *others, pid_t pid, uint32_t row)
{
	uint32_t id[HWPMC_GROUP_MAX];
	int n = 0;

	do {
		ck_assert_msg(!hwpmc_open_counter(others, "instructions:u", HWPMC_MODE_TC, 0, pid,
						  0, &id[n]), "%s", hwpmc_error(others));
	} while (HWPMC_ID_ROW(id[n++]) != row);
	while (--n > 0)
		hwpmc_release(others, id[n - 1]);
}

START_TEST(group_attach_is_undone_if_one_pmc_cannot)
{
	struct hwpmc_group *g;
	struct hwpmc *others;
	const uint32_t *id;
	pid_t pid;

	/* It inherits no handle. */
	pid = lib_sleeper();
	begin();
	ck_assert_msg(!hwpmc_open(&others), "%s", hwpmc_error(NULL));
	g = opened(same_events, SAME, 0, 0);
	id = hwpmc_group_ids(g, NULL);
	take_row(others, pid, HWPMC_ID_ROW(id[1]));
	ck_assert_int_eq(hwpmc_group_attach(g, pid), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "attach"));
	for (unsigned int i = 0; i < SAME; i++)
		ck_assert_int_eq(hwpmc_detach(h, id[i], pid), -1);
	hwpmc_close(others);
	ok(hwpmc_group_attach(g, pid));
	ck_assert_int_eq(hwpmc_group_attach(g, pid), -1);
	ck_assert_int_eq(errno, EEXIST);
	/* It was attached before. */
	ok(hwpmc_detach(h, id[0], pid));
	/* PMCs that can be detached are. */
	ck_assert_int_eq(hwpmc_group_detach(g, pid), -1);
	for (unsigned int i = 0; i < SAME; i++)
		ck_assert_int_eq(hwpmc_detach(h, id[i], pid), -1);
	ok(hwpmc_group_attach(g, pid));
	ok(hwpmc_group_detach(g, pid));
	hwpmc_group_close(g);
	lib_end_process(pid);
	end();
}
END_TEST

/* Makes the caller's process be switched. */
static pid_t rival(void)
{
	pid_t pid;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = fork();
	if (!pid)
		for (;;)
			sched_yield();
	return pid;
}

static void reads_agree(struct hwpmc_group *g)
{
	uint64_t before[SAME], after[SAME];
	pid_t pid = rival();

	for (int i = 0; i < ROUNDS; i++) {
		ok(hwpmc_group_read(g, before));
		execute(1 + i % 7 * 100);
		if (i % 3 == 0)
			sched_yield();
		ok(hwpmc_group_read(g, after));
		for (int j = 1; j < SAME; j++)
			ck_assert_uint_eq(after[j] - before[j], after[0] - before[0]);
	}
	ck_assert_uint_gt(after[0] - before[0], 0);
	lib_end_process(pid);
}

static volatile pid_t spinner;
static volatile bool spinner_over;

static void *spin_until_over(void *unused)
{
	spinner = gettid();
	while (!spinner_over)
		execute(1000);
	return NULL;
}

/* The caller and the group's thread are two of a process. */
START_TEST(group_of_one_thread_is_read_by_another)
{
	uint64_t value[SAME], before;
	struct hwpmc_group *g;
	pthread_t thread;

	begin();
	ck_assert(!pthread_create(&thread, NULL, spin_until_over, NULL));
	while (!spinner)
		sched_yield();
	g = opened(same_events, SAME, HWPMC_F_THREAD, spinner);
	ok(hwpmc_group_start(g));
	do
		ok(hwpmc_group_read(g, value));
	while (value[0] < 100000);
	spinner_over = true;
	pthread_join(thread, NULL);
	ok(hwpmc_group_read(g, value));
	before = value[0];
	execute(1000000);
	ok(hwpmc_group_read(g, value));
	for (int i = 0; i < SAME; i++)
		ck_assert_uint_eq(value[i], before);
	hwpmc_group_close(g);
	end();
}
END_TEST

START_TEST(group_reads_by_call_are_of_one_moment)
{
	struct hwpmc_group *g;

	begin();
	g = opened(same_events, SAME, 0, 0);
	ok(hwpmc_group_start(g));
	reads_agree(g);
	hwpmc_group_close(g);
	end();
}
END_TEST

START_TEST(group_reads_by_rdpmc_are_of_one_moment)
{
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc_group *g;
	uint64_t value[SAME], calls;

	begin();
	g = opened(same_events, SAME, 0, 0);
	ok(hwpmc_group_start(g));
	ok(hwpmc_group_map(g));
	ok(hwpmc_group_read(g, value));
	ok(hwpmc_driver_stats(h, &stats));
	calls = stats.syscalls;
	for (int i = 0; i < 100; i++)
		ok(hwpmc_group_read(g, value));
	ok(hwpmc_driver_stats(h, &stats));
	/* Few of some hundred reads are switched in the middle that often. */
	ck_assert_uint_lt(stats.syscalls - calls, 20);
	reads_agree(g);
	ok(hwpmc_group_stop(g));
	ok(hwpmc_group_read(g, value));
	for (int j = 1; j < SAME; j++)
		ck_assert_uint_eq(value[j], value[0]);
	hwpmc_group_close(g);
	end();
}
END_TEST

START_TEST(group_counts_beside_another_measurer)
{
	struct hwpmc_group *g;
	struct hwpmc *others;
	uint64_t value[2];
	uint32_t id;

	begin();
	ck_assert_msg(!hwpmc_open(&others), "%s", hwpmc_error(NULL));
	ck_assert_int_eq(hwpmc_open_counter(others, "instructions:u", HWPMC_MODE_TC, 0, 0, 0, &id),
			 0);
	ck_assert_int_eq(hwpmc_start(others, id), 0);
	g = opened(same_events, 2, 0, 0);
	ok(hwpmc_group_start(g));
	execute(1000);
	ok(hwpmc_group_read(g, value));
	ck_assert_uint_gt(value[0], 3000);
	ck_assert_uint_eq(value[0], value[1]);
	hwpmc_group_close(g);
	hwpmc_close(others);
	end();
}
END_TEST

START_TEST(group_of_descendants_is_read_by_call)
{
	struct hwpmc_group *g;
	uint64_t value[SAME];

	begin();
	g = opened(same_events, SAME, HWPMC_F_DESCENDANTS, 0);
	ok(hwpmc_group_start(g));
	ck_assert_int_eq(hwpmc_group_map(g), -1);
	ck_assert_int_eq(errno, EINVAL);
	reads_agree(g);
	ok(hwpmc_group_read(g, value));
	hwpmc_group_close(g);
	end();
}
END_TEST

static int in_child(struct hwpmc_group *g)
{
	uint64_t value[SAME];

	if (!hwpmc_group_start(g) || errno != ESRCH || !hwpmc_group_stop(g) || errno != ESRCH)
		return 1;
	if (!hwpmc_group_read(g, value) || errno != ESRCH)
		return 2;
	hwpmc_group_close(g);
	hwpmc_close(h);
	return 0;
}

START_TEST(group_of_its_parent_is_refused_in_a_forked_child)
{
	struct hwpmc_group *g;
	uint64_t before[SAME], after[SAME];
	int status;
	pid_t pid;

	begin();
	g = opened(same_events, SAME, 0, 0);
	ok(hwpmc_group_start(g));
	ok(hwpmc_group_map(g));
	ok(hwpmc_group_read(g, before));
	pid = fork();
	if (!pid)
		_exit(in_child(g));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ok(hwpmc_group_read(g, after));
	ck_assert_uint_gt(after[0], before[0]);
	hwpmc_group_close(g);
	end();
}
END_TEST

static void *work(void *go)
{
	for (int i = 0; atomic_load((atomic_bool *)go) && i < 100000; i++)
		execute(100);
	return NULL;
}

START_TEST(group_includes_all_threads_when_they_have_ended)
{
	atomic_bool go = true;
	struct hwpmc_group *g;
	uint64_t last[SAME], now[SAME];
	pthread_t thread[2];

	begin();
	g = opened(same_events, SAME, 0, 0);
	ok(hwpmc_group_start(g));
	ok(hwpmc_group_map(g));
	ok(hwpmc_group_read(g, last));
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, &go);
	for (int i = 0; i < 100; i++) {
		ok(hwpmc_group_read(g, now));
		for (int j = 0; j < SAME; j++)
			ck_assert_uint_gt(now[j], last[j]);
		memcpy(last, now, sizeof(last));
	}
	atomic_store(&go, false);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ok(hwpmc_group_stop(g));
	ok(hwpmc_group_read(g, now));
	for (int j = 1; j < SAME; j++)
		ck_assert_uint_eq(now[j], now[0]);
	hwpmc_group_close(g);
	end();
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_WATCHDOG);
	harness_add(group_counts_a_program_of_known_length);
	harness_add(group_that_cannot_open_leaves_nothing);
	harness_add(group_start_is_undone_if_one_pmc_cannot);
	harness_add(group_attach_is_undone_if_one_pmc_cannot);
	harness_add(group_of_one_thread_is_read_by_another);
	harness_add(group_reads_by_call_are_of_one_moment);
	harness_add(group_reads_by_rdpmc_are_of_one_moment);
	harness_add(group_counts_beside_another_measurer);
	harness_add(group_of_descendants_is_read_by_call);
	harness_add(group_of_its_parent_is_refused_in_a_forked_child);
	harness_add(group_includes_all_threads_when_they_have_ended);
	return harness_run();
}
