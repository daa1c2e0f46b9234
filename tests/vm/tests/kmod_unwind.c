/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_unwind.c - unwind tables as the module takes them: what it refuses, whose samples
 * they are used for, and for which file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "harness.h"
#include "kmod_dev.h"

/* ---- samples of a function of this program -------------------------------- */

static struct hwpmc_rings *rings;	/* of the last device that was opened */
static uint64_t ends[HWPMC_CHAIN__COUNT], samples, frames_most;

/* Executable mappings of this process. */
static struct { uint64_t start, end; } code[64];
static unsigned int ncode;

static void read_code(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], mode[8];
	unsigned long start, end;

	ck_assert_ptr_nonnull(f);
	for (ncode = 0; fgets(line, sizeof(line), f);)
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && mode[2] == 'x' &&
		    ncode < 64) {
			code[ncode].start = start;
			code[ncode++].end = end;
		}
	fclose(f);
}

static bool is_code(uint64_t at)
{
	for (unsigned int i = 0; i < ncode; i++)
		if (at >= code[i].start && at <= code[i].end)
			return true;
	return false;
}

static int count_chain(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data, *end = at + len;

	for (; at < end; at += ((const struct hwpmc_log_hdr *)at)->len) {
		const struct hwpmc_log_sample *s = (const void *)at;
		unsigned int n = (s->hdr.len - sizeof(*s)) / 8, reason = 0;

		/* What hits the first instruction of the kernel has no chain of the user. */
		if (s->hdr.type != HWPMC_LOG_CALLCHAIN ||
		    !(s->hdr.flags & HWPMC_SAMPLE_USER))
			continue;
		ck_assert_uint_eq(s->hdr.flags & HWPMC_SAMPLE_TABLES, HWPMC_SAMPLE_TABLES);
		if (s->hdr.flags & HWPMC_SAMPLE_CUT)
			reason = HWPMC_CHAIN_DEPTH;
		else if (s->hdr.flags & HWPMC_SAMPLE_ENDS)
			reason = HWPMC_PC_REASON(s->pc[--n]);
		ck_assert_uint_lt(reason, HWPMC_CHAIN__COUNT);
		for (unsigned int i = 0; i < n; i++)
			ck_assert_msg(is_code(s->pc[i]), "0x%llx is no code",
				      (unsigned long long)s->pc[i]);
		ends[reason]++;
		samples++;
		if (n > frames_most)
			frames_most = n;
	}
	return 0;
}

static __attribute__((noinline)) void spin(unsigned int depth)
{
	if (depth)
		spin(depth - 1);
	else
		for (unsigned long i = 0; i < 2000000; i++)
			__asm__ __volatile__("");
	__asm__ __volatile__("");
}

/*
 * Words that no reader may learn: a number, and addresses of data, which say where memory
 * is. They fill the stack above the sampled frames, where any displacement finds them.
 */
#define SECRETS		512

static bool secret;
static uint64_t secret_code;		/* not 0: addresses from there on instead */
static void (*spin_at)(unsigned int depth) = spin;

static __attribute__((noinline)) void spin_below_secrets(void)
{
	static uint64_t data;
	volatile uint64_t word[SECRETS];

	for (unsigned int i = 0; i < SECRETS; i++)
		word[i] = secret_code ? secret_code + 8 * (i % 256) : i & 1 ? 0x5ec3e75ec3e75ec0 + 8 * i : i & 2 ? (uintptr_t)&data :
			  (uintptr_t)&word[i];
	spin(1);
	__asm__ __volatile__("" : : "r" (word) : "memory");
}

/* What changes the mappings that the module listed at the start. */
static void (*after_start)(void *arg);
static void *after_start_arg;

