/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_gone.c - processes that a user has named and that have ended: which messages they have,
 * and that no recording of hwpmc record --every begins with one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/gone.h"
#include "common/watch.h"
#include "harness.h"
#include "record/every.h"

#define SECOND_NS	1000000000ull

static char dir[] = "/tmp/hwpmc-gone-XXXXXX";
static char text[4096];

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_ptr_nonnull(freopen("said", "w", stderr));
}

static void teardown(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static char *contents(const char *path)
{
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static char *said(void)
{
	fflush(stderr);
	return contents("said");
}

static pid_t ended(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* Nobody waits for it before the test ends. */
static pid_t zombie(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

START_TEST(ended_processes_go_with_a_message_if_another_lives)
{
	pid_t pid[] = { ended(), getpid(), zombie(), getppid() };
	unsigned int n = 4;

	gone_remove(pid, &n, "sample", "process");
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(pid[0], getpid());
	ck_assert_int_eq(pid[1], getppid());
	ck_assert_ptr_nonnull(strstr(said(), "it has ended; going on with the others"));
}
END_TEST

START_TEST(ended_processes_stay_silently_if_no_other_lives)
{
	pid_t pid[] = { ended(), zombie(), ended() };
	const pid_t before[] = { pid[0], pid[1], pid[2] };
	unsigned int n = 3;

	gone_remove(pid, &n, "sample", "process");
	ck_assert_uint_eq(n, 3);
	for (unsigned int i = 0; i < n; i++)
		ck_assert(!gone_remove_one(pid, &n, i, "sample", "process"));
	ck_assert_mem_eq(pid, before, sizeof(pid));
	ck_assert_str_eq(said(), "");
}
END_TEST

/* Of recordings that are made again and again. */
struct rounds {
	pid_t pid[2], first;		/* first: ends with the first recording */
	unsigned int n, made;
};

static void before(void *arg)
{
	struct rounds *r = arg;

	/* The first process ends between the first and the second recording. */
	if (r->made++ == 1) {
		kill(r->first, SIGKILL);
		waitpid(r->first, NULL, 0);
	}
	gone_remove(r->pid, &r->n, "sample", "process");
}

static int once(void *arg, const char *path)
{
	struct rounds *r = arg;
	FILE *log = fopen(path, "we"), *all = fopen("all", "ae");

	fprintf(all, "%u:%d\n", r->n, r->pid[0] == r->first);
	fclose(all);
	fprintf(log, "a log\n");
	fclose(log);
	return 0;
}

START_TEST(later_recordings_begin_without_processes_that_ended)
{
	struct rounds r = { .n = 2 };
	const struct every_part part = { before, once, &r };
	const struct every e = {
		.every_ns = SECOND_NS / 10, .duration_ns = SECOND_NS, .directory = "logs",
	};
	char *line;

	r.first = r.pid[0] = fork();
	if (!r.first)
		for (;;)
			pause();
	r.pid[1] = getpid();
	ck_assert_int_eq(every_run(&e, &part), 0);
	ck_assert_uint_ge(r.made, 2);
	line = strtok(contents("all"), "\n");
	ck_assert_str_eq(line, "2:1");
	for (unsigned int i = 1; i < r.made; i++) {
		line = strtok(NULL, "\n");
		ck_assert_str_eq(line, "1:0");
	}
	/* One message, not one for each recording. */
	line = strstr(said(), "cannot sample process");
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_null(strstr(line + 1, "cannot sample process"));
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(ended_processes_go_with_a_message_if_another_lives);
	harness_add(ended_processes_stay_silently_if_no_other_lives);
	harness_add(later_recordings_begin_without_processes_that_ended);
	return harness_run();
}
