/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_forget.c - a log that grows for ever, round by round: memory does not, and what
 * still runs keeps its names. Under ASan and UBSan.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "profile.h"
#include "stat_log.h"

/* Of the sanitizer's runtime: its header is not where gcc looks on Debian. */
size_t __sanitizer_get_current_allocated_bytes(void);

#define SHELL		10		/* lives, and starts the others */

static struct hwpmc_profile *profile;
static struct hwpmc_parser *parser;
static struct log stream;

static void setup(void)
{
	struct hwpmc_profile_options o = { .by_thread = true };

	profile = hwpmc_profile_new(&o);
	parser = hwpmc_parser_new();
	ck_assert_ptr_nonnull(profile);
	ck_assert_ptr_nonnull(parser);
}

static void teardown(void)
{
	hwpmc_profile_free(profile);
	hwpmc_parser_free(parser);
	log_free(&stream);
}

/* What was written since the last time, as rings would give it. */
static void feed(void)
{
	struct hwpmc_record r;

	ck_assert_int_eq(hwpmc_parser_feed(parser, stream.bytes, stream.len), 0);
	while (hwpmc_parser_next(parser, &r) == HWPMC_PARSE_RECORD)
		ck_assert_int_eq(hwpmc_profile_feed(profile, &r), 0);
	ck_assert_str_eq(hwpmc_parser_error(parser) ?: "", "");
	stream.len = 0;
}

static void begin(void)
{
	log_begin(&stream);
	log_cpu(&stream, 0);
	log_exec(&stream, SHELL, SYMBOLS_DIR "/functions", "shell");
	log_map(&stream, SHELL, 0x10000, 0x10000, 0, SYMBOLS_DIR "/functions");
}

static void sample(int32_t pid, uint64_t pc)
{
	log_context(&stream, pid, pid);
	log_user(&stream, pc);
}

static void add_task(uint8_t type, int32_t tid, const char *comm)
{
	struct hwpmc_log_task *r = log_add(&stream, type, sizeof(*r));

	r->pid = SHELL;
	r->tid = tid;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
}

/* A thread of the shell, which names itself, has a sample and ends. */
static void add_thread(unsigned int n)
{
	int32_t tid = 100000 + n % 30000;
	char name[16];

	snprintf(name, sizeof(name), "job-%u", n);
	add_task(HWPMC_LOG_THR_CREATE, tid, "shell");
	add_task(HWPMC_LOG_COMM_NAME, tid, name);
	log_context(&stream, SHELL, tid);
	log_user(&stream, 0x10400);
	add_task(HWPMC_LOG_THR_EXIT, tid, "");
	/* A thread that lives has name after name. */
	add_task(HWPMC_LOG_COMM_NAME, 99999, name);
}

static bool has_name(const char *format, unsigned int n)
{
	const struct hwpmc_stack *s;
	uint32_t nstack;
	char name[16];

	snprintf(name, sizeof(name), format, n);
	s = hwpmc_profile_stacks(profile, &nstack);
	for (uint32_t i = 0; i < nstack; i++)
		if (strcmp(s[i].thread->comm, name) == 0)
			return true;
	return false;
}

/* The shell runs a program of a file of its own, which ends; and maps something that
 * is gone afterwards. */
static void add_round(unsigned int n)
{
	int32_t pid = 1000 + n % 30000;
	char path[100];

	snprintf(path, sizeof(path), "/tmp/made-%u", n);
	log_fork(&stream, SHELL, pid);
	sample(pid, 0x10400);
	log_exec(&stream, pid, path, "made");
	log_map(&stream, pid, 0x400000, 0x100000, 0, path);
	log_map(&stream, pid, 0x700000 + n * 4096ull, 0x1000, 0,
		"//anon")->hdr.flags = HWPMC_MAP_ANON;
	sample(pid, 0x400010 + n * 16);
	log_exit(&stream, pid);
	log_map(&stream, SHELL, 0x900000 + n * 8192ull, 0x1000, 0, path);
	log_unmap(&stream, SHELL, 0x900000 + n * 8192ull, 0x1000);
	sample(SHELL, 0x10400);
	add_thread(n);
}

