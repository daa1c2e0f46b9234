// SPDX-License-Identifier: BSD-2-Clause
/*
 * memcheck.c SECONDS LAST FILE... - main() of a target that valgrind runs in place of
 * libFuzzer: each file, then damaged copies of them for so many seconds. An input is
 * kept in the file LAST while it runs. valgrind sees what ASan does not: a decision that
 * depends on uninitialised memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"

#define LARGEST	(64 * 1024)

struct input {
	uint8_t *bytes;
	size_t len;
};

static uint32_t random_state = 1;

static uint32_t any(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static struct input read_input(const char *path)
{
	struct input in = { malloc(LARGEST), 0 };
	FILE *f = fopen(path, "rb");

	need(f && in.bytes, path);
	in.len = fread(in.bytes, 1, LARGEST, f);
	fclose(f);
	return in;
}

/* In memory of its own size, so that a byte behind it is seen. */
static void run_input(struct input in, const char *last)
{
	uint8_t *copy = malloc(in.len ? in.len : 1);
	FILE *f = fopen(last, "wb");

	need(f && copy, last);
	memcpy(copy, in.bytes, in.len);
	fwrite(copy, 1, in.len, f);
	need(fclose(f) == 0, last);
	LLVMFuzzerTestOneInput(copy, in.len);
	free(copy);
}

static void run_damaged(struct input in, const char *last)
{
	struct input bad = { malloc(LARGEST), in.len };

	need(bad.bytes != NULL, "no memory");
	memcpy(bad.bytes, in.bytes, in.len);
	for (uint32_t n = 1 + any(8); n && bad.len; n--)
		bad.bytes[any(bad.len)] = any(4) ? any(256) : 0xff * any(2);
	if (!any(4) && bad.len)
		bad.len = any(bad.len);
	run_input(bad, last);
	free(bad.bytes);
}

int main(int argc, char *argv[])
{
	int n = argc - 3, runs = 0;
	time_t end;

	need(n > 0, "memcheck SECONDS LAST FILE...");
	for (int i = 0; i < n; i++, runs++) {
		struct input in = read_input(argv[3 + i]);

		run_input(in, argv[2]);
		free(in.bytes);
	}
	end = time(NULL) + atoi(argv[1]);
	for (; time(NULL) < end; runs++) {
		struct input in = read_input(argv[3 + any(n)]);

		run_damaged(in, argv[2]);
		free(in.bytes);
	}
	remove(argv[2]);
	printf("%d runs\n", runs);
	return 0;
}
