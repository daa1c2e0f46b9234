/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_identity.c - which file lends its names: programs without a build-id that were
 * rebuilt, replaced, copied, or lie at one path in two containers. perf compares build-ids
 * only: of each of these files it shows the names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "stat_log.h"

#define BASE	0x555500000000ull
#define OTHER	0x666600000000ull
#define PID	42

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;
static char dir[64], path[100];

static void setup(void)
{
	unsetenv("DEBUGINFOD_URLS");
	snprintf(dir, sizeof(dir), "/tmp/hwpmc-identity-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	options = log_options();
	log_begin(&log_);
	log_context(&log_, PID, PID);
}

static void teardown(void)
{
	char command[100];

	hwpmc_profile_free(p);
	log_free(&log_);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void copy(const char *from, const char *to)
{
	char command[9000];

	snprintf(command, sizeof(command), "cp '%s' '%s'", program(from), to);
	ck_assert_int_eq(system(command), 0);
}

static int64_t ns_of(struct timespec t)
{
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The mapping of the first build, which lies at the path, as the module writes it. */
static struct hwpmc_log_file *map_at(uint64_t base, struct hwpmc_log_map **map)
{
	struct text t = text_of(program("order/first"));
	size_t len = (sizeof(struct hwpmc_log_map) + strlen(path) + 8) & ~7ul;
	struct hwpmc_log_file *at;
	struct hwpmc_log_map *r;
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	r = log_add(&log_, HWPMC_LOG_MAP_IN, len + sizeof(*at));
	r->hdr.flags = HWPMC_MAP_HAS_FILE;
	r->pid = PID;
	r->start = base + t.addr;
	r->end = r->start + t.size;
	r->offset = t.offset;
	r->inode = st.st_ino;
	strcpy(r->path, path);
	at = (void *)((char *)r + len);
	*at = (struct hwpmc_log_file){ st.st_size, ns_of(st.st_mtim), ns_of(st.st_ctim) };
	if (map)
		*map = r;
	return at;
}

static uint64_t hot(uint64_t base)
{
	return base + nm_addr(program("order/first"), "hot");
}

/* The first build at the path, and a sample in it. */
static struct hwpmc_log_file *run_first(struct hwpmc_log_map **map)
{
	copy("order/first", path);
	return map_at(BASE, map);
}

static const struct hwpmc_image *read_it(void)
{
	log_user(&log_, hot(BASE));
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
	return stack_at(p, hot(BASE))->frame[0]->image;
}

static void check_named(const char *doubt)
{
	const struct hwpmc_image *img = read_it();

	ck_assert_str_eq(stack_at(p, hot(BASE))->frame[0]->symbol->name, "hot");
	ck_assert_ptr_null(img->problem);
	if (!doubt)
		ck_assert_ptr_null(img->doubt);
	else
		ck_assert_msg(img->doubt && strstr(img->doubt, doubt), "%s",
			      img->doubt ? img->doubt : "no doubt");
}

/* No name, no line, no code of it. */
static void check_refused(const char *why)
{
	const struct hwpmc_image *img = read_it();

	ck_assert(stack_at(p, hot(BASE))->frame[0]->symbol->unknown);
	ck_assert_msg(img->problem && strstr(img->problem, why), "%s",
		      img->problem ? img->problem : "no problem");
	ck_assert_ptr_null(img->doubt);
	ck_assert_ptr_null(img->file);
	ck_assert_ptr_null(img->code);
}

/* The second build with the size and the time of the file at the path. */
static void make_alike(const char *to)
{
	struct timespec times[2];
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	copy("order/second", to);
	ck_assert_int_eq(truncate(to, st.st_size), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	ck_assert_int_eq(utimensat(AT_FDCWD, to, times, 0), 0);
}

static void on_another_machine(void)
{
	struct utsname u;
	char note[100];

	uname(&u);
	snprintf(note, sizeof(note), "hostname=not-%.64s", u.nodename);
	log_note(&log_, note);
}

START_TEST(a_program_without_build_id_that_ran_is_named)
{
	run_first(NULL);
	check_named(NULL);
}
END_TEST

START_TEST(a_program_that_was_built_again_in_place_lends_no_names)
{
	run_first(NULL);
	/* The same inode. */
	copy("order/second", path);
	check_refused("the file has changed");
}
END_TEST

START_TEST(a_program_of_the_same_size_and_another_time_lends_no_names)
{
	struct timespec times[2] = { { 0, UTIME_NOW }, { 1000, 7 } };

	run_first(NULL);
	make_alike(path);
	utimensat(AT_FDCWD, path, times, 0);
	check_refused("its time differs from the log");
}
END_TEST

/* As installers set times. */
START_TEST(a_program_that_was_moved_over_it_lends_no_names)
{
	char other[110];

	run_first(NULL);
	snprintf(other, sizeof(other), "%s.new", path);
	make_alike(other);
	ck_assert_int_eq(rename(other, path), 0);
	check_refused("its inode differs from the log");
}
END_TEST

/* Below an overlay; a ctime is set by nobody. */
START_TEST(a_program_with_another_inode_number_there_is_named)
{
	struct hwpmc_log_map *map;

	run_first(&map);
	map->inode += 1000;
	map->minor += 3;
	check_named(NULL);
}
END_TEST

/* As in images whose times are all set to one, where numbers are given again. */
START_TEST(a_program_whose_inode_changed_since_is_named_with_a_doubt)
{
	struct hwpmc_log_file *at = run_first(NULL);

	at->ctime -= 1000000;
	check_named("its inode has changed since it ran");
}
END_TEST

START_TEST(a_copy_on_another_machine_is_named_with_a_doubt)
{
	struct hwpmc_log_file *at;
	struct hwpmc_log_map *map;

	at = run_first(&map);
	map->inode += 1000;
	at->ctime -= 1000;
	on_another_machine();
	check_named("a copy with the same size and time");
}
END_TEST

START_TEST(a_copy_with_another_time_is_named_with_that_doubt)
{
	run_first(NULL)->mtime -= 1000000000;
	on_another_machine();
	check_named("a copy with the same size and another time");
}
END_TEST

START_TEST(a_copy_below_a_root_is_named_with_a_doubt)
{
	run_first(NULL)->mtime -= 1000000000;
	options.symbols.root = "/";
	check_named("a copy");
}
END_TEST

START_TEST(a_copy_of_another_size_lends_no_names)
{
	run_first(NULL)->size += 8;
	on_another_machine();
	check_refused("its size differs from the log");
}
END_TEST

START_TEST(a_build_id_that_was_not_read_is_no_build_id_that_is_missing)
{
	struct hwpmc_log_map *map;
	struct hwpmc_log_file *at = run_first(&map);

	at->mtime -= 1000000000;
	map->hdr.flags |= HWPMC_MAP_UNREAD;
	on_another_machine();
	check_named("it was not in memory");
	hwpmc_profile_free(p);
	log_free(&log_);
	log_begin(&log_);
	log_context(&log_, PID, PID);
	run_first(NULL)->mtime -= 1000000000;
	on_another_machine();
	check_named("its first page has none");
}
END_TEST

START_TEST(a_program_with_a_part_in_anonymous_memory_has_a_doubt)
{
	struct hwpmc_log_map *map;

	run_first(&map);
	map->hdr.flags |= HWPMC_MAP_COPY;
	check_named("in anonymous memory");
}
END_TEST

/* Rebuilt while it is recorded; or one path in two containers. */
START_TEST(two_files_of_one_path_are_two_images)
{
	const struct hwpmc_frame *first, *second;

	run_first(NULL);
	log_user(&log_, hot(BASE));
	copy("order/second", path);
	map_at(OTHER, NULL);
	log_user(&log_, OTHER + nm_addr(program("order/second"), "hot"));
	p = log_profile(&log_, &options);
	first = stack_at(p, hot(BASE))->frame[0];
	second = stack_at(p, OTHER + nm_addr(program("order/second"), "hot"))->frame[0];
	ck_assert_ptr_ne(first->image, second->image);
	ck_assert(first->symbol->unknown);
	ck_assert_str_eq(second->symbol->name, "hot");
}
END_TEST

START_TEST(one_file_of_two_mappings_is_one_image)
{
	uint32_t n = 0, all;
	struct hwpmc_image *const *img;

	run_first(NULL);
	map_at(OTHER, NULL);
	log_user(&log_, hot(OTHER));
	read_it();
	img = hwpmc_profile_images(p, &all);
	for (uint32_t i = 0; i < all; i++)
		n += !strcmp(img[i]->path, path);
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* Logs of modules before these fields. */
START_TEST(a_log_without_size_and_time_says_that_it_may_be_another)
{
	struct hwpmc_log_map *map;

	run_first(&map);
	map->hdr.flags = 0;
	check_named("neither a build-id of it nor its size and time");
}
END_TEST

START_TEST(a_log_without_size_and_time_has_an_inode)
{
	struct hwpmc_log_map *map;

	run_first(&map);
	map->hdr.flags = 0;
	map->inode++;
	check_refused("its inode differs from the log");
}
END_TEST

/* A record that says that it has them, and ends before. */
START_TEST(a_file_that_a_record_has_no_room_for_is_not_read)
{
	struct text t;
	struct hwpmc_log_map *r;

	copy("order/first", path);
	t = text_of(path);
	r = log_map(&log_, PID, BASE + t.addr, t.size, t.offset, path);
	r->hdr.flags = HWPMC_MAP_HAS_FILE;
	check_named("neither a build-id of it nor its size and time");
}
END_TEST

START_TEST(a_build_id_decides_whatever_the_times)
{
	struct hwpmc_log_file *at;
	struct hwpmc_log_map *map;

	copy("functions", path);
	at = map_at(BASE, &map);
	at->mtime--;
	at->size++;
	map->build_id_len = build_id_of(path, map->build_id);
	map->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
	map->start = BASE + text_of(path).addr;
	map->end = map->start + text_of(path).size;
	map->offset = text_of(path).offset;
	log_user(&log_, BASE + nm_addr(path, "alpha"));
	p = log_profile(&log_, &options);
	ck_assert_uint_eq(samples_in(p, "alpha"), 1);
	ck_assert_ptr_null(image_of(p, "program")->doubt);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(a_program_without_build_id_that_ran_is_named);
	harness_add(a_program_that_was_built_again_in_place_lends_no_names);
	harness_add(a_program_of_the_same_size_and_another_time_lends_no_names);
	harness_add(a_program_that_was_moved_over_it_lends_no_names);
	harness_add(a_program_with_another_inode_number_there_is_named);
	harness_add(a_program_whose_inode_changed_since_is_named_with_a_doubt);
	harness_add(a_copy_on_another_machine_is_named_with_a_doubt);
	harness_add(a_copy_with_another_time_is_named_with_that_doubt);
	harness_add(a_copy_below_a_root_is_named_with_a_doubt);
	harness_add(a_copy_of_another_size_lends_no_names);
	harness_add(a_build_id_that_was_not_read_is_no_build_id_that_is_missing);
	harness_add(a_program_with_a_part_in_anonymous_memory_has_a_doubt);
	harness_add(two_files_of_one_path_are_two_images);
	harness_add(one_file_of_two_mappings_is_one_image);
	harness_add(a_log_without_size_and_time_says_that_it_may_be_another);
	harness_add(a_log_without_size_and_time_has_an_inode);
	harness_add(a_file_that_a_record_has_no_room_for_is_not_read);
	harness_add(a_build_id_decides_whatever_the_times);
	return harness_run();
}