static uint64_t samples_of(const char *process, const char *image)
{
	const struct hwpmc_stack *s;
	uint64_t count = 0;
	uint32_t n;

	s = hwpmc_profile_stacks(profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(s[i].thread->process, process) == 0 &&
		    strcmp(s[i].frame[0]->image->name, image) == 0)
			count += s[i].count;
	return count;
}

static void next_round(unsigned int n)
{
	char name[40];

	add_round(n);
	feed();
	hwpmc_profile_forget(profile);
	ck_assert_int_eq(hwpmc_profile_resolve(profile), 0);
	snprintf(name, sizeof(name), "made-%u", n);
	ck_assert_uint_eq(hwpmc_profile_totals(profile)->kept, 4);
	ck_assert_uint_eq(samples_of("shell", "functions"), 3);
	ck_assert(has_name("job-%u", n));
	ck_assert_uint_eq(samples_of("made", name), 1);
}

START_TEST(memory_does_not_grow_with_the_rounds_of_a_log)
{
	size_t early, late;

	begin();
	for (unsigned int n = 0; n < 500; n++)
		next_round(n);
	early = __sanitizer_get_current_allocated_bytes();
	for (unsigned int n = 500; n < 4000; n++)
		next_round(n);
	late = __sanitizer_get_current_allocated_bytes();
	ck_assert_msg(late <= early + 65536, "%zu bytes after 500 rounds, %zu after 4000",
		      early, late);
}
END_TEST

START_TEST(names_of_threads_that_live_are_kept_when_others_are_freed)
{
	begin();
	add_task(HWPMC_LOG_THR_CREATE, 50, "worker");
	for (unsigned int n = 0; n < 20; n++) {
		next_round(n);
		ck_assert(!has_name("worker", 0));
	}
	log_context(&stream, SHELL, 50);
	log_user(&stream, 0x10400);
	feed();
	hwpmc_profile_forget(profile);
	hwpmc_profile_resolve(profile);
	ck_assert(has_name("worker", 0));
}
END_TEST

/* The mappings of the process that had them first stay while another one has them. */
START_TEST(shared_memory_lives_as_long_as_its_last_process)
{
	struct hwpmc_log_fork *r;

	begin();
	log_fork(&stream, SHELL, 20);
	log_exec(&stream, 20, "/tmp/first", "first");
	for (int child = 21; child < 23; child++) {
		r = log_add(&stream, HWPMC_LOG_PROCFORK, sizeof(*r));
		r->hdr.flags = HWPMC_FORK_SHARED;
		r->parent = child - 1;
		r->child = child;
	}
	log_map(&stream, 20, 0x400000, 0x100000, 0, "/tmp/first");
	for (int i = 0; i < 6; i++) {
		if (i < 2)
			log_exit(&stream, 20 + i);
		sample(22, 0x400010);
		feed();
		hwpmc_profile_forget(profile);
		hwpmc_profile_resolve(profile);
		ck_assert_uint_eq(samples_of("first", "first"), 1);
		stream.time += 100;
	}
	log_exit(&stream, 22);
	feed();
	for (int i = 0; i < 3; i++) {
		stream.time += 100;
		sample(SHELL, 0x10400);
		feed();
		hwpmc_profile_forget(profile);
		hwpmc_profile_resolve(profile);
	}
}
END_TEST

START_TEST(samples_that_come_a_round_late_keep_the_names_of_their_process)
{
	uint64_t until;

	begin();
	log_fork(&stream, SHELL, 20);
	log_exec(&stream, 20, "/tmp/short", "short");
	log_map(&stream, 20, 0x400000, 0x100000, 0, "/tmp/short");
	until = stream.time;
	stream.time += 100;
	log_exit(&stream, 20);
	feed();
	hwpmc_profile_forget(profile);
	hwpmc_profile_resolve(profile);
	stream.time = until;
	sample(20, 0x400010);
	feed();
	hwpmc_profile_forget(profile);
	hwpmc_profile_resolve(profile);
	ck_assert_uint_eq(samples_of("short", "short"), 1);
}
END_TEST

