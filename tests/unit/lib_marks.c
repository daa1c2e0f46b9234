/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_marks - the listener to marks: programs write to its memory whatever they like, and its
 * answers stay within bounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/event/mark_file.h"
#include "../../lib/pmc/internal.h"
#include "harness.h"

static const char *const events[] = { "instructions:u", "branches:u" };
static struct hwpmc_marks *marks;
static struct mark_file *file;		/* as a program maps it */

static void setup(void)
{
	struct stat st;
	int fd;

	ck_assert_int_eq(hwpmc_marks_open(events, 2, &marks), 0);
	fd = open(hwpmc_marks_env(marks), O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	file = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert(file != MAP_FAILED);
	/* Its end would end the listener. */
	ck_assert_int_eq(ftruncate(fd, 0), -1);
	ck_assert_int_eq(ftruncate(fd, st.st_size + 4096), -1);
	close(fd);
}

static void teardown(void)
{
	munmap(file, file->size);
	hwpmc_marks_close(marks);
}

static struct mark_record *record(unsigned int i, const char *name, int32_t tid)
{
	struct mark_record *r = mark_record_at(file, mark_record_size(2), i);

	r->pid = 1;
	r->tid = tid;
	memcpy(r->name, name, strnlen(name, sizeof(r->name)));
	r->ready = 1;
	if (file->nrecord <= i)
		file->nrecord = i + 1;
	return r;
}

struct seen {
	unsigned int n;
	struct hwpmc_mark_stats stats[8];
	char name[8][HWPMC_MARK_NAME];
};

static int see(const struct hwpmc_mark_stats *s, void *arg)
{
	struct seen *seen = arg;

	ck_assert_uint_lt(strlen(s->name), HWPMC_MARK_NAME);
	if (seen->n < 8) {
		memcpy(seen->name[seen->n], s->name, strlen(s->name) + 1);
		seen->stats[seen->n] = *s;
	}
	seen->n++;
	return 0;
}

static int stop_at_once(const struct hwpmc_mark_stats *s, void *arg)
{
	return ++*(int *)arg + 40;
}

START_TEST(marks_of_threads_are_summed_up_by_name)
{
	struct mark_record *a = record(0, "a", 10), *b = record(1, "b", 10), *c = record(2, "a", 11);
	struct seen seen = { 0 };
	int calls = 0;

	a->begun = 2;
	spread_add(&a->values[0], 10);
	spread_add(&a->values[0], 30);
	b->misused = 1;
	c->begun = 3;
	c->dropped = 1;
	spread_add(&c->values[0], 20);
	ck_assert_int_eq(hwpmc_marks_each(marks, false, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 4);
	ck_assert_str_eq(seen.name[0], "a");
	ck_assert_int_eq(seen.stats[0].tid, 0);
	ck_assert_uint_eq(seen.stats[0].count, 3);
	ck_assert_uint_eq(seen.stats[0].sum, 60);
	ck_assert_uint_eq(seen.stats[0].median, 20);
	ck_assert_uint_eq(seen.stats[0].begun, 5);
	ck_assert_uint_eq(seen.stats[0].dropped, 1);
	ck_assert_str_eq(seen.stats[1].event, "branches:u");
	ck_assert_uint_eq(seen.stats[1].count, 0);
	ck_assert_str_eq(seen.name[2], "b");
	ck_assert_uint_eq(seen.stats[2].misused, 1);
	seen.n = 0;
	ck_assert_int_eq(hwpmc_marks_each(marks, true, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 6);
	ck_assert_int_eq(seen.stats[0].tid, 10);
	ck_assert_uint_eq(seen.stats[0].count, 2);
	ck_assert_int_eq(seen.stats[4].tid, 11);
	ck_assert_int_eq(hwpmc_marks_each(marks, true, stop_at_once, &calls), 41);
	ck_assert_int_eq(calls, 1);
}
END_TEST

static blkcnt_t blocks(void)
{
	struct stat st;

	ck_assert_int_eq(stat(hwpmc_marks_env(marks), &st), 0);
	return st.st_blocks;
}

START_TEST(marks_without_values_take_no_memory_when_read)
{
	struct seen seen = { 0 };
	blkcnt_t before;

	for (int i = 0; i < 10; i++)
		record(i, "a", i)->begun = 1;
	before = blocks();
	ck_assert_int_eq(hwpmc_marks_each(marks, true, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 20);
	ck_assert_int_eq(blocks(), before);
}
END_TEST

START_TEST(marks_that_were_never_begun_are_not_told)
{
	struct seen seen = { 0 };

	record(0, "never", 1);
	mark_record_at(file, mark_record_size(2), 1)->begun = 1;	/* begun, never ready */
	file->nrecord = 2;
	ck_assert_int_eq(hwpmc_marks_each(marks, false, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 0);
}
END_TEST

START_TEST(marks_of_a_hostile_program_stay_within_bounds)
{
	struct seen seen = { 0 };
	uint64_t programs, lost;
	char why[600];

	/* Header, and records up to the last one. */
	memset(file->why, 'w', sizeof(file->why));
	file->has_why = 2;
	memset(file->event, 'e', sizeof(file->event));
	for (unsigned int i = 0; i < 3; i++)
		memset(mark_record_at(file, mark_record_size(2), i), 0xff, mark_record_size(2));
	record(MARK_FILE_RECORDS - 1, "last", 1)->begun = 1;
	file->nrecord = UINT64_MAX;
	file->record_size = file->nevent = 0;
	ck_assert_int_eq(hwpmc_marks_each(marks, false, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 4);
	ck_assert_str_eq(seen.stats[0].event, "instructions:u");
	ck_assert_str_eq(seen.name[2], "last");
	seen.n = 0;
	ck_assert_int_eq(hwpmc_marks_each(marks, true, see, &seen), 0);
	ck_assert_uint_eq(seen.n, 8);
	ck_assert_int_eq(hwpmc_marks_state(marks, why, sizeof(why), &programs, &lost), 0);
	ck_assert_uint_eq(strlen(why), sizeof(file->why) - 1);
	file->size = 2 * MARK_FILE_PAGE + MARK_FILE_RECORDS * mark_record_size(2);
}
END_TEST

START_TEST(marks_need_one_to_eight_events_that_are_short)
{
	const char *many[HWPMC_MARKS_EVENTS + 1];
	char long_one[MARK_FILE_EVENT + 1];
	const char *one[] = { long_one };
	struct hwpmc_marks *m;

	for (int i = 0; i <= HWPMC_MARKS_EVENTS; i++)
		many[i] = "cycles";
	memset(long_one, 'x', sizeof(long_one));
	long_one[MARK_FILE_EVENT] = '\0';
	ck_assert_int_eq(hwpmc_marks_open(many, HWPMC_MARKS_EVENTS + 1, &m), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(m);
	ck_assert_int_eq(hwpmc_marks_open(one, 1, &m), -1);
	ck_assert_int_eq(errno, EINVAL);
	long_one[MARK_FILE_EVENT - 1] = '\0';
	ck_assert_int_eq(hwpmc_marks_open(one, 1, &m), 0);
	hwpmc_marks_close(m);
	ck_assert_int_eq(hwpmc_marks_open(many, HWPMC_MARKS_EVENTS, &m), 0);
	hwpmc_marks_close(m);
}
END_TEST

/* A file of that size would end the process by SIGXFSZ. */
START_TEST(marks_beyond_the_limit_of_files_are_refused)
{
	struct rlimit limit = { file->size - 1, RLIM_INFINITY };
	struct hwpmc_marks *m;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(hwpmc_marks_open(events, 2, &m), -1);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_ptr_null(m);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(NULL), "; raise the limit (ulimit -f)"));
	limit.rlim_cur++;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(hwpmc_marks_open(events, 2, &m), 0);
	hwpmc_marks_close(m);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(marks_of_threads_are_summed_up_by_name);
	harness_add(marks_without_values_take_no_memory_when_read);
	harness_add(marks_that_were_never_begun_are_not_told);
	harness_add(marks_of_a_hostile_program_stay_within_bounds);
	harness_add(marks_need_one_to_eight_events_that_are_short);
	harness_add(marks_beyond_the_limit_of_files_are_refused);
	return harness_run();
}
