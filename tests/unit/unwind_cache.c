/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_cache.c - unwind tables that are kept on disk: used for the very file that they
 * were made of, and never if another user could have written them. Under ASan and UBSan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "harness.h"
#include "libhwpmcstat.h"

#define HEAD	88		/* bytes before the rows */
#define CRC	80

static char dir[] = "/tmp/unwind-cache-XXXXXX";
static int cache, program;
static char kept[64];			/* the name of its table */
static struct hwpmc_unwind truth;

static void run(const char *command)
{
	ck_assert_int_eq(system(command), 0);
}

static void setup(void)
{
	const char *why;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	run("cp /bin/true program");
	program = open("program", O_RDONLY);
	ck_assert_int_eq(hwpmc_unwind_read(program, &truth), 0);
	ck_assert_uint_eq(truth.build_id_len, 20);
	cache = hwpmc_unwind_cache_open("cache", &why);
	ck_assert_int_ge(cache, 0);
	strcpy(kept, "cache/");
	for (unsigned int i = 0; i < truth.build_id_len; i++)
		sprintf(kept + 6 + 2 * i, "%02x", truth.build_id[i]);
}

static void teardown(void)
{
	char command[100];

	hwpmc_unwind_free(&truth);
	close(program);
	close(cache);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	run(command);
}

/* Is it the table of the file, but for the rule of its first row? */
static uint32_t first_rule(void)
{
	struct hwpmc_unwind u;
	uint32_t rule;

	ck_assert_int_eq(hwpmc_unwind_read_cached(program, cache, &u), 0);
	ck_assert_uint_eq(u.nrow, truth.nrow);
	ck_assert_uint_eq(u.inode, truth.inode);
	ck_assert_uint_eq(u.row[0].at, truth.row[0].at);
	ck_assert_mem_eq(&u.row[1], &truth.row[1], (u.nrow - 1) * sizeof(u.row[0]));
	rule = u.row[0].rule;
	hwpmc_unwind_free(&u);
	return rule;
}

static char *bytes;
static size_t len;

static void read_kept(void)
{
	FILE *f = fopen(kept, "r");

	ck_assert_ptr_nonnull(f);
	free(bytes);
	bytes = calloc(1, 1 << 20);
	len = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	ck_assert_uint_eq(len, HEAD + truth.nrow * sizeof(truth.row[0]));
}

static void write_kept(const char *path)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "w");
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	fclose(f);
	ck_assert_int_eq(chmod(path, 0600), 0);
}

static void put_u32(size_t at, uint32_t value)
{
	memcpy(bytes + at, &value, sizeof(value));
}

static void sum_rows(void)
{
	put_u32(CRC, crc32(0, (const Bytef *)bytes + HEAD, len - HEAD));
}

#define FALSE_RULE	(truth.row[0].rule ^ 0x20)

/* One that is whole and says something else: so it is seen whether it is used. */
static void keep_another(const char *path)
{
	unlink(kept);
	ck_assert_uint_eq(first_rule(), truth.row[0].rule);
	read_kept();
	put_u32(HEAD + 4, FALSE_RULE);
	sum_rows();
	write_kept(path);
}

/* A table is kept that is told from the true one; then the file was written at another
 * time. */