/* Sample this process while it is 5 calls deep, with what `h` has been given. */
static void sample_self(struct hwpmc *h)
{
	uint32_t flags = HWPMC_F_CALLCHAIN | HWPMC_F_TABLES, id;
	struct hwpmc_event event;

	memset(ends, 0, sizeof(ends));
	samples = frames_most = 0;
	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_msg(!hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY,
					    100000, &id), "%s", hwpmc_error(h));
	ck_assert_int_eq(hwpmc_attach(h, id, 0), 0);
	ck_assert_int_eq(hwpmc_start(h, id), 0);
	if (after_start)
		after_start(after_start_arg);
	after_start = NULL;
	read_code();
	if (secret)
		spin_below_secrets();
	else
		spin_at(5);
	ck_assert_int_eq(hwpmc_stop(h, id), 0);
	ck_assert_int_eq(hwpmc_flush_log(h), 0);
	hwpmc_rings_read(rings, count_chain, NULL, NULL);
	ck_assert_int_eq(hwpmc_release(h, id), 0);
	ck_assert_uint_ge(samples, 20);
}

static int take_nothing(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

static struct hwpmc *open_device(void)
{
	struct hwpmc *h;

	ck_assert_int_eq(hwpmc_open(&h), 0);
	ck_assert_int_eq(hwpmc_rings_open(h, 0, 0, &rings), 0);
	return h;
}

static void add_file(struct hwpmc *h, const char *path, bool wrong_build, uint32_t nrow)
{
	int fd = open(path, O_RDONLY);
	struct hwpmc_unwind u;

	ck_assert_int_eq(hwpmc_unwind_read(fd, &u), 0);
	close(fd);
	ck_assert_uint_eq(u.build_id_len, 20);
	if (wrong_build)
		u.build_id[19] ^= 1;
	if (!nrow)
		u.nrow = 0;
	ck_assert_msg(!hwpmc_unwind_add(h, &u), "%s", hwpmc_error(h));
	hwpmc_unwind_free(&u);
}

#define SELF	"/proc/self/exe"
#define LIBC	"/lib/x86_64-linux-gnu/libc.so.6"

/* All but the few samples outside spin(). */
static void check_most_end(unsigned int how)
{
	ck_assert_msg(ends[how] * 10 >= samples * 9, "%lu of %lu", (long)ends[how],
		      (long)samples);
}

START_TEST(chains_are_walked_by_the_tables_that_the_owner_has_added)
{
	struct hwpmc *h = open_device();
	uint64_t before[HWPMC_CHAIN__COUNT], after[HWPMC_CHAIN__COUNT];

	add_file(h, SELF, false, 1);
	add_file(h, LIBC, false, 1);
	ck_assert_int_eq(hwpmc_chain_stats(h, before, HWPMC_CHAIN__COUNT), 0);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
	/* spin() six times, and what called it. */
	ck_assert_uint_gt(frames_most, 8);
	ck_assert_int_eq(hwpmc_chain_stats(h, after, HWPMC_CHAIN__COUNT), 0);
	for (unsigned int i = 0; i < HWPMC_CHAIN__COUNT; i++)
		ck_assert_uint_eq(after[i] - before[i], ends[i]);
	hwpmc_close(h);
}
END_TEST

START_TEST(one_call_gives_the_tables_of_a_process)
{
	struct hwpmc *h = open_device();

	/* This program, the C library, the loader and the vdso. */
	ck_assert_int_ge(hwpmc_unwind_add_process(h, getpid()), 4);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
	ck_assert_int_eq(hwpmc_unwind_add_process(h, 1 << 30), -1);
	hwpmc_close(h);
}
END_TEST

START_TEST(tables_of_one_owner_are_not_used_for_another)
{
	struct hwpmc *other = open_device(), *h = open_device();
	uint64_t before[HWPMC_CHAIN__COUNT], after[HWPMC_CHAIN__COUNT];

	add_file(other, SELF, false, 1);
	add_file(other, LIBC, false, 1);
	ck_assert_int_eq(hwpmc_chain_stats(h, before, HWPMC_CHAIN__COUNT), 0);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_NO_TABLE);
	ck_assert_int_eq(hwpmc_chain_stats(h, after, HWPMC_CHAIN__COUNT), 0);
	for (unsigned int i = 0; i < HWPMC_CHAIN__COUNT; i++)
		ck_assert_uint_eq(after[i] - before[i], ends[i]);
	/* The sampled address and nothing else. */
	ck_assert_uint_eq(frames_most, 1);
	hwpmc_close(other);
	hwpmc_close(h);
}
END_TEST

