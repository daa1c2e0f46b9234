/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_beside - several who measure one process with one event: each has a counter of its own,
 * while there are counters. `lib_beside itself N` counts itself while it executes 1 + 3 N
 * instructions, and says whether it counted them; `lib_beside wait FIFO N` does so when
 * somebody has opened FIFO for writing. tools_beside.sh measures both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define MANY	16
#define EVENT	"instructions:u"

static struct hwpmc *h[MANY];

static struct hwpmc *handle(void)
{
	struct hwpmc *new;

	ck_assert_msg(!hwpmc_open(&new), "%s", hwpmc_error(NULL));
	return new;
}

static void ok(struct hwpmc *of, int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(of));
}

static void execute(unsigned long n)
{
	__asm__ __volatile__("1: nop; dec %0; jnz 1b" : "+r"(n) : : "cc");
}

/* A counter of `who` for a process, counting. 0: none is left. */
static uint32_t opened(struct hwpmc *who, pid_t pid, uint32_t flags)
{
	uint32_t id;

	if (!hwpmc_open_counter(who, EVENT, HWPMC_MODE_TC, flags, pid, 0, &id)) {
		ok(who, hwpmc_start(who, id));
		return id;
	}
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(hwpmc_reason(who), HWPMC_WHY_TARGET_ROW);
	return 0;
}

/* ---- itself ------------------------------------------------------------------ */

/* By regions, to the instruction, where the thread can read its counter itself. */
static int count_itself(unsigned long n)
{
	struct hwpmc_region_stats s;
	struct hwpmc_region *r;
	struct hwpmc *mine;
	uint32_t id;

	if (hwpmc_open(&mine) ||
	    hwpmc_open_counter(mine, EVENT, HWPMC_MODE_TC, 0, 0, 0, &id) ||
	    hwpmc_start(mine, id)) {
		fprintf(stderr, "%s\n", hwpmc_error(mine));
		return 2;
	}
	r = hwpmc_region_new(mine, "itself", &id, 1);
	for (int i = 0; r && i < 5; i++) {
		hwpmc_region_begin(r);
		execute(n);
		hwpmc_region_end(r);
	}
	if (!r || hwpmc_region_get(r, 0, &s)) {
		fprintf(stderr, "%s\n", hwpmc_error(mine));
		return 3;
	}
	printf("%llu values from %llu to %llu\n", (unsigned long long)s.count,
	       (unsigned long long)s.min, (unsigned long long)s.max);
	/* n is loaded before the region begins, or in it. */
	return s.count && s.min == s.max && s.min - 3 * n <= 2 ? 0 : 4;
}

static int wait_and_count(const char *fifo, unsigned long n)
{
	uint64_t before, after;
	struct hwpmc *mine;
	uint32_t id;
	char c;
	int in;

	if (hwpmc_open(&mine) || hwpmc_open_counter(mine, EVENT, HWPMC_MODE_TC, 0, 0, 0, &id) ||
	    hwpmc_start(mine, id)) {
		fprintf(stderr, "%s\n", hwpmc_error(mine));
		return 2;
	}
	puts("ready");
	fflush(stdout);
	in = open(fifo, O_RDONLY);
	if (hwpmc_read(mine, id, &before) || read(in, &c, 1) < 0)
		return 3;
	execute(n);
	if (hwpmc_read(mine, id, &after))
		return 4;
	printf("%llu\n", (unsigned long long)(after - before));
	return after - before >= 3 * n && after - before < 3 * n + 2000 ? 0 : 5;
}

/* ---- tests --------------------------------------------------------------------- */

