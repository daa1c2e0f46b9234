/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_fleet.c - the directory of logs between hwpmc record --every and hwpmc push: the
 * numbers, the limit, the account, two that push, what killed ones leave; times; bodies of
 * requests. On the host, under ASan and UBSan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fleet/push.h"
#include "record/every.h"
#include "record/logdir.h"
#include "harness.h"

#define PIECE	(64u << 10)

static char path[] = "/tmp/hwpmc-fleet.XXXXXX";
static struct logdir dir;

static void open_dir(void)
{
	char err[600];

	strcpy(path, "/tmp/hwpmc-fleet.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	ck_assert_int_eq(logdir_open(&dir, path, true, err, sizeof(err)), 0);
}

static void close_dir(void)
{
	char command[80];

	logdir_close(&dir);
	snprintf(command, sizeof(command), "rm -r %s", path);
	ck_assert_int_eq(system(command), 0);
}

static void put_file(const char *name, size_t size)
{
	static const char piece[PIECE];
	int fd = openat(dir.dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	while (size) {
		size_t n = size < PIECE ? size : PIECE;

		ck_assert_int_eq(write(fd, piece, n), n);
		size -= n;
	}
	close(fd);
}

/* A recording that left a log. */
static uint64_t put_log(size_t size)
{
	uint64_t number = logdir_next(&dir);
	char name[LOGDIR_NAME];

	put_file(logdir_name(name, number), size);
	ck_assert(logdir_ended(&dir, number));
	return number;
}

static uint64_t account(enum logdir_key key)
{
	uint64_t waiting, bytes;
	struct logdir_account a;

	ck_assert_int_eq(logdir_read(&dir, &a, &waiting, &bytes), 0);
	ck_assert_uint_eq(a.n[LOGDIR_BEGUN], a.n[LOGDIR_FAILED] + a.n[LOGDIR_PUSHED] +
			  a.n[LOGDIR_REFUSED] + a.n[LOGDIR_EMPTY] + a.n[LOGDIR_DROPPED] +
			  waiting);
	return a.n[key];
}

static bool is_there(const char *name)
{
	return faccessat(dir.dir, name, F_OK, 0) == 0;
}

START_TEST(recordings_have_numbers_that_are_never_given_twice)
{
	uint64_t number;
	int fd;

	open_dir();
	ck_assert_uint_eq(put_log(1), 1);
	ck_assert_uint_eq(put_log(1), 2);
	fd = logdir_take(&dir, 1, &number);
	logdir_done(&dir, number, LOGDIR_PUSHED);
	close(fd);
	ck_assert_uint_eq(number, 2);
	ck_assert_uint_eq(put_log(1), 3);
	/* Nor when the account is lost. */
	unlinkat(dir.dir, "account", 0);
	ck_assert_uint_eq(logdir_next(&dir), 4);
	close_dir();
}
END_TEST

START_TEST(the_oldest_logs_are_dropped_down_to_the_limit_and_counted)
{
	open_dir();
	for (int i = 0; i < 5; i++)
		put_log(PIECE);
	ck_assert_uint_eq(logdir_trim(&dir, 5 * PIECE), 0);
	ck_assert_uint_eq(logdir_trim(&dir, 3 * PIECE), 2);
	ck_assert(!is_there("0000000001.log") && !is_there("0000000002.log"));
	ck_assert(is_there("0000000003.log"));
	ck_assert_uint_eq(account(LOGDIR_DROPPED), 2);
	ck_assert_uint_eq(account(LOGDIR_DROPPED_BYTES), 2 * PIECE);
	ck_assert_uint_eq(logdir_trim(&dir, 0), 3);
	ck_assert_uint_eq(account(LOGDIR_DROPPED), 5);
	close_dir();
}
END_TEST

START_TEST(a_log_that_is_being_pushed_is_neither_dropped_nor_pushed_by_another)
{
	uint64_t number, other;
	struct logdir second;
	char err[600];
	int fd, fd2;

	open_dir();
	put_log(PIECE);
	put_log(PIECE);
	fd = logdir_take(&dir, 0, &number);
	ck_assert(fd >= 0 && number == 1);
	ck_assert_int_eq(logdir_open(&second, path, false, err, sizeof(err)), 0);
	fd2 = logdir_take(&second, 0, &other);
	ck_assert(fd2 >= 0 && other == 2);
	close(fd2);
	ck_assert_uint_eq(logdir_trim(&second, 0), 1);
	ck_assert(is_there("0000000001.log") && !is_there("0000000002.log"));
	logdir_done(&dir, number, LOGDIR_PUSHED);
	close(fd);
	ck_assert_int_lt(logdir_take(&second, 0, &other), 0);
	ck_assert_uint_eq(account(LOGDIR_PUSHED), 1);
	logdir_close(&second);
	close_dir();
}
END_TEST

START_TEST(push_counts_a_log_of_no_recorder_as_begun)
{
	uint64_t number;
	int fd;

	open_dir();
	put_file("0000000001.log", PIECE);
	fd = logdir_take(&dir, 0, &number);
	ck_assert(fd >= 0 && number == 1);
	logdir_done(&dir, number, LOGDIR_PUSHED);
	close(fd);
	ck_assert_uint_eq(account(LOGDIR_BEGUN), 1);
	put_file("0000000002.log", PIECE);
	ck_assert_uint_eq(logdir_trim(&dir, 0), 1);
	ck_assert_uint_eq(account(LOGDIR_BEGUN), 2);
	close_dir();
}
END_TEST

START_TEST(what_a_killed_recorder_leaves_is_removed_and_counted_as_failed)
{
	uint64_t number;

	open_dir();
	put_log(1);
	number = logdir_next(&dir);
	ck_assert_uint_eq(number, 2);
	put_file("0000000002.log.part", PIECE);
	ck_assert(logdir_begin(&dir));
	ck_assert(!is_there("0000000002.log.part"));
	ck_assert_uint_eq(account(LOGDIR_FAILED), 1);
	/* It holds a lock until it ends. */
	ck_assert(!logdir_begin(&dir));
	/* One that was recorded, and killed before it was said: nothing failed. */
	number = logdir_next(&dir);
	put_file("0000000003.log", 1);
	ck_assert_uint_eq(account(LOGDIR_FAILED), 1);
	ck_assert(logdir_ended(&dir, number));
	number = logdir_next(&dir);
	put_file("0000000004.log.part", 1);
	ck_assert(!logdir_ended(&dir, number));
	ck_assert(!is_there("0000000004.log.part"));
	ck_assert_uint_eq(account(LOGDIR_FAILED), 2);
	close_dir();
}
END_TEST

START_TEST(a_log_that_is_pushed_before_its_recorder_looks_has_not_failed)
{
	uint64_t number, taken;
	int fd;

	open_dir();
	ck_assert(logdir_begin(&dir));
	number = logdir_next(&dir);
	put_file("0000000001.log", 1);
	fd = logdir_take(&dir, 0, &taken);
	ck_assert(fd >= 0 && taken == number);
	logdir_done(&dir, taken, LOGDIR_EMPTY);
	close(fd);
	ck_assert(logdir_ended(&dir, number));
	ck_assert_uint_eq(account(LOGDIR_FAILED), 0);
	ck_assert_uint_eq(account(LOGDIR_EMPTY), 1);
	close_dir();
}
END_TEST

START_TEST(files_of_other_names_and_kinds_are_no_logs)
{
	uint64_t number;

	open_dir();
	put_file("notes.log", 1);
	put_file("0.log", 1);
	put_file("1.log.old", 1);
	ck_assert_int_eq(symlinkat("/etc/passwd", dir.dir, "0000000007.log"), 0);
	ck_assert_int_lt(logdir_take(&dir, 0, &number), 0);
	ck_assert_uint_eq(logdir_trim(&dir, 0), 0);
	ck_assert(is_there("notes.log") && is_there("1.log.old"));
	ck_assert_uint_eq(account(LOGDIR_BEGUN), 0);
	unlinkat(dir.dir, "0000000007.log", 0);
	close_dir();
}
END_TEST

START_TEST(times_have_units_and_are_taken_whole)
{
	static const char *const wrong[] = { "", "s", "0", "0s", "1d", "-1s", "1.5s", "1 s",
					     "99999999999999999999s", "9999999999999h" };
	uint64_t ns = 0;

	ck_assert_int_eq(every_time("10s", &ns), 0);
	ck_assert_uint_eq(ns, 10000000000);
	ck_assert_int_eq(every_time("10", &ns), 0);
	ck_assert_uint_eq(ns, 10000000000);
	ck_assert_int_eq(every_time("250ms", &ns), 0);
	ck_assert_uint_eq(ns, 250000000);
	ck_assert_int_eq(every_time("2m", &ns), 0);
	ck_assert_uint_eq(ns, 120000000000);
	ck_assert_int_eq(every_time("1h", &ns), 0);
	ck_assert_uint_eq(ns, 3600000000000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_msg(every_time(wrong[i], &ns) < 0, "'%s' was taken", wrong[i]);
}
END_TEST

/* What a receiver decodes is in tests/export/push; here lengths that are no triples. */
START_TEST(bodies_have_each_byte_in_base64)
{
	static const char *const want[] = { "\"\"", "\"AP8=\"", "\"AP8Q\"", "\"AP8QgA==\"" };
	static const uint8_t bytes[] = { 0, 255, 16, 128 };
	static const size_t len[] = { 0, 2, 3, 4 };

	for (int i = 0; i < 4; i++) {
		struct push_profile p = {
			.service = "s", .id = "i", .pprof = bytes, .len = len[i],
		};
		struct push_body body;
		char text[40];

		push_body(PUSH_PARCA, &p, &body);
		snprintf(text, sizeof(text), "\"rawProfile\":%s}", want[i]);
		ck_assert_msg(strstr(body.data, text), "no %s in %s", text, body.data);
		ck_assert_uint_eq(body.len, strlen(body.data));
		push_body_free(&body);
	}
}
END_TEST

START_TEST(labels_in_a_query_divide_nothing)
{
	struct push_label label = { "zone", "a=b,{c}\" &d" };
	struct push_profile p = {
		.service = "s/1", .label = &label, .nlabel = 1, .id = "i", .pprof = "",
		.first = 1999999999, .last = 3000000000,
	};
	struct push_body body;

	push_body(PUSH_INGEST, &p, &body);
	ck_assert_str_eq(body.path, "/ingest?format=pprof&name=s%2F1%7Bzone%3Da_b__c__%20%26d%7D"
			 "&from=1&until=4");
	push_body_free(&body);
	ck_assert_int_eq(push_label_check("a_1"), 0);
	ck_assert_int_eq(push_label_check("_a"), 0);
	ck_assert_int_lt(push_label_check("1a"), 0);
	ck_assert_int_lt(push_label_check(""), 0);
	ck_assert_int_lt(push_label_check("a-b"), 0);
	ck_assert_int_lt(push_label_check("__a"), 0);
	ck_assert_int_lt(push_label_check("service_name"), 0);
}
END_TEST

int main(void)
{
	harness_add(recordings_have_numbers_that_are_never_given_twice);
	harness_add(the_oldest_logs_are_dropped_down_to_the_limit_and_counted);
	harness_add(a_log_that_is_being_pushed_is_neither_dropped_nor_pushed_by_another);
	harness_add(push_counts_a_log_of_no_recorder_as_begun);
	harness_add(what_a_killed_recorder_leaves_is_removed_and_counted_as_failed);
	harness_add(a_log_that_is_pushed_before_its_recorder_looks_has_not_failed);
	harness_add(files_of_other_names_and_kinds_are_no_logs);
	harness_add(times_have_units_and_are_taken_whole);
	harness_add(bodies_have_each_byte_in_base64);
	harness_add(labels_in_a_query_divide_nothing);
	return harness_run();
}