START_TEST(a_table_of_another_build_or_that_is_removed_is_not_used)
{
	struct hwpmc *h = open_device();

	add_file(h, SELF, true, 1);
	add_file(h, LIBC, false, 1);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_NO_TABLE);
	add_file(h, SELF, false, 1);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
	add_file(h, SELF, false, 0);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_NO_TABLE);
	hwpmc_close(h);
}
END_TEST

/* ---- refusals -------------------------------------------------------------- */

static void row_refused(struct hwpmc_op_unwind *op, int fd, int error, uint32_t why, int detail)
{
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, op), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_uint_eq(op->hdr.reason, why);
	ck_assert_int_eq(op->hdr.detail, detail);
}

START_TEST(rows_that_do_not_rise_or_are_no_rules_are_refused)
{
	static const uint32_t bad[] = {
		HWPMC_UNWIND_NONE | 0x20, HWPMC_UNWIND_END | HWPMC_UNWIND_BP_SAVED,
		HWPMC_UNWIND_SP | HWPMC_UNWIND_BP_AT_BP, HWPMC_UNWIND_SP | 1u << 22,
		HWPMC_UNWIND_PLT | 1u << 9, HWPMC_UNWIND_SIGNAL | 1u << 5,
		HWPMC_UNWIND_OTHER | 7u << 5 | 1u << 9, 0xffffffff,
	};
	struct hwpmc_unwind_row row[3] = { { 0, HWPMC_UNWIND_SP | 1 << 5 },
					   { 16, HWPMC_UNWIND_BP | 2 << 5 },
					   { 32, HWPMC_UNWIND_END } };
	struct hwpmc_op_unwind op = { .inode = 1, .nrow = 3, .rows = (uintptr_t)row };
	struct hwpmc *h = open_device();
	int fd = hwpmc_fd(h);

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
	row[2].at = 16;
	row_refused(&op, fd, EINVAL, HWPMC_WHY_UNWIND_ROW, 2);
	row[2].at = 32;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		row[1].rule = bad[i];
		row_refused(&op, fd, EINVAL, HWPMC_WHY_UNWIND_ROW, 1);
	}
	op.rows = 8;
	row_refused(&op, fd, EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
	op.nrow = ~0u;
	row_refused(&op, fd, E2BIG, HWPMC_WHY_UNWIND_LIMIT, 33554431);
	op.nrow = 3;
	op.rows = (uintptr_t)row;
	op.build_id_len = 21;
	row_refused(&op, fd, EINVAL, HWPMC_WHY_RESERVED, 0);
	op.build_id_len = 0;
	op.flags = HWPMC_UNWIND_F_VDSO;
	row_refused(&op, fd, EINVAL, HWPMC_WHY_RESERVED, 0);
	op.flags = 2;
	row_refused(&op, fd, EINVAL, HWPMC_WHY_FLAGS, 2);
	hwpmc_close(h);
}
END_TEST

/* The next inode, from `inode` on, whose table is in the same place as that of inode 1. */
static uint64_t same_bucket(uint64_t inode)
{
	while (inode * 0x61c8864680b583ebull >> 54 != 0x61c8864680b583ebull >> 54)
		inode++;
	return inode;
}