START_TEST(measurers_of_a_process_have_counters_of_their_own)
{
	uint64_t before[MANY], after[MANY];
	uint32_t id[MANY];
	unsigned int n = 0;
	pid_t pid = getpid();

	while (n < MANY) {
		h[n] = handle();
		id[n] = opened(h[n], n & 1 ? pid : 0, 0);
		if (!id[n])
			break;
		for (unsigned int i = 0; i < n; i++)
			ck_assert_uint_ne(HWPMC_ID_ROW(id[i]), HWPMC_ID_ROW(id[n]));
		n++;
	}
	/* No model has fewer than two, or as many as this. */
	ck_assert_uint_ge(n, 2);
	ck_assert_uint_lt(n, MANY);
	ck_assert_msg(strstr(hwpmc_error(h[n]), "each counter for it is used by another PMC (of process "),
		      "%s", hwpmc_error(h[n]));
	for (unsigned int i = 0; i < n; i++)
		ok(h[i], hwpmc_read(h[i], id[i], &before[i]));
	execute(10000);
	for (unsigned int i = 0; i < n; i++) {
		ok(h[i], hwpmc_read(h[i], id[i], &after[i]));
		ck_assert_uint_ge(after[i] - before[i], 30000);
		ck_assert_uint_lt(after[i] - before[i], 60000);
	}
	/* One ends: its counter is the next one's. */
	ok(h[0], hwpmc_release(h[0], id[0]));
	ck_assert_uint_ne(opened(h[n], 0, 0), 0);
	for (unsigned int i = 0; i <= n; i++)
		hwpmc_close(h[i]);
}
END_TEST

START_TEST(counter_is_one_that_no_descendant_has)
{
	struct hwpmc *first = handle(), *second = handle();
	pid_t pid = lib_sleeper();
	uint32_t a, b;

	a = opened(first, pid, 0);
	ck_assert_uint_ne(a, 0);
	b = opened(second, 0, HWPMC_F_DESCENDANTS);
	ck_assert_uint_ne(b, 0);
	ck_assert_uint_ne(HWPMC_ID_ROW(a), HWPMC_ID_ROW(b));
	lib_end_process(pid);
	hwpmc_close(first);
	hwpmc_close(second);
}
END_TEST

#define ONE_CLASS	"branches:u"	/* in one class, on several rows */

/* As many as there are rows, or one fewer: PMCs that count nobody. */
static unsigned int occupy(struct hwpmc *who, unsigned int most)
{
	unsigned int n = 0;
	uint32_t id;

	while (n < most && !hwpmc_allocate(who, ONE_CLASS, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id))
		n++;
	return n;
}

/* All rows have as many users, and the descendant's is the first one. */
START_TEST(row_that_a_descendant_has_is_passed_over)
{
	struct hwpmc *first = handle(), *second = handle(), *third = handle(), *fourth = handle();
	pid_t pid = lib_sleeper();
	unsigned int rows;
	uint32_t a, b;

	ok(first, hwpmc_open_counter(first, ONE_CLASS, HWPMC_MODE_TC, 0, pid, 0, &a));
	rows = occupy(third, MANY);
	ck_assert_uint_gt(rows, 1);
	ck_assert_uint_eq(occupy(fourth, rows - 1), rows - 1);
	ok(second, hwpmc_open_counter(second, ONE_CLASS, HWPMC_MODE_TC, HWPMC_F_DESCENDANTS, 0, 0,
				      &b));
	ck_assert_uint_eq(HWPMC_ID_CLASS(a), HWPMC_ID_CLASS(b));
	ck_assert_uint_ne(HWPMC_ID_ROW(a), HWPMC_ID_ROW(b));
	lib_end_process(pid);
	hwpmc_close(first);
	hwpmc_close(second);
	hwpmc_close(third);
	hwpmc_close(fourth);
}
END_TEST

