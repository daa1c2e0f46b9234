/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_cost.c - what the walk by unwind tables costs, in instructions: counted by
 * single-stepping the module's own source, compiled without sanitizers. And what tables
 * cost, in bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "libhwpmcstat.h"

#define FRAMES	46
/* More, where the source has the faults of tests/mutants in it. */
#ifndef MUTANT_COST
#define MUTANT_COST	0
#endif

static int wait_for(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* It is stopped at a breakpoint: instructions up to the next. */
static long steps_to_breakpoint(pid_t pid)
{
	long at, word, steps;

	for (steps = 0; steps < 100000; steps++) {
		at = ptrace(PTRACE_PEEKUSER, pid, 8 * 16, 0);
		word = ptrace(PTRACE_PEEKTEXT, pid, at, 0);
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
		ck_assert(WIFSTOPPED(wait_for(pid)));
		if ((word & 0xff) == 0xcc)
			break;
	}
	return steps;
}

/* Goes on to the next; false: it has exited, with 0 if all was right. */
static bool goes_on(pid_t pid)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	status = wait_for(pid);
	if (WIFSTOPPED(status))
		return true;
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	return false;
}

START_TEST(a_stack_that_has_not_changed_is_walked_in_few_instructions_and_read_again)
{
	pid_t pid = fork();
	long cold, warm, rules;

	if (!pid) {
		execl(COST, COST, (char *)NULL);
		_exit(127);
	}
	ck_assert(WIFSTOPPED(wait_for(pid)));
	cold = steps_to_breakpoint(pid);
	ck_assert(goes_on(pid));
	warm = steps_to_breakpoint(pid);
	printf("# %ld instructions a frame, %ld remembered\n", cold / FRAMES, warm / FRAMES);
	ck_assert_int_gt(warm, FRAMES);
	ck_assert_int_le(warm, (32 + MUTANT_COST) * FRAMES);
	ck_assert_int_le(cold, (180 + MUTANT_COST) * FRAMES);
	ck_assert_int_lt(warm, cold);
	/* After a word of the stack has changed. */
	ck_assert(goes_on(pid));
	steps_to_breakpoint(pid);
	/* No frame is remembered then, and each rule. */
	ck_assert(goes_on(pid));
	rules = steps_to_breakpoint(pid);
	printf("# %ld by rules\n", rules / FRAMES);
	ck_assert_int_le(rules, (96 + MUTANT_COST) * FRAMES);
	ck_assert_int_gt(rules, warm);
	ck_assert(!goes_on(pid));
}
END_TEST

static void read_table(const char *path, struct hwpmc_unwind *u)
{
	int fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(hwpmc_unwind_read(fd, u), 0);
	close(fd);
}

START_TEST(tables_are_small_and_the_same_each_time)
{
	static const struct {
		const char *path;
		size_t bytes;
	} files[] = {
		{ "/lib/x86_64-linux-gnu/libc.so.6", 200000 },
		{ "/usr/bin/python3", 480000 },
	};
	struct hwpmc_unwind u, again;

	for (unsigned int i = 0; i < 2; i++) {
		read_table(files[i].path, &u);
		read_table(files[i].path, &again);
		printf("# %s: %zu bytes\n", files[i].path, u.nrow * sizeof(u.row[0]));
		ck_assert_uint_le(u.nrow * sizeof(u.row[0]), files[i].bytes);
		ck_assert_uint_eq(u.nrow, again.nrow);
		ck_assert_mem_eq(u.row, again.row, u.nrow * sizeof(u.row[0]));
		/* Equal neighbours are one row. */
		for (uint32_t j = 1; j < u.nrow; j++)
			ck_assert_uint_ne(u.row[j].rule, u.row[j - 1].rule);
		hwpmc_unwind_free(&u);
		hwpmc_unwind_free(&again);
	}
}
END_TEST

int main(void)
{
	harness_add(a_stack_that_has_not_changed_is_walked_in_few_instructions_and_read_again);
	harness_add(tables_are_small_and_the_same_each_time);
	return harness_run();
}
