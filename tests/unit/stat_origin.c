/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_origin.c - names of samples of processes that live: their programs and maps of
 * generated code lie below their own roots, or are those of the process that they were forked
 * from; and jitdumps. perf has no names of the first, and names code of a process that has
 * executed another program by the map of its parent.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stat_log.h"

#define BASE	0x555500000000ull
#define CODE	0x10000ull

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;
static char dir[64];
static pid_t child;

static void setup(void)
{
	unsetenv("DEBUGINFOD_URLS");
	snprintf(dir, sizeof(dir), "/tmp/hwpmc-origin-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	child = 0;
	options = log_options();
	log_begin(&log_);
}

static void teardown(void)
{
	char command[100];

	hwpmc_profile_free(p);
	log_free(&log_);
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* A file below the directory; its name has the number of the process in it. */
static void put(const char *form, pid_t pid, const void *text, size_t len, const char *how)
{
	char name[64], path[200];
	FILE *f;

	snprintf(name, sizeof(name), form, pid);
	snprintf(path, sizeof(path), "%s%s", dir, name);
	f = fopen(path, how);
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static void make_tmp(void)
{
	char tmp[100];

	snprintf(tmp, sizeof(tmp), "%s/tmp", dir);
	ck_assert_int_eq(mkdir(tmp, 0755), 0);
}

static void put_map(pid_t pid, const char *text)
{
	put("/tmp/perf-%d.map", pid, text, strlen(text), "a");
}

/* In the child: below the root, with rights of its own if this user has none. */
static void enter(void)
{
	if (chroot(dir) < 0 && (unshare(CLONE_NEWUSER) < 0 || chroot(dir) < 0))
		_exit(1);
}

/* Waits until the child has written a byte. */
static void begin_child(void (*what)(int end))
{
	int end[2];
	char byte;

	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		enter();
		what(end[1]);
		pause();
		_exit(0);
	}
	ck_assert_int_eq(read(end[0], &byte, 1), 1);
	close(end[0]);
	close(end[1]);
}

static void say(int end)
{
	if (write(end, "", 1) != 1)
		_exit(1);
}

/* A child of the child, which ends with it, writes its number, then the byte. */
static void fork_once(int end)
{
	char number[20];
	pid_t pid = fork();
	int fd;

	if (pid) {
		fd = open("/number", O_CREAT | O_WRONLY, 0600);
		snprintf(number, sizeof(number), "%d", pid);
		if (fd < 0 || write(fd, number, strlen(number)) < 0)
			_exit(1);
		say(end);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	for (;;)
		pause();
}

static pid_t grandchild(void)
{
	char path[100];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/number", dir);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

static const struct hwpmc_frame *read_at(uint64_t pc)
{
	log_user(&log_, pc);
	p = log_profile(&log_, &options);
	return stack_at(p, pc)->frame[0];
}

static void map_generated(pid_t pid)
{
	struct hwpmc_log_map *r;

	log_context(&log_, pid, pid);
	r = log_map(&log_, pid, CODE, 0x10000, 0, "//anon");
	r->hdr.flags |= HWPMC_MAP_ANON;
}

static void check_code(const char *name, const char *why)
{
	const struct hwpmc_frame *f = read_at(CODE + 0x10);

	ck_assert_str_eq(f->symbol->name, name);
	if (why)
		ck_assert_msg(f->image->problem && strstr(f->image->problem, why), "%s",
			      f->image->problem ? f->image->problem : "no problem");
}

/* ---- programs --------------------------------------------------------------- */

static uint64_t map_program(void)
{
	const char *path = program("order/first");
	struct text t = text_of(path);
	char command[9000];

	snprintf(command, sizeof(command), "cp '%s' %s/program", path, dir);
	ck_assert_int_eq(system(command), 0);
	begin_child(say);
	log_context(&log_, child, child);
	log_map(&log_, child, BASE + t.addr, t.size, t.offset, "/program");
	return BASE + nm_addr(path, "hot");
}

START_TEST(a_program_below_the_root_of_its_process_is_named)
{
	const struct hwpmc_frame *f = read_at(map_program());

	ck_assert_str_eq(f->symbol->name, "hot");
	ck_assert_ptr_null(f->image->problem);
}
END_TEST

START_TEST(a_process_of_another_machine_is_not_asked_for_its_root)
{
	uint64_t pc = map_program();
	const struct hwpmc_frame *f;

	log_note(&log_, "hostname=elsewhere");
	f = read_at(pc);
	ck_assert_str_eq(f->symbol->name, "[unknown]");
	ck_assert_ptr_nonnull(strstr(f->image->problem, "does not exist"));
}
END_TEST

START_TEST(a_process_that_has_ended_has_no_root)
{
	uint64_t pc = map_program();
	const struct hwpmc_frame *f;

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
	f = read_at(pc);
	ck_assert_str_eq(f->symbol->name, "[unknown]");
	ck_assert_ptr_nonnull(strstr(f->image->problem, "does not exist"));
}
END_TEST

/* ---- shared memory ------------------------------------------------------------ */

#define SHARER	(1 << 29)		/* numbers that no process has */
#define MAPPER	(SHARER + 1)

/* A process of CLONE_VM; the other maps the first build of order.c after that. */
static uint64_t share_and_map(uint8_t flags)
{
	const char *path = program("order/first");
	struct hwpmc_log_fork *r = log_add(&log_, HWPMC_LOG_PROCFORK, sizeof(*r));

	r->hdr.flags = flags;
	r->parent = MAPPER;
	r->child = SHARER;
	log_program(&log_, MAPPER, BASE, path);
	log_context(&log_, SHARER, SHARER);
	return BASE + nm_addr(path, "hot");
}

START_TEST(mappings_of_shared_memory_are_those_of_both_processes)
{
	ck_assert_str_eq(read_at(share_and_map(HWPMC_FORK_SHARED))->symbol->name, "hot");
}
END_TEST

START_TEST(mappings_after_a_fork_are_those_of_one_process)
{
	ck_assert_str_eq(read_at(share_and_map(0))->symbol->name, "[unknown]");
}
END_TEST

START_TEST(an_exec_ends_the_sharing_of_memory)
{
	uint64_t pc = share_and_map(HWPMC_FORK_SHARED);

	log_exec(&log_, SHARER, "/other", "other");
	ck_assert_str_eq(read_at(pc)->symbol->name, "[unknown]");
}
END_TEST

/* vfork() and posix_spawn() share until the exec. */
START_TEST(an_exec_of_a_sharer_leaves_the_mappings_of_the_other)
{
	uint64_t pc = share_and_map(HWPMC_FORK_SHARED);

	log_exec(&log_, SHARER, "/other", "other");
	log_context(&log_, MAPPER, MAPPER);
	ck_assert_str_eq(read_at(pc)->symbol->name, "hot");
}
END_TEST

/* ---- maps of generated code ------------------------------------------------- */

START_TEST(generated_code_has_the_map_in_the_tmp_of_its_process)
{
	make_tmp();
	begin_child(say);
	put_map(child, "10000 100 own\n");
	map_generated(child);
	check_code("own", NULL);
}
END_TEST

/* Lets the log begin and end at these seconds from now. */
static void end_log_at(int seconds)
{
	struct hwpmc_log_initialize *r = (void *)log_.bytes;
	struct timespec real, mono;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	r->realtime = (real.tv_sec + seconds) * 1000000000ull;
	r->monotonic = (mono.tv_sec + seconds) * 1000000000ull;
	r->tick = r->hdr.time;
}

START_TEST(process_of_a_log_that_ended_after_its_start_has_its_map)
{
	make_tmp();
	begin_child(say);
	put_map(child, "10000 100 own\n");
	end_log_at(1);
	map_generated(child);
	check_code("own", NULL);
}
END_TEST

/* The number was another process's when the log was made. */
START_TEST(process_that_began_after_the_log_has_no_map_there)
{
	make_tmp();
	begin_child(say);
	put_map(child, "10000 100 own\n");
	end_log_at(-10);
	map_generated(child);
	check_code("[unknown]", NULL);
}
END_TEST

START_TEST(log_of_an_earlier_boot_has_no_processes)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	make_tmp();
	begin_child(say);
	put_map(child, "10000 100 own\n");
	end_log_at(1);
	((struct hwpmc_log_initialize *)log_.bytes)->realtime -=
		(boot.tv_sec + 10) * 1000000000ull;
	map_generated(child);
	check_code("[unknown]", NULL);
}
END_TEST

/* Its mapping is gone with the program. */
START_TEST(program_that_is_executed_has_no_dump_of_the_one_before)
{
	make_tmp();
	begin_child(say);
	log_map(&log_, child, CODE + 0x100000, 0x1000, 0, "/tmp/jit-1.dump");
	put("/tmp/jit-1.dump", 0, "", 0, "a");
	log_exec(&log_, child, "/other", "other");
	put_map(child, "10000 100 own\n");
	map_generated(child);
	check_code("own", NULL);
}
END_TEST

START_TEST(code_from_before_a_fork_has_the_map_of_the_parent)
{
	char from[100], to[100];

	make_tmp();
	/* The file is there before the fork: its name has a number that comes then. */
	put("/tmp/early", 0, "10000 100 of_parent\n", 20, "a");
	begin_child(fork_once);
	snprintf(from, sizeof(from), "%s/tmp/early", dir);
	snprintf(to, sizeof(to), "%s/tmp/perf-%d.map", dir, child);
	ck_assert_int_eq(rename(from, to), 0);
	map_generated(grandchild());
	check_code("of_parent", NULL);
}
END_TEST

START_TEST(a_map_that_the_parent_wrote_after_a_fork_names_nothing)
{
	make_tmp();
	begin_child(fork_once);
	usleep(200000);
	put_map(child, "10000 100 of_parent\n");
	map_generated(grandchild());
	check_code("[unknown]", "has generated code after the fork");
}
END_TEST

/* ---- jitdumps ----------------------------------------------------------------- */

struct head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct piece {
	uint32_t type, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, at, more[3];
};

static char dump[100];

/* size: of the record, with bytes that are cut off. */
static void put_piece(struct piece r, const char *name, size_t cut)
{
	char bytes[200] = "";
	/* A move has a field more. */
	size_t fields = sizeof(r) - (r.type ? 0 : sizeof(r.more[2]));
	size_t len = fields + strlen(name) + 1;

	r.size = len;
	memcpy(bytes, &r, fields);
	strcpy(bytes + fields, name);
	put("/jit-%d.dump", 7, bytes, len - cut, "a");
}

static void put_code(uint64_t at, uint64_t len, const char *name)
{
	put_piece((struct piece){ .at = at, .more = { len } }, name, 0);
}

static void begin_dump(void)
{
	struct head h = { 0x4A695444, 1, sizeof(h), 62, 0, 7, 0, 0 };

	snprintf(dump, sizeof(dump), "%s/jit-7.dump", dir);
	put("/jit-%d.dump", 7, &h, sizeof(h), "a");
	/* No process has this number. */
	log_map(&log_, 1 << 30, 0x700000, 0x1000, 0, dump);
	map_generated(1 << 30);
}

START_TEST(a_jitdump_names_generated_code)
{
	begin_dump();
	put_code(CODE, 0x100, "first");
	/* Other records, of any kind, are passed over. */
	put_piece((struct piece){ .type = 2, .at = CODE }, "lines", 0);
	put_code(CODE + 0x100, 0x100, "_ZN6shapes3boxIiE4areaEii");
	/* From, to, length. */
	put_piece((struct piece){ .type = 1, .at = CODE,
				  .more = { CODE + 0x200, 0x100 } }, "........", 0);
	put_code(CODE, 0x80, "later");
	log_user(&log_, CODE + 0x90);
	log_user(&log_, CODE + 0x110);
	log_user(&log_, CODE + 0x210);
	check_code("later", NULL);
	ck_assert_str_eq(stack_at(p, CODE + 0x90)->frame[0]->symbol->name, "[unknown]");
	ck_assert_str_eq(stack_at(p, CODE + 0x110)->frame[0]->symbol->name,
			 "shapes::box<int>::area");
	ck_assert_str_eq(stack_at(p, CODE + 0x210)->frame[0]->symbol->name, "first");
	ck_assert_str_eq(image_of(p, "//anon")->file, dump);
}
END_TEST

START_TEST(a_jitdump_is_read_again_when_it_has_grown)
{
	struct hwpmc_input *in;
	struct hwpmc_record r;

	begin_dump();
	put_piece((struct piece){ .at = CODE, .more = { 0x100 } }, "whole", 3);
	log_user(&log_, CODE + 0x10);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	p = hwpmc_profile_new(&options);
	while (hwpmc_input_next(in, &r) > 0)
		ck_assert_int_eq(hwpmc_profile_feed(p, &r), 0);
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
	ck_assert_str_eq(stack_at(p, CODE + 0x10)->frame[0]->symbol->name, "[unknown]");
	put("/jit-%d.dump", 7, "le", 3, "a");
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
	ck_assert_str_eq(stack_at(p, CODE + 0x10)->frame[0]->symbol->name, "whole");
	hwpmc_input_close(in);
}
END_TEST

START_TEST(a_damaged_jitdump_names_nothing)
{
	const uint32_t head[2] = { 2, sizeof(head) };

	begin_dump();
	/* A record that is shorter than its own head. */
	put("/jit-%d.dump", 7, head, sizeof(head), "a");
	put_code(CODE, 0x100, "behind");
	check_code("[unknown]", NULL);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(a_program_below_the_root_of_its_process_is_named);
	harness_add(a_process_of_another_machine_is_not_asked_for_its_root);
	harness_add(a_process_that_has_ended_has_no_root);
	harness_add(mappings_of_shared_memory_are_those_of_both_processes);
	harness_add(mappings_after_a_fork_are_those_of_one_process);
	harness_add(an_exec_ends_the_sharing_of_memory);
	harness_add(an_exec_of_a_sharer_leaves_the_mappings_of_the_other);
	harness_add(generated_code_has_the_map_in_the_tmp_of_its_process);
	harness_add(process_of_a_log_that_ended_after_its_start_has_its_map);
	harness_add(process_that_began_after_the_log_has_no_map_there);
	harness_add(log_of_an_earlier_boot_has_no_processes);
	harness_add(program_that_is_executed_has_no_dump_of_the_one_before);
	harness_add(code_from_before_a_fork_has_the_map_of_the_parent);
	harness_add(a_map_that_the_parent_wrote_after_a_fork_names_nothing);
	harness_add(a_jitdump_names_generated_code);
	harness_add(a_jitdump_is_read_again_when_it_has_grown);
	harness_add(a_damaged_jitdump_names_nothing);
	return harness_run();
}