/* An NMI walks all tables of a bucket for each frame. */
START_TEST(tables_that_would_make_a_walk_of_unbounded_length_are_refused)
{
	struct hwpmc_unwind_row row = { 0, HWPMC_UNWIND_END };
	struct hwpmc_op_unwind op = { .inode = 1, .nrow = 1, .rows = (uintptr_t)&row };
	struct hwpmc *h = open_device();
	int fd = hwpmc_fd(h);

	for (unsigned int i = 0; i < 32; i++) {
		ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
		op.inode = same_bucket(op.inode + 1);
	}
	row_refused(&op, fd, E2BIG, HWPMC_WHY_UNWIND_FILES, 32);
	/* Another place, the one that is there, and one that has made room. */
	op.inode++;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
	op.inode = 1;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
	op.nrow = 0;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
	op.nrow = 1;
	op.inode = 1ull << 40;
	op.inode = same_bucket(op.inode);
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_UNWIND, &op), 0);
	op.inode = same_bucket(op.inode + 1);
	row_refused(&op, fd, E2BIG, HWPMC_WHY_UNWIND_FILES, 32);
	hwpmc_close(h);
}
END_TEST

/* ---- memory ------------------------------------------------------------------ */

#define MANY		4096		/* rows: 32 KiB, with their index 9 pages */
#define MANY_KIB	36

static int add_many(int fd, uint64_t inode, uint32_t nrow, struct hwpmc_op_unwind *op)
{
	static struct hwpmc_unwind_row row[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		row[i] = (struct hwpmc_unwind_row){ 16 * i, HWPMC_UNWIND_SP | 1 << 5 };
	*op = (struct hwpmc_op_unwind){ .inode = inode, .nrow = nrow,
					.rows = (uintptr_t)row };
	return ioctl(fd, HWPMC_IOC_UNWIND, op);
}

static long pinned_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	ck_assert_ptr_nonnull(f);
	while (kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld", &kib);
	fclose(f);
	return kib;
}

static void pin_tables(void *unused)
{
	struct rlimit limit = { 2 * (MANY_KIB - 4) << 10, 2 * (MANY_KIB - 4) << 10 };
	struct hwpmc_op_unwind op;
	int fd = dev_open();

	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	ck_assert_int_eq(add_many(fd, 1, MANY, &op), 0);
	ck_assert_int_eq(pinned_kib(), MANY_KIB);
	ck_assert_int_eq(add_many(fd, 2, MANY, &op), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_LOCKED_MEMORY);
	ck_assert_int_eq(op.hdr.detail, MANY_KIB);
	ck_assert_int_eq(pinned_kib(), MANY_KIB);
	/* Removed, there is room again; and with its owner all of it goes. */
	ck_assert_int_eq(add_many(fd, 1, 0, &op), 0);
	ck_assert_int_eq(pinned_kib(), 0);
	ck_assert_int_eq(add_many(fd, 2, MANY, &op), 0);
	close(fd);
	ck_assert_int_eq(pinned_kib(), 0);
}

START_TEST(tables_count_as_locked_memory_until_they_are_removed)
{
	struct hwpmc_op_unwind op;
	int fd = dev_open();

	ck_assert_int_eq(chmod("/dev/hwpmc", 0666), 0);
	dev_as(NOBODY, pin_tables, NULL);
	ck_assert_int_eq(chmod("/dev/hwpmc", 0660), 0);
	/* As of rings, those of the privileged do not. */
	ck_assert_int_eq(add_many(fd, 1, MANY, &op), 0);
	ck_assert_int_eq(pinned_kib(), 0);
	close(fd);
}
END_TEST

static void set_limit_of_tables(unsigned int kib)
{
	FILE *f = fopen("/proc/sys/kern/hwpmc/unwindtables", "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%u\n", kib);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(the_tables_of_an_owner_have_the_limit_of_the_tunable)
{
	struct hwpmc_op_unwind op;
	int fd = dev_open();

	/* Of one that is larger no row is read. */
	set_limit_of_tables(8);
	op = (struct hwpmc_op_unwind){ .inode = 1, .nrow = MANY, .rows = 8 };
	row_refused(&op, fd, E2BIG, HWPMC_WHY_UNWIND_LIMIT, MANY * 8 / 1024);
	set_limit_of_tables(2 * MANY_KIB - 1);
	ck_assert_int_eq(add_many(fd, 1, MANY, &op), 0);
	ck_assert_int_eq(add_many(fd, 2, MANY, &op), -1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_UNWIND_LIMIT);
	ck_assert_int_eq(op.hdr.detail, 2 * MANY_KIB);
	/* In the place of the first, and of another owner, there is room. */
	ck_assert_int_eq(add_many(fd, 1, MANY, &op), 0);
	ck_assert_int_eq(add_many(dev_open(), 2, MANY, &op), 0);
	set_limit_of_tables(2 * MANY_KIB);
	ck_assert_int_eq(add_many(fd, 2, MANY, &op), 0);
	set_limit_of_tables(262144);
	close(fd);
}
END_TEST

START_TEST(tables_without_chains_or_samples_are_refused)
{
	struct hwpmc *h = open_device();
	struct hwpmc_event event;
	uint32_t id;

	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_TABLES,
					      HWPMC_CPU_ANY, 100000, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(h), HWPMC_WHY_FLAGS_MODE);
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_CALLCHAIN |
					      HWPMC_F_TABLES_FP, HWPMC_CPU_ANY, 100000,
					      &id), -1);
	ck_assert_uint_eq(hwpmc_reason(h), HWPMC_WHY_FLAGS_MODE);
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_TC, HWPMC_F_TABLES,
					      HWPMC_CPU_ANY, 0, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(h), HWPMC_WHY_FLAGS_MODE);
	hwpmc_close(h);
}
END_TEST

