/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_corpus.c - files of perf record that the fuzz target perf begins with: all records and
 * fields, two events, both forms, compressed. perf_corpus DIR
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perf_format.h>

#include "../unit/perfgen.h"

#define TEXT	0x400000ull
#define KERNEL	0xffffffff81000000ull

static void put_event(struct perfgen *g, uint64_t id, uint64_t fields)
{
	struct perfgen_event e = {
		.type = PERF_T_SOFTWARE, .config = id % 3, .period = 4000, .id = id,
		.sample_type = fields | PERF_S_IDENTIFIER | PERF_S_IP | PERF_S_TID | PERF_S_TIME,
		.flags = PERF_A_FREQ | PERF_A_ID_ALL, .name = "event",
		.read_format = PERF_R_GROUP | PERF_R_ID, .branches = PERF_B_HW_INDEX,
		.regs_user = 3, .regs_intr = 1,
	};

	perfgen_event(g, &e);
}

static void put_samples(struct perfgen *g, uint32_t n)
{
	static const uint64_t chain[] = {
		PERF_CONTEXT_KERNEL, KERNEL + 1, KERNEL + 2, PERF_CONTEXT_USER, TEXT + 1, TEXT + 2,
	};
	struct perfgen_sample s = {
		.misc = PERF_MODE_KERNEL, .ip = KERNEL + 1, .period = 250, .pid = 42, .tid = 43,
		.nchain = 6, .chain = chain, .nbranch = 1,
	};

	for (uint32_t i = 0; i < n; i++) {
		s.cpu = i % 3;
		s.event = i % 2;
		perfgen_sample(g, &s);
	}
}

static void put_records(struct perfgen *g)
{
	uint64_t three[3] = { PERFGEN_FIRST, 11, 3 }, aux[6] = { 8 };

	perfgen_mmap(g, -1, PERF_MODE_KERNEL, KERNEL, ~0ull, "[kernel.kallsyms]_text");
	perfgen_mmap(g, -1, PERF_MODE_KERNEL, KERNEL << 1, 4096, "/lib/modules/x/a-b.ko.xz");
	perfgen_comm(g, 42, 42, PERF_MISC_COMM_EXEC, "program");
	perfgen_mmap2(g, 42, PERF_MODE_USER, TEXT, 0x1000, 0, "/bin/program");
	perfgen_mmap2(g, 42, PERF_MODE_USER | PERF_MISC_BUILD_ID, TEXT, 0x1000, 0, "//anon");
	perfgen_fork(g, 42, 42, 42, 43);
	perfgen_fork(g, 42, 43, 44, 44);
	perfgen_exit(g, 44, 44);
	perfgen_record(g, PERF_LOST, 0, three, 16);
	perfgen_record(g, PERF_LOST_SAMPLES, 0, three, 8);
	perfgen_record(g, PERF_THROTTLE, 0, three, sizeof(three));
	perfgen_raw(g, PERF_AUXTRACE, 0, aux, sizeof(aux));
	perfgen_put(&g->data, NULL, 8);
}

static void write_file(const char *dir, const char *name, bool pipe, uint64_t fields, uint32_t type)
{
	struct perfgen g;
	char path[512];
	size_t at;
	FILE *f;

	perfgen_begin(&g, pipe);
	put_event(&g, 11, fields);
	put_event(&g, 12, fields & ~PERF_S_CALLCHAIN);
	put_records(&g);
	at = g.data.len;
	put_samples(&g, 6);
	if (type)
		perfgen_pack(&g, at, type, 64);
	perfgen_string(&g, PERF_FEATURE_HOSTNAME, "machine");
	perfgen_string(&g, PERF_FEATURE_CPUID, "GenuineIntel,6,85,4");
	perfgen_names(&g);
	perfgen_build_id(&g, -1, PERF_MODE_USER, 7, "/bin/program");
	perfgen_finish(&g);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(g.out.bytes, 1, g.out.len, f) != g.out.len || fclose(f)) {
		perror(path);
		exit(1);
	}
	perfgen_free(&g);
}

int main(int argc, char *argv[])
{
	uint64_t usual = PERF_S_CPU | PERF_S_PERIOD | PERF_S_CALLCHAIN;

	if (argc != 2)
		return 2;
	write_file(argv[1], "file", false, usual, 0);
	write_file(argv[1], "pipe", true, usual, 0);
	write_file(argv[1], "fields", false, PERF_S_ALL, 0);
	write_file(argv[1], "packed", false, usual, PERF_COMPRESSED);
	write_file(argv[1], "packed-pipe", true, usual, PERF_COMPRESSED2);
	return 0;
}