START_TEST(refused_open_changes_no_argument)
{
	struct hwpmc_op_pmcopen op = { .pid = -5 };
	struct hwpmc *who = handle();
	struct hwpmc_event event;

	ok(who, hwpmc_event_parse(who, ONE_CLASS, &event));
	op.allocate.op = (struct hwpmc_op_pmcallocate){
		.mode = HWPMC_MODE_TC, .cpu = HWPMC_CPU_ANY, .caps = event.code[0].caps,
		.class = event.code[0].class_id, .flags = event.code[0].flags,
		.config = event.code[0].config, .pmcid = 4711, .count = 42,
	};
	ck_assert_int_eq(ioctl(hwpmc_fd(who), HWPMC_IOC_PMCOPEN, &op), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(op.allocate.op.hdr.reason, HWPMC_WHY_PID);
	ck_assert_uint_eq(op.allocate.op.pmcid, 4711);
	ck_assert_uint_eq(op.allocate.op.count, 42);
	hwpmc_close(who);
}
END_TEST

static unsigned int users_of_rows(struct hwpmc *who)
{
	struct hwpmc_pmcinfo *rows;
	unsigned int n, sum = 0;

	ok(who, hwpmc_pmcinfo(who, 0, &rows, &n));
	for (unsigned int i = 0; i < n; i++)
		sum += rows[i].users;
	free(rows);
	return sum;
}

static void refused(struct hwpmc *who, enum hwpmc_mode mode, uint32_t flags, pid_t pid, int err,
		    enum hwpmc_reason why)
{
	uint32_t id = 4711;

	ck_assert_int_eq(hwpmc_open_counter(who, EVENT, mode, flags, pid, 0, &id), -1);
	ck_assert_int_eq(errno, err);
	ck_assert_int_eq(hwpmc_reason(who), why);
	ck_assert_uint_eq(id, 4711);
	ck_assert_uint_eq(users_of_rows(who), 0);
}

START_TEST(counter_that_is_not_opened_leaves_nothing)
{
	struct hwpmc *who = handle();
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	refused(who, HWPMC_MODE_TC, 0, gone, ESRCH, HWPMC_WHY_NO_PROCESS);
	refused(who, HWPMC_MODE_TC, 0, -5, EINVAL, HWPMC_WHY_PID);
	refused(who, HWPMC_MODE_SC, 0, 0, EINVAL, HWPMC_WHY_SYSTEM_SCOPE);
	refused(who, 9, 0, 0, EINVAL, HWPMC_WHY_MODE);
	refused(who, HWPMC_MODE_TC, 0x80000000, 0, EINVAL, HWPMC_WHY_FLAGS);
	hwpmc_close(who);
}
END_TEST

START_TEST(process_of_another_user_is_not_opened)
{
	struct hwpmc *who;
	pid_t root = lib_sleeper(), child;
	int status;

	if (access("/dev/hwpmc", F_OK) || chmod("/dev/hwpmc", 0666))
		ck_abort_msg("no device");
	child = fork();
	if (!child) {
		uint32_t id;

		if (setgid(1) || setuid(1) || hwpmc_open(&who))
			_exit(1);
		if (!hwpmc_open_counter(who, EVENT, HWPMC_MODE_TC, 0, root, 0, &id))
			_exit(2);
		_exit(errno == EPERM && hwpmc_reason(who) == HWPMC_WHY_PRIV_ATTACH ? 0 : 3);
	}
	waitpid(child, &status, 0);
	lib_end_process(root);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(plain_attach_to_a_taken_row_names_the_call)
{
	struct hwpmc *first = handle(), *second = handle();
	uint32_t a = opened(first, 0, 0), b;
	int rc;

	ok(second, hwpmc_allocate(second, EVENT, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &b));
	rc = hwpmc_attach(second, b, 0);
	if (HWPMC_ID_ROW(a) == HWPMC_ID_ROW(b)) {
		ck_assert_int_eq(rc, -1);
		ck_assert_int_eq(errno, EBUSY);
		ck_assert_msg(strstr(hwpmc_error(second), "hwpmc_open_counter()"), "%s",
			      hwpmc_error(second));
	} else {
		ok(second, rc);
	}
	hwpmc_close(first);
	hwpmc_close(second);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "itself"))
		return count_itself(strtoul(argv[2], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "wait"))
		return wait_and_count(argv[2], strtoul(argv[3], NULL, 0));
	lib_load_module("true");
	harness_add(measurers_of_a_process_have_counters_of_their_own);
	harness_add(counter_is_one_that_no_descendant_has);
	harness_add(row_that_a_descendant_has_is_passed_over);
	harness_add(refused_open_changes_no_argument);
	harness_add(counter_that_is_not_opened_leaves_nothing);
	harness_add(process_of_another_user_is_not_opened);
	harness_add(plain_attach_to_a_taken_row_names_the_call);
	return harness_run();
}