/* A table of one rule for the whole program. */
static void sample_by_rule(struct hwpmc *h, const struct hwpmc_unwind *u, uint32_t rule)
{
	struct hwpmc_unwind_row row = { 0, rule };
	struct hwpmc_unwind one = *u;

	one.row = &row;
	one.nrow = 1;
	ck_assert_int_eq(hwpmc_unwind_add(h, &one), 0);
	/* count_chain() looks at each address; each end has a reason. */
	sample_self(h);
	ck_assert_uint_le(frames_most, 128);
}

START_TEST(a_table_that_is_aimed_at_secrets_gets_no_word_of_them)
{
	static const uint32_t rule[] = {
		HWPMC_UNWIND_SP | 0x1ffff << 5, HWPMC_UNWIND_SP | 0xffff << 5,
		HWPMC_UNWIND_BP | 0x10000 << 5, HWPMC_UNWIND_AT_SP | 1 << 5,
		HWPMC_UNWIND_AT_SP | 20 << 5 | 1 << 16, HWPMC_UNWIND_SIGNAL,
		HWPMC_UNWIND_SP | 20 << 5 | HWPMC_UNWIND_BP_SAVED | 3u << 22,
		HWPMC_UNWIND_OTHER | 6 << 5 | HWPMC_UNWIND_BP_AT_BP,
		HWPMC_UNWIND_OTHER | 1 << 5, HWPMC_UNWIND_PLT | 11 << 5,
	};
	struct hwpmc *h = open_device();
	int fd = open(SELF, O_RDONLY);
	struct hwpmc_unwind u;

	ck_assert_int_eq(hwpmc_unwind_read(fd, &u), 0);
	close(fd);
	secret = true;
	for (unsigned int i = 0; i < sizeof(rule) / sizeof(rule[0]); i++)
		sample_by_rule(h, &u, rule[i]);
	for (unsigned int words = 2; words < 64; words += 9) {
		sample_by_rule(h, &u, HWPMC_UNWIND_SP | words << 5);
		/* Below spin() all that is found are secrets. */
		if (words > 12)
			check_most_end(HWPMC_CHAIN_BROKEN);
	}
	secret = false;
	hwpmc_unwind_free(&u);
	hwpmc_close(h);
}
END_TEST

/* ---- storms ---------------------------------------------------------------- */

static void *add_and_remove(void *arg)
{
	struct hwpmc *h = arg;

	for (;;) {
		add_file(h, SELF, false, 1);
		add_file(h, LIBC, false, 1);
		add_file(h, LIBC, false, 0);
		add_file(h, SELF, false, 0);
	}
	return NULL;
}

