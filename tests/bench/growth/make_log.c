/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_log.c - logs whose reading shows how its cost grows, to standard output:
 *	make_log processes N		N processes, one after the other: each is executed,
 *					maps its program and is sampled once
 *	make_log samples N		N samples of one process, of 1,000 places
 *	make_log threads N STACKS	2,000,000 samples with 16 frames of N processes
 *					that take turns, each with STACKS stacks
 *	make_log events N		N PMCs, each of an event of its own, whose name a
 *					note has, with a sample
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwpmc.h>
#include <hwpmc_log.h>

#define TEXT		0x400000ull
#define TEXT_SIZE	0x10000000ull
#define FIRST_PID	300
#define TURNS		2000000
#define DEPTH		16

static uint64_t now = 1000;

static union {
	struct hwpmc_log_hdr hdr;
	struct hwpmc_log_initialize initialize;
	struct hwpmc_log_allocate allocate;
	struct hwpmc_log_exec exec;
	struct hwpmc_log_map map;
	struct hwpmc_log_note note;
	struct hwpmc_log_context context;
	struct hwpmc_log_sample sample;
	char bytes[512];
} r;

/* What is in r, and nothing of it in the next. */
static void put(uint8_t type, uint8_t flags, uint32_t id, size_t len)
{
	len = (len + 7) & ~7ul;
	r.hdr.len = len;
	r.hdr.type = type;
	r.hdr.flags = flags;
	r.hdr.id = id;
	r.hdr.time = now++;
	if (fwrite_unlocked(&r, 1, len, stdout) != len) {
		perror("make_log");
		exit(1);
	}
	memset(&r, 0, len);
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
	x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
	return x ^ x >> 33;
}

static void begin(void)
{
	r.initialize.magic = HWPMC_LOG_MAGIC;
	r.initialize.schema = HWPMC_LOG_SCHEMA;
	r.initialize.ncpu = 1;
	r.initialize.clock = HWPMC_CLOCK_TSC;
	r.initialize.khz = 1000000;
	r.initialize.tick = now;
	strcpy(r.initialize.cpuid, "GenuineIntel-6-55-4");
	put(HWPMC_LOG_INITIALIZE, 0, 0, sizeof(r.initialize));
	put(HWPMC_LOG_CPU, 0, 0, 16);
	r.allocate.mode = HWPMC_MODE_TS;
	r.allocate.count = 10000;
	strcpy(r.allocate.name, "cycles");
	put(HWPMC_LOG_PMCALLOCATE, 0, 1, sizeof(r.allocate));
}

static void context(uint32_t pid)
{
	r.context.pid = r.context.tid = pid;
	put(HWPMC_LOG_CONTEXT, 0, 0, sizeof(r.context));
}

static void process(uint32_t pid)
{
	static const char path[] = "/usr/bin/program";

	r.exec.pid = r.exec.tid = pid;
	snprintf(r.exec.comm, sizeof(r.exec.comm), "prog%u", pid);
	strcpy((char *)r.exec.path, path);
	put(HWPMC_LOG_PROCEXEC, 0, 0,
	    offsetof(struct hwpmc_log_exec, path) + sizeof(path));
	r.map.pid = pid;
	r.map.start = TEXT;
	r.map.end = TEXT + TEXT_SIZE;
	strcpy((char *)r.map.path, path);
	put(HWPMC_LOG_MAP_IN, 0, 0,
	    offsetof(struct hwpmc_log_map, path) + sizeof(path));
}

static void sample(uint64_t stack, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		r.sample.pc[i] = TEXT + mix(i ? i : stack) % TEXT_SIZE;
	put(HWPMC_LOG_CALLCHAIN, HWPMC_SAMPLE_USER, 1,
	    sizeof(r.hdr) + depth * sizeof(uint64_t));
}

static void processes(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		process(FIRST_PID + i);
		context(FIRST_PID + i);
		sample(7, 1);
	}
}

static void samples(uint32_t n)
{
	process(FIRST_PID);
	context(FIRST_PID);
	for (uint32_t i = 0; i < n; i++)
		sample(mix(i) % 1000, 1);
}

static void events(uint32_t n)
{
	process(FIRST_PID);
	context(FIRST_PID);
	for (uint32_t i = 0; i < n; i++) {
		int len = snprintf(r.note.text, 32, "event=event%u", i);

		put(HWPMC_LOG_NOTE, 0, 2 + i, sizeof(r.note) + len + 1);
		r.allocate.mode = HWPMC_MODE_TS;
		r.allocate.count = 10000;
		put(HWPMC_LOG_PMCALLOCATE, 0, 2 + i, sizeof(r.allocate));
		r.sample.pc[0] = TEXT;
		put(HWPMC_LOG_CALLCHAIN, HWPMC_SAMPLE_USER, 2 + i,
		    sizeof(r.hdr) + sizeof(uint64_t));
	}
}

static void threads(uint32_t n, uint32_t stacks)
{
	uint32_t last = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		process(FIRST_PID + i);
	for (uint32_t i = 0; i < TURNS; i++) {
		uint32_t which = mix(i) % n;

		if (which != last)
			context(FIRST_PID + which);
		last = which;
		sample(1000 + mix(~(uint64_t)i) % stacks, DEPTH);
	}
}

int main(int argc, char *argv[])
{
	uint32_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!n || (!strcmp(argv[1], "threads") && argc < 4))
		return 2;
	begin();
	if (!strcmp(argv[1], "processes"))
		processes(n);
	else if (!strcmp(argv[1], "samples"))
		samples(n);
	else if (!strcmp(argv[1], "events"))
		events(n);
	else
		threads(n, strtoul(argv[3], NULL, 10));
	put(HWPMC_LOG_CLOSELOG, 0, 0, sizeof(struct hwpmc_log_closelog));
	return fflush(stdout) ? 1 : 0;
}
