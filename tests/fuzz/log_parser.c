/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_parser.c - fuzzes all that reads logs. LLVMFuzzerTestOneInput() is what libFuzzer
 * calls (FUZZ_ENGINE=-fsanitize=fuzzer with clang); main() is a driver of its own
 * for compilers that have none:
 *
 *	log_parser [-n RUNS] [-s SEED] [-c DIR] [-w DIR] [FILE ...]
 *
 * runs each FILE once, or mutations of the logs that it makes. An input is written to
 * DIR/last before it is tried, so that the one that ended the program is there. -w:
 * write the logs that it makes to DIR, for another fuzzer to begin with.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The pieces depend on the input alone, so that a crash comes again. */
	log_exercise(data, size, 1 + size * 7 % 64);
	return 0;
}

#ifndef LIBFUZZER
#include "../unit/loggen.h"

#define SIZE_MAX_	(64 * 1024)

static uint64_t state;

static uint32_t any(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

struct bytes {
	uint8_t data[SIZE_MAX_];
	size_t len;
};

/* ---- the corpus ---------------------------------------------------------- */

static void small_log(struct loggen *g)
{
	static const uint64_t pc[] = { 0x401000, 0x402000 };

	loggen_begin(g);
	loggen_allocate(g, 1, "x", 1000);
	loggen_exec(g, 10, "a", "/a");
	loggen_map(g, 10, 0x400000, 0x500000, 0, "/a");
	loggen_context(g, 10, 10);
	loggen_sample(g, 1, HWPMC_SAMPLE_USER, 2, pc);
}

/* Of a module that counts two causes more. */
static void add_later_drops(struct loggen *g)
{
	struct hwpmc_log_drop_pair *more;
	struct hwpmc_log_drop *r;

	r = loggen_add(g, HWPMC_LOG_DROPNOTIFY, sizeof(*r) + 2 * sizeof(*more));
	r->ncause = HWPMC_DROP_FIXED + 2;
	more = (void *)(r + 1);
	more[0].samples = 6;
	more[1].others = 7;
}

static void family_log(struct loggen *g)
{
	static const uint64_t pc[] = { 0xffffffff81000000, HWPMC_PC_USER, 0x10 };

	loggen_begin(g);
	loggen_allocate(g, 1, "x", 1000);
	for (int32_t pid = 10; pid < 16; pid++) {
		loggen_fork(g, pid - 1, pid);
		loggen_map(g, pid, 0, 4096, 0, "//anon")->hdr.flags =
			HWPMC_MAP_ANON;
		loggen_exec(g, pid, "b", "/b");
		loggen_unmap(g, pid, 0, 4096);
		loggen_cpu(g, pid % 3);
		loggen_context(g, pid, pid + 100);
		loggen_sample(g, 1, HWPMC_SAMPLE_SPLIT, 3, pc);
		loggen_task(g, HWPMC_LOG_SYSEXIT, pid, pid, "");
	}
	loggen_drop(g, 5);
	add_later_drops(g);
}

static void (*const makers[])(struct loggen *) = {
	loggen_every_type, small_log, family_log, loggen_frequency, loggen_exact,
};

#define MAKERS	(sizeof(makers) / sizeof(*makers))

static void seed_input(struct bytes *b)
{
	struct loggen g;

	makers[any(MAKERS)](&g);
	memcpy(b->data, g.bytes, g.len);
	b->len = g.len;
	loggen_free(&g);
}

/* ---- mutations ----------------------------------------------------------- */

static void change_byte(struct bytes *b)
{
	b->data[any(b->len)] = any(256);
}

static void flip_bit(struct bytes *b)
{
	b->data[any(b->len)] ^= 1 << any(8);
}

static void change_word(struct bytes *b)
{
	static const uint32_t words[] = {
		0, 1, 8, 16, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe,
	};
	size_t at = any(b->len) & ~3ul;

	if (at + 4 <= b->len)
		memcpy(b->data + at, &words[any(9)], 4);
}

static void leave_out(struct bytes *b)
{
	size_t at = any(b->len) & ~7ul, len = any(256) & ~7ul;

	if (at + len >= b->len)
		return;
	memmove(b->data + at, b->data + at + len, b->len - at - len);
	b->len -= len;
}

static void double_piece(struct bytes *b)
{
	size_t at = any(b->len) & ~7ul, len = any(512) & ~7ul;

	if (at + len > b->len || b->len + len > SIZE_MAX_)
		return;
	memmove(b->data + at + len, b->data + at, b->len - at);
	b->len += len;
}

static void swap_type(struct bytes *b)
{
	static const uint8_t types[] = {
		1, 2, 3, 5, 8, 9, 11, 14, 15, 16, 18, 64, 65, 67, 69, 73, 74, 75,
	};
	size_t at = 0, next;

	for (uint32_t n = any(20); n; n--) {
		next = at + (b->data[at] | b->data[at + 1] << 8);
		if (next <= at || next + 16 > b->len)
			break;
		at = next;
	}
	if (at + 3 < b->len)
		b->data[at + 2] = types[any(sizeof(types))];
}

static void cut(struct bytes *b)
{
	b->len = 1 + any(b->len);
}

static void (*const mutations[])(struct bytes *) = {
	change_byte, flip_bit, change_word, change_word, leave_out, double_piece,
	swap_type, swap_type, cut,
};

/* ---- the driver ---------------------------------------------------------- */

static int write_file(const char *dir, const char *name, const void *data,
		      size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		return 1;
	}
	fwrite(data, 1, len, f);
	return fclose(f) != 0;
}

static int write_corpus(const char *dir)
{
	int status = 0;

	for (unsigned int i = 0; i < MAKERS; i++) {
		char name[16];
		struct loggen g;

		snprintf(name, sizeof(name), "%u.log", i);
		makers[i](&g);
		status |= write_file(dir, name, g.bytes, g.len);
		loggen_free(&g);
	}
	return status;
}

static int run_file(const char *path)
{
	static struct bytes b;
	uint8_t *exact;
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return 1;
	}
	b.len = fread(b.data, 1, SIZE_MAX_, f);
	fclose(f);
	exact = malloc(b.len ? b.len : 1);
	memcpy(exact, b.data, b.len);
	LLVMFuzzerTestOneInput(exact, b.len);
	free(exact);
	return 0;
}

static void run_mutations(unsigned long runs, const char *dir)
{
	static struct bytes b;

	for (unsigned long i = 0; i < runs; i++) {
		seed_input(&b);
		for (uint32_t n = 1 + any(12); n && b.len; n--)
			mutations[any(sizeof(mutations) / sizeof(*mutations))](&b);
		write_file(dir, "last", b.data, b.len);
		LLVMFuzzerTestOneInput(b.data, b.len);
	}
}

int main(int argc, char *argv[])
{
	unsigned long runs = 10000;
	const char *dir = ".";
	int c, status = 0;

	state = 1;
	while ((c = getopt(argc, argv, "n:s:c:w:")) != -1) {
		if (c == 'n')
			runs = strtoul(optarg, NULL, 0);
		else if (c == 's')
			state = strtoull(optarg, NULL, 0);
		else if (c == 'c')
			dir = optarg;
		else
			return c == 'w' ? write_corpus(optarg) : 2;
	}
	for (int i = optind; i < argc; i++)
		status |= run_file(argv[i]);
	if (optind == argc) {
		printf("log_parser: %lu mutations, seed %llu\n", runs,
		       (unsigned long long)state);
		run_mutations(runs, dir);
	}
	return status;
}
#endif