static void map_and_unmap(void)
{
	int fd = open(LIBC, O_RDONLY);
	void *at = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	void *other = mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	close(fd);
	munmap(at, 1 << 15);
	munmap(other, 1 << 16);
	/* Not the first half again: by now a thread may have memory there. */
	munmap((char *)at + (1 << 15), 1 << 15);
}

/* Samples itself and what it forks and executes, until it is killed. */
static void owner_of_a_storm(void)
{
	struct hwpmc *h = open_device();
	struct hwpmc_event event;
	pthread_t thread;
	uint32_t id;

	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_int_eq(hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_CALLCHAIN |
					      HWPMC_F_TABLES | HWPMC_F_TABLES_FP |
					      HWPMC_F_DESCENDANTS, HWPMC_CPU_ANY, 5000,
					      &id), 0);
	ck_assert_int_eq(hwpmc_attach(h, id, 0), 0);
	ck_assert_int_eq(hwpmc_start(h, id), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, add_and_remove, h), 0);
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			map_and_unmap();
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		map_and_unmap();
		waitpid(pid, NULL, 0);
		hwpmc_rings_read(rings, take_nothing, NULL, NULL);
	}
}

#define STORMS	8

START_TEST(tables_come_and_go_and_their_owner_is_killed_while_programs_are_sampled)
{
	struct hwpmc *h;

	for (unsigned int i = 0; i < STORMS; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			owner_of_a_storm();
			_exit(1);
		}
		usleep(200000 + 50000 * (i % 4));
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		/* It did not end by itself. */
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
			      "ended by itself, status 0x%x", status);
	}
	h = open_device();
	add_file(h, SELF, false, 1);
	add_file(h, LIBC, false, 1);
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
	hwpmc_close(h);
}
END_TEST

/* ---- mappings --------------------------------------------------------------- */

/* The mapping of this program's code. */
static void find_code(uint64_t *start, size_t *len, off_t *offset)
{
	uint64_t at = (uintptr_t)spin, first, last, pos;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	ck_assert_ptr_nonnull(f);
	*len = 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &first, &last, &pos) == 3 &&
		    at >= first && at < last) {
			*start = first;
			*len = last - first;
			*offset = pos;
		}
	fclose(f);
	ck_assert_uint_gt(*len, 0);
}

/* The same code at the same address, first of a file that has a table, then of none. */
START_TEST(code_in_the_place_of_a_mapping_that_has_ended_has_no_table_of_it)
{
	struct hwpmc *h = open_device();
	uint64_t start;
	off_t offset;
	size_t len;
	void *at;
	int fd = open(SELF, O_RDONLY);

	add_file(h, SELF, false, 1);
	add_file(h, LIBC, false, 1);
	find_code(&start, &len, &offset);
	at = mmap(NULL, len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);
	ck_assert_ptr_ne(at, MAP_FAILED);
	spin_at = (void (*)(unsigned int))((char *)at + ((uintptr_t)spin - start));
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
	for (unsigned int i = 0; i < 2; i++) {
		/* Once unmapped before, once mapped over. */
		if (i)
			ck_assert_ptr_eq(mmap(at, len, PROT_READ | PROT_EXEC,
					      MAP_PRIVATE | MAP_FIXED, fd, offset), at);
		else
			ck_assert_int_eq(munmap(at, len), 0);
		ck_assert_ptr_eq(mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE |
				      MAP_FIXED | MAP_ANONYMOUS, -1, 0), at);
		memcpy(at, (void *)start, len);
		ck_assert_int_eq(mprotect(at, len, PROT_READ | PROT_EXEC), 0);
		sample_self(h);
		check_most_end(HWPMC_CHAIN_NO_TABLE);
	}
	spin_at = spin;
	close(fd);
	hwpmc_close(h);
}
END_TEST

/* ---- code that ends ---------------------------------------------------------- */

#define REGION		((size_t)4 << 12)

