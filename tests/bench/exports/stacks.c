/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c - `stacks NUMBER PROGRAM START SIZE [PLACES STACKS]`: a log with so many samples,
 * each with a stack of its own, 64 frames deep, in the code of PROGRAM (its address in the file
 * and its length, as numbers); the outer half of each is the same. With PLACES there are at most
 * so many different addresses, so many stacks take turns, and the outer 60 frames of them are the
 * same. To standard output.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwpmc.h>
#include <hwpmc_log.h>

#define DEPTH	64
#define FEW	4		/* frames of a stack's own, of few places */
#define BASE	0x400000ull
#define PAGE	4096ull
#define PID	1000

static uint64_t now = 1000;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

/* Returns a number below the limit, or the number itself. */
static uint64_t place(uint64_t x, uint64_t places)
{
	return places == UINT64_MAX ? x : mix(x % places);
}

static void put(void *record, int type, int flags, uint32_t id, size_t len)
{
	struct hwpmc_log_hdr *h = record;

	len = (len + 7) & ~7ul;
	h->len = len;
	h->type = type;
	h->flags = flags;
	h->id = id;
	h->time = now++;
	fwrite_unlocked(record, 1, len, stdout);
}

/* The longest record has a path. */
static union {
	struct hwpmc_log_initialize initialize;
	struct hwpmc_log_note note;
	struct hwpmc_log_allocate allocate;
	struct hwpmc_log_exec exec;
	struct hwpmc_log_map map;
	struct hwpmc_log_context context;
	struct hwpmc_log_sample sample;
	struct hwpmc_log_closelog close;
	char bytes[16384];
} r;

static void clear(void)
{
	memset(&r, 0, sizeof(r));
}

static void put_head(void)
{
	r.initialize = (struct hwpmc_log_initialize){
		.magic = HWPMC_LOG_MAGIC, .schema = HWPMC_LOG_SCHEMA, .ncpu = 1,
		.clock = HWPMC_CLOCK_TSC, .khz = 1000000, .tick = now,
		.monotonic = now, .realtime = 1700000000000000000ull,
	};
	put(&r, HWPMC_LOG_INITIALIZE, 0, 0, sizeof(r.initialize));
	clear();
	put(&r, HWPMC_LOG_CPU, 0, 0, sizeof(struct hwpmc_log_hdr));
	clear();
	r.allocate.mode = HWPMC_MODE_SS;
	r.allocate.count = 10000;
	put(&r, HWPMC_LOG_PMCALLOCATE, 0, 1, sizeof(r.allocate));
}

static void put_process(const char *path, uint64_t start, uint64_t size)
{
	size_t len = strlen(path) + 1;

	clear();
	r.exec.pid = r.exec.tid = PID;
	strcpy((char *)r.exec.comm, "stacks");
	memcpy((char *)r.exec.path, path, len);
	put(&r, HWPMC_LOG_PROCEXEC, 0, 0, (char *)r.exec.path - r.bytes + len);
	clear();
	r.map.pid = PID;
	r.map.start = BASE + start / PAGE * PAGE;
	r.map.end = BASE + (start + size + PAGE - 1) / PAGE * PAGE;
	r.map.offset = start / PAGE * PAGE;
	memcpy((char *)r.map.path, path, len);
	put(&r, HWPMC_LOG_MAP_IN, 0, 0, (char *)r.map.path - r.bytes + len);
	clear();
	r.context.pid = r.context.tid = PID;
	put(&r, HWPMC_LOG_CONTEXT, 0, 0, sizeof(r.context));
}

int main(int argc, char *argv[])
{
	uint64_t start, size, places = UINT64_MAX, stacks = UINT64_MAX;
	int own = DEPTH / 2;
	long n;

	if ((argc != 5 && argc != 7) || strlen(argv[2]) > 4096)
		return 2;
	n = atol(argv[1]);
	if (argc == 7) {
		places = strtoull(argv[5], NULL, 0);
		stacks = strtoull(argv[6], NULL, 0);
		own = FEW;
	}
	start = strtoull(argv[3], NULL, 0);
	size = strtoull(argv[4], NULL, 0);
	put_head();
	put_process(argv[2], start, size);
	clear();
	for (long i = 0; i < n; i++) {
		for (int d = 0; d < DEPTH; d++)
			r.sample.pc[d] = BASE + start +
				place(mix((d < own ? i % stacks * DEPTH : 0) + d), places) % size;
		put(&r, HWPMC_LOG_CALLCHAIN, HWPMC_SAMPLE_USER, 1,
		    sizeof(struct hwpmc_log_hdr) + DEPTH * sizeof(uint64_t));
	}
	clear();
	put(&r, HWPMC_LOG_CLOSELOG, 0, 0, sizeof(r.close));
	return fflush(stdout) ? 1 : 0;
}