static void changed_since(time_t seconds, long nanoseconds)
{
	struct timespec times[2];
	struct stat st;

	keep_another(kept);
	ck_assert_uint_eq(first_rule(), FALSE_RULE);
	ck_assert_int_eq(fstat(program, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	times[1].tv_sec -= seconds;
	times[1].tv_nsec ^= nanoseconds;
	ck_assert_int_eq(futimens(program, times), 0);
	ck_assert_uint_eq(first_rule(), truth.row[0].rule);
}

START_TEST(a_table_that_is_kept_is_used_for_the_file_that_it_was_made_of)
{
	struct stat st;

	ck_assert_uint_eq(first_rule(), truth.row[0].rule);
	ck_assert_int_eq(stat(kept, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(stat("cache", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_uint_eq(first_rule(), truth.row[0].rule);
	/* The same build-id in another file, or in one that was changed since. */
	changed_since(1, 0);
	changed_since(0, 1);
	free(bytes);
	bytes = NULL;
}
END_TEST

static void refused_and_replaced(const char *what)
{
	ck_assert_msg(first_rule() == truth.row[0].rule, "%s: it is used", what);
	read_kept();
	ck_assert_msg(!memcmp(bytes + HEAD, truth.row, len - HEAD), "%s: it is left", what);
}

START_TEST(a_kept_table_that_others_could_have_written_is_replaced)
{
	char command[200];

	keep_another(kept);
	ck_assert_int_eq(chmod(kept, 0620), 0);
	refused_and_replaced("a group's");
	keep_another(kept);
	ck_assert_int_eq(chmod(kept, 0602), 0);
	refused_and_replaced("everybody's");
	if (!geteuid()) {
		keep_another(kept);
		ck_assert_int_eq(chown(kept, 65534, 65534), 0);
		refused_and_replaced("another user");
	}
	keep_another("elsewhere");
	snprintf(command, sizeof(command), "rm %s && ln -s ../elsewhere %s", kept, kept);
	run(command);
	refused_and_replaced("a link");
	snprintf(command, sizeof(command), "rm %s && mkfifo %s", kept, kept);
	run(command);
	refused_and_replaced("a FIFO");
	free(bytes);
	bytes = NULL;
}
END_TEST

START_TEST(a_kept_table_that_is_damaged_is_replaced)
{
	keep_another(kept);
	len--;
	write_kept(kept);
	refused_and_replaced("one byte less");
	keep_another(kept);
	len += 8;
	write_kept(kept);
	refused_and_replaced("a row more");
	for (size_t at = 0; at < HEAD; at++) {
		keep_another(kept);
		bytes[at] ^= 0x40;
		write_kept(kept);
		refused_and_replaced("a bit of its head");
	}
	keep_another(kept);
	bytes[HEAD + 13] ^= 1;
	write_kept(kept);
	refused_and_replaced("its sum");
	keep_another(kept);
	put_u32(HEAD + 8, truth.row[0].at);
	sum_rows();
	write_kept(kept);
	refused_and_replaced("rows that do not rise");
	free(bytes);
	bytes = NULL;
}
END_TEST

START_TEST(a_directory_of_tables_that_others_can_write_to_is_refused)
{
	const char *why = NULL;

	run("mkdir -m 0777 open && mkdir -m 0770 group && ln -s cache link && touch file && chmod 0777 open && chmod 0770 group");
	ck_assert_int_eq(hwpmc_unwind_cache_open("open", &why), -1);
	ck_assert_str_eq(why, "it belongs to another user, or other users can write to it");
	ck_assert_int_eq(hwpmc_unwind_cache_open("group", &why), -1);
	ck_assert_int_eq(hwpmc_unwind_cache_open("link", &why), -1);
	ck_assert_int_eq(hwpmc_unwind_cache_open("file", &why), -1);
	ck_assert_int_eq(hwpmc_unwind_cache_open("no/such", &why), -1);
}
END_TEST

static void make_file(const char *name, off_t size, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	ck_assert_int_eq(futimens(fd, times), 0);
	close(fd);
}

/* Remainders of stores that were killed are among them; files of others are not. */
START_TEST(tables_beyond_the_limit_are_removed_the_oldest_first)
{
	struct hwpmc_unwind u;

	make_file("cache/00000000aa", 100 << 20, 300);
	make_file("cache/.00000000bb-77", 100 << 20, 100);
	make_file("cache/00000000cc", 100 << 20, 200);
	make_file("cache/00000000dd", 100 << 20, 400);
	make_file("cache/other", 100 << 20, 1);
	ck_assert_int_eq(hwpmc_unwind_read_cached(program, cache, &u), 0);
	hwpmc_unwind_free(&u);
	ck_assert_int_eq(access(kept, F_OK), 0);
	ck_assert_int_ne(access("cache/.00000000bb-77", F_OK), 0);
	ck_assert_int_ne(access("cache/00000000cc", F_OK), 0);
	ck_assert_int_eq(access("cache/00000000aa", F_OK), 0);
	ck_assert_int_eq(access("cache/00000000dd", F_OK), 0);
	ck_assert_int_eq(access("cache/other", F_OK), 0);
}
END_TEST

START_TEST(own_cache_of_tables_is_below_the_home_directory)
{
	char home[100];
	int fd;

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HWPMC_CACHE");
	ck_assert_ptr_nonnull(getcwd(home, sizeof(home)));
	setenv("HOME", home, 1);
	fd = hwpmc_unwind_cache_own();
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(access(".cache/hwpmc/unwind", F_OK), 0);
	setenv("HWPMC_CACHE", "none", 1);
	ck_assert_int_eq(hwpmc_unwind_cache_own(), -1);
	unsetenv("HWPMC_CACHE");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(a_table_that_is_kept_is_used_for_the_file_that_it_was_made_of);
	harness_add(a_kept_table_that_others_could_have_written_is_replaced);
	harness_add(a_kept_table_that_is_damaged_is_replaced);
	harness_add(a_directory_of_tables_that_others_can_write_to_is_refused);
	harness_add(tables_beyond_the_limit_are_removed_the_oldest_first);
	harness_add(own_cache_of_tables_is_below_the_home_directory);
	return harness_run();
}