static long int80(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	long ret;

	__asm__ __volatile__("int $0x80" : "=a" (ret)
			     : "a" (nr), "b" (a), "c" (b), "d" (c), "S" (d), "D" (e)
			     : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

#define MUNMAP32	91
#define MREMAP32	163

/* Memory that is no code, low enough for 32-bit calls. */
static void *data_region(void)
{
	void *at = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			MAP_32BIT, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

static void by_munmap(void *at)
{
	ck_assert_int_eq(munmap(at, REGION), 0);
}

static void by_munmap32(void *at)
{
	ck_assert_int_eq(int80(MUNMAP32, (uintptr_t)at, REGION, 0, 0, 0), 0);
}

static void by_moving(void *at)
{
	void *to = data_region();

	ck_assert_ptr_eq(mremap(at, REGION, REGION, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
}

static void by_moving32(void *at)
{
	void *to = data_region();

	ck_assert_int_eq(int80(MREMAP32, (uintptr_t)at, REGION, REGION,
			       MREMAP_MAYMOVE | MREMAP_FIXED, (uintptr_t)to), (uintptr_t)to);
}

static void by_shrinking(void *at)
{
	at = (char *)at - REGION;
	ck_assert_ptr_eq(mremap(at, 2 * REGION, REGION, 0), at);
}

static void by_data_that_moves_there(void *at)
{
	ck_assert_ptr_eq(mremap(data_region(), REGION, REGION, MREMAP_MAYMOVE | MREMAP_FIXED,
				at), at);
}

static void by_protection(void *at)
{
	ck_assert_int_eq(mprotect(at, REGION, PROT_READ | PROT_WRITE), 0);
}

static void by_data_over_it(void *at)
{
	ck_assert_ptr_eq(mmap(at, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED |
			      MAP_ANONYMOUS, -1, 0), at);
}

/* Executable memory of twice the size; the second half is what ends. */
static void *code_region(int fd)
{
	int flags = MAP_PRIVATE | MAP_32BIT | (fd < 0 ? MAP_ANONYMOUS : 0);
	char *at = mmap(NULL, 2 * REGION, PROT_READ | PROT_EXEC, flags, fd, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at + REGION;
}

/*
 * The table leads to words that are addresses of code of which no table is known, and to
 * the same words when it has ended.
 */
static void ends_by(struct hwpmc *h, const struct hwpmc_unwind *u, int fd, const char *name,
		    void (*end)(void *at))
{
	void *at = code_region(fd);

	secret_code = (uintptr_t)at;
	sample_by_rule(h, u, HWPMC_UNWIND_SP | 29 << 5);
	ck_assert_msg(ends[HWPMC_CHAIN_NO_TABLE] * 10 >= samples * 9,
		      "%s: code is none: %lu of %lu", name,
		      (long)ends[HWPMC_CHAIN_NO_TABLE], (long)samples);
	after_start = end;
	after_start_arg = at;
	sample_by_rule(h, u, HWPMC_UNWIND_SP | 29 << 5);
	ck_assert_msg(ends[HWPMC_CHAIN_BROKEN] * 10 >= samples * 9,
		      "%s: it is code yet: %lu of %lu", name,
		      (long)ends[HWPMC_CHAIN_BROKEN], (long)samples);
	secret_code = 0;
	munmap((char *)at - REGION, 2 * REGION);
}

static const struct {
	const char *name;
	void (*end)(void *at);
} code_ends[] = {
	{ "munmap", by_munmap }, { "munmap by int 0x80", by_munmap32 },
	{ "mremap", by_moving }, { "mremap by int 0x80", by_moving32 },
	{ "shrinking", by_shrinking }, { "mremap over it", by_data_that_moves_there },
	{ "mprotect", by_protection }, { "mmap over it", by_data_over_it },
};

static void code_that_ends(int fd)
{
	struct hwpmc *h = open_device();
	int self = open(SELF, O_RDONLY);
	struct hwpmc_unwind u;

	ck_assert_int_eq(hwpmc_unwind_read(self, &u), 0);
	close(self);
	secret = true;
	for (unsigned int i = 0; i < sizeof(code_ends) / sizeof(code_ends[0]); i++)
		ends_by(h, &u, fd, code_ends[i].name, code_ends[i].end);
	secret = false;
	hwpmc_unwind_free(&u);
	hwpmc_close(h);
}

START_TEST(anonymous_code_that_has_ended_in_any_way_is_no_code)
{
	code_that_ends(-1);
}
END_TEST

START_TEST(code_of_a_file_that_has_ended_in_any_way_is_no_code)
{
	int fd = open(LIBC, O_RDONLY);

	code_that_ends(fd);
	close(fd);
}
END_TEST

/* A copy of this program's code, and a page more. */
static char *map_again(uint64_t *start, size_t *len)
{
	int fd = open(SELF, O_RDONLY);
	off_t offset;
	char *at;

	find_code(start, len, &offset);
	at = mmap(NULL, *len + 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, offset);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	return at;
}

/* Where the program's code is mapped again, and what happens to it. */
static char *again;
static size_t again_len;

static void protect_end(void *arg)
{
	ck_assert_int_eq(mprotect(again + again_len, 4096, PROT_READ), 0);
}

static void unmap_end(void *arg)
{
	ck_assert_int_eq(munmap(again + again_len, 4096), 0);
}

static void move_it(void *to)
{
	ck_assert_ptr_eq(mremap(again, again_len, again_len, MREMAP_MAYMOVE | MREMAP_FIXED,
				to), to);
}

static void complete_after(struct hwpmc *h, void (*change)(void *arg), void *arg)
{
	after_start = change;
	after_start_arg = arg;
	sample_self(h);
	check_most_end(HWPMC_CHAIN_COMPLETE);
}

/* The table of a mapping's file is used for all that is left of it, wherever it is. */
START_TEST(what_is_left_of_a_mapping_and_what_was_moved_has_its_table)
{
	struct hwpmc *h = open_device();
	uint64_t start;
	char *to;

	add_file(h, SELF, false, 1);
	add_file(h, LIBC, false, 1);
	again = map_again(&start, &again_len);
	spin_at = (void (*)(unsigned int))(again + ((uintptr_t)spin - start));
	complete_after(h, NULL, NULL);
	complete_after(h, protect_end, NULL);
	complete_after(h, unmap_end, NULL);
	to = mmap(NULL, again_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(to, MAP_FAILED);
	spin_at = (void (*)(unsigned int))(to + ((uintptr_t)spin - start));
	complete_after(h, move_it, to);
	spin_at = spin;
	hwpmc_close(h);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(chains_are_walked_by_the_tables_that_the_owner_has_added);
	harness_add(one_call_gives_the_tables_of_a_process);
	harness_add(tables_of_one_owner_are_not_used_for_another);
	harness_add(a_table_of_another_build_or_that_is_removed_is_not_used);
	harness_add(rows_that_do_not_rise_or_are_no_rules_are_refused);
	harness_add(tables_that_would_make_a_walk_of_unbounded_length_are_refused);
	harness_add(tables_without_chains_or_samples_are_refused);
	harness_add(tables_count_as_locked_memory_until_they_are_removed);
	harness_add(the_tables_of_an_owner_have_the_limit_of_the_tunable);
	harness_add(a_table_that_is_aimed_at_secrets_gets_no_word_of_them);
	harness_add_timed(tables_come_and_go_and_their_owner_is_killed_while_programs_are_sampled,
			  60);
	harness_add(code_in_the_place_of_a_mapping_that_has_ended_has_no_table_of_it);
	harness_add_timed(anonymous_code_that_has_ended_in_any_way_is_no_code, 60);
	harness_add_timed(code_of_a_file_that_has_ended_in_any_way_is_no_code, 60);
	harness_add(what_is_left_of_a_mapping_and_what_was_moved_has_its_table);
	return harness_run();
}