START_TEST(a_process_number_that_is_used_again_is_not_forgotten_with_its_first_use)
{
	begin();
	for (int round = 0; round < 4; round++) {
		log_fork(&stream, SHELL, 20);
		log_exec(&stream, 20, "/tmp/again", "again");
		log_map(&stream, 20, 0x400000, 0x100000, 0, "/tmp/again");
		feed();
		hwpmc_profile_forget(profile);
		hwpmc_profile_resolve(profile);
		/* It goes on living for some rounds. */
		for (int i = 0; i < 3; i++) {
			sample(20, 0x400010);
			feed();
			hwpmc_profile_forget(profile);
			hwpmc_profile_resolve(profile);
			ck_assert_uint_eq(samples_of("again", "again"), 1);
		}
		log_exit(&stream, 20);
	}
}
END_TEST

START_TEST(mappings_that_are_gone_are_forgotten_and_those_that_are_not_stay)
{
	begin();
	/* What is mapped first is still there at the end, and half of the other. */
	log_map(&stream, SHELL, 0x50000, 0x10000, 0, "/tmp/half");
	log_map(&stream, SHELL, 0x58000, 0x8000, 0, "/tmp/over");
	log_unmap(&stream, SHELL, 0x54000, 0x1000);
	for (unsigned int n = 0; n < 1000; n++) {
		log_map(&stream, SHELL, 0x900000, 0x1000, 0, "/tmp/comes");
		log_unmap(&stream, SHELL, 0x900000, 0x1000);
		if (n % 10)
			continue;
		sample(SHELL, 0x10400);
		sample(SHELL, 0x50010);
		sample(SHELL, 0x58010);
		sample(SHELL, 0x54010);
		sample(SHELL, 0x900010);
		feed();
		hwpmc_profile_forget(profile);
		hwpmc_profile_resolve(profile);
		ck_assert_uint_eq(samples_of("shell", "functions"), 1);
		ck_assert_uint_eq(samples_of("shell", "half"), 1);
		ck_assert_uint_eq(samples_of("shell", "over"), 1);
		ck_assert_uint_eq(samples_of("shell", "[unknown]"), 2);
	}
}
END_TEST

#define MANY		((1ull << 32) + 1)	/* a number of 32 bits would be 1 */
#define MANY_SIZE	((MANY + 64) * sizeof(uint64_t))

/* Address space for as many as if they had been kept: only pages of some are written. */
START_TEST(stacks_beyond_4_billion_addresses_have_their_own)
{
	uint64_t *pcs, *few, nfew;

	begin();
	sample(SHELL, 0x10400);
	sample(SHELL, 0x10410);
	feed();
	ck_assert_int_eq(hwpmc_profile_resolve(profile), 0);
	pcs = mmap(NULL, MANY_SIZE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(pcs, MAP_FAILED);
	/* Frames of stacks lie among the addresses. */
	stacks_forget(profile);
	few = profile->pcs;
	nfew = profile->npcs;
	memcpy(pcs, few, nfew * sizeof(*few));
	profile->pcs = pcs;
	profile->npcs = MANY;
	for (int i = 0; i < 3; i++)
		sample(SHELL, 0x10800);
	sample(SHELL, 0x10810);
	feed();
	ck_assert_int_eq(hwpmc_profile_resolve(profile), 0);
	ck_assert_uint_eq(profile->npcs, MANY + 2);
	ck_assert_uint_eq(stack_at(profile, 0x10400)->count, 1);
	ck_assert_uint_eq(stack_at(profile, 0x10410)->count, 1);
	ck_assert_uint_eq(stack_at(profile, 0x10800)->count, 3);
	ck_assert_uint_eq(stack_at(profile, 0x10810)->count, 1);
	stacks_forget(profile);
	profile->pcs = few;
	profile->npcs = nfew;
	munmap(pcs, MANY_SIZE);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add_timed(memory_does_not_grow_with_the_rounds_of_a_log, 60);
	harness_add(names_of_threads_that_live_are_kept_when_others_are_freed);
	harness_add(samples_that_come_a_round_late_keep_the_names_of_their_process);
	harness_add(a_process_number_that_is_used_again_is_not_forgotten_with_its_first_use);
	harness_add(shared_memory_lives_as_long_as_its_last_process);
	harness_add(mappings_that_are_gone_are_forgotten_and_those_that_are_not_stay);
	harness_add(stacks_beyond_4_billion_addresses_have_their_own);
	return harness_run();
}
