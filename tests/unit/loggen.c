/* SPDX-License-Identifier: BSD-2-Clause */
/* loggen.c - writes logs for tests into memory. */
#include <stdlib.h>
#include <string.h>

#include <hwpmc.h>

#include "loggen.h"

void *loggen_add(struct loggen *g, uint8_t type, size_t len)
{
	struct hwpmc_log_hdr *h;

	len = (len + HWPMC_LOG_ALIGN - 1) & ~(size_t)(HWPMC_LOG_ALIGN - 1);
	if (g->len + len > g->room) {
		g->room = 2 * (g->len + len);
		g->bytes = realloc(g->bytes, g->room);
		if (!g->bytes)
			abort();
	}
	h = (void *)(g->bytes + g->len);
	memset(h, 0, len);
	h->len = len;
	h->type = type;
	h->time = g->time;
	g->time += LOGGEN_STEP;
	g->len += len;
	g->n++;
	return h;
}

static void *add_string(struct loggen *g, uint8_t type, size_t len,
			const char *text)
{
	char *r = loggen_add(g, type, len + strlen(text) + 1);

	strcpy(r + len, text);
	return r;
}

void loggen_begin(struct loggen *g)
{
	struct hwpmc_log_initialize *r;

	memset(g, 0, sizeof(*g));
	g->time = LOGGEN_FIRST;
	r = loggen_add(g, HWPMC_LOG_INITIALIZE, sizeof(*r));
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->cputype = 0x99;
	r->ncpu = 2;
	r->clock = HWPMC_CLOCK_TSC;
	r->khz = 1000000;
	r->tick = LOGGEN_FIRST;
	r->monotonic = 5000000000ull;
	r->realtime = 1700000000000000000ull;
	r->owner = 100;
	strcpy(r->cpuid, "GenuineIntel-6-55-4");
}

void loggen_free(struct loggen *g)
{
	free(g->bytes);
	memset(g, 0, sizeof(*g));
}

struct hwpmc_log_allocate *loggen_allocate(struct loggen *g, uint32_t id,
					   const char *name, uint64_t period)
{
	struct hwpmc_log_allocate *r;

	r = loggen_add(g, HWPMC_LOG_PMCALLOCATE, sizeof(*r));
	r->hdr.id = id;
	r->class = HWPMC_CLASS_IAP;
	r->mode = HWPMC_MODE_TS;
	r->count = period;
	strncpy(r->name, name, sizeof(r->name) - 1);
	return r;
}

void loggen_note(struct loggen *g, uint32_t id, const char *text)
{
	struct hwpmc_log_note *r;

	r = add_string(g, HWPMC_LOG_NOTE, sizeof(*r), text);
	r->hdr.id = id;
}

void loggen_cpu(struct loggen *g, uint32_t cpu)
{
	struct hwpmc_log_hdr *r = loggen_add(g, HWPMC_LOG_CPU, sizeof(*r));

	r->id = cpu;
}

void loggen_kind(struct loggen *g, uint32_t cpu, uint32_t kind)
{
	struct hwpmc_log_cpu_kind *r = loggen_add(g, HWPMC_LOG_CPU_KIND, sizeof(*r));

	r->hdr.id = cpu;
	r->kind = kind;
}

void loggen_period(struct loggen *g, uint32_t id, uint64_t period, uint8_t flags)
{
	struct hwpmc_log_period *r = loggen_add(g, HWPMC_LOG_PERIOD, sizeof(*r));

	r->hdr.id = id;
	r->hdr.flags = flags;
	r->period = period;
}

void loggen_context(struct loggen *g, int32_t pid, int32_t tid)
{
	struct hwpmc_log_context *r;

	r = loggen_add(g, HWPMC_LOG_CONTEXT, sizeof(*r));
	r->pid = pid;
	r->tid = tid;
}

struct hwpmc_log_sample *loggen_sample(struct loggen *g, uint32_t id,
				       uint8_t flags, unsigned int n,
				       const uint64_t *pc)
{
	struct hwpmc_log_sample *r;

	r = loggen_add(g, HWPMC_LOG_CALLCHAIN, sizeof(*r) + n * sizeof(*pc));
	r->hdr.id = id;
	r->hdr.flags = flags;
	memcpy(r->pc, pc, n * sizeof(*pc));
	return r;
}

struct hwpmc_log_map *loggen_map(struct loggen *g, int32_t pid, uint64_t start,
				 uint64_t end, uint64_t offset,
				 const char *path)
{
	struct hwpmc_log_map *r;

	r = add_string(g, HWPMC_LOG_MAP_IN, sizeof(*r), path);
	r->pid = pid;
	r->start = start;
	r->end = end;
	r->offset = offset;
	return r;
}

void loggen_unmap(struct loggen *g, int32_t pid, uint64_t start, uint64_t end)
{
	struct hwpmc_log_unmap *r;

	r = loggen_add(g, HWPMC_LOG_MAP_OUT, sizeof(*r));
	r->pid = pid;
	r->start = start;
	r->end = end;
}

struct hwpmc_log_exec *loggen_exec(struct loggen *g, int32_t pid,
				   const char *comm, const char *path)
{
	struct hwpmc_log_exec *r;

	r = add_string(g, HWPMC_LOG_PROCEXEC, sizeof(*r), path);
	r->pid = r->tid = pid;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
	return r;
}

struct hwpmc_log_attach *loggen_attach(struct loggen *g, uint32_t id,
				       int32_t pid, const char *path)
{
	struct hwpmc_log_attach *r;

	r = add_string(g, HWPMC_LOG_PMCATTACH, sizeof(*r), path);
	r->hdr.id = id;
	r->pid = pid;
	return r;
}

void loggen_fork(struct loggen *g, int32_t parent, int32_t child)
{
	struct hwpmc_log_fork *r;

	r = loggen_add(g, HWPMC_LOG_PROCFORK, sizeof(*r));
	r->parent = parent;
	r->child = child;
}

struct hwpmc_log_task *loggen_task(struct loggen *g, uint8_t type, int32_t pid,
				   int32_t tid, const char *comm)
{
	struct hwpmc_log_task *r = loggen_add(g, type, sizeof(*r));

	r->pid = pid;
	r->tid = tid;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
	return r;
}

struct hwpmc_log_value *loggen_value(struct loggen *g, uint8_t type,
				     uint32_t id, int32_t pid, uint64_t value)
{
	struct hwpmc_log_value *r = loggen_add(g, type, sizeof(*r));

	r->hdr.id = id;
	r->pid = pid;
	r->tid = type == HWPMC_LOG_PROCCSW ? pid : 0;
	r->value = value;
	return r;
}

struct hwpmc_log_drop *loggen_drop(struct loggen *g, uint64_t samples)
{
	struct hwpmc_log_drop *r;

	r = loggen_add(g, HWPMC_LOG_DROPNOTIFY, sizeof(*r));
	r->ncause = HWPMC_DROP_FIXED;
	r->since = g->time - 10 * LOGGEN_STEP;
	r->samples[HWPMC_DROP_FULL] = samples;
	return r;
}

struct hwpmc_log_precise *loggen_precise(struct loggen *g, uint32_t id, uint8_t kind,
					 uint64_t present, const uint64_t *words)
{
	unsigned int n = __builtin_popcountll(present & HWPMC_PRECISE_WORDS);
	struct hwpmc_log_precise *r;

	r = loggen_add(g, HWPMC_LOG_PRECISE, sizeof(*r) + n * sizeof(r->word[0]));
	r->hdr.id = id;
	r->hdr.flags = kind;
	r->present = present;
	if (n)
		memcpy(r->word, words, n * sizeof(r->word[0]));
	return r;
}

static void add_pmcs(struct loggen *g)
{
	struct hwpmc_log_attach *detach;

	loggen_allocate(g, 7, "", 1000);
	loggen_allocate(g, 8, "CLOCK.PROF", 10)->hdr.type =
		HWPMC_LOG_PMCALLOCATEDYN;
	loggen_note(g, 7, "event=cycles");
	loggen_attach(g, 7, 42, "/bin/loop");
	detach = loggen_add(g, HWPMC_LOG_PMCDETACH, sizeof(*detach));
	detach->hdr.id = 7;
	detach->pid = 41;
	loggen_value(g, HWPMC_LOG_PROCCSW, 7, 42, 1234);
	loggen_value(g, HWPMC_LOG_PROCEXIT, 7, 42, 5678);
}

static void add_processes(struct loggen *g)
{
	loggen_exec(g, 42, "true", "/bin/true");
	loggen_fork(g, 42, 44);
	loggen_task(g, HWPMC_LOG_PROC_CREATE, 42, 42, "true");
	loggen_task(g, HWPMC_LOG_THR_CREATE, 42, 43, "worker");
	loggen_task(g, HWPMC_LOG_COMM_NAME, 42, 42, "truly");
	loggen_map(g, 42, 0x400000, 0x500000, 0, "/bin/program");
	loggen_map(g, -1, 0xffffffffc0000000, 0xffffffffc0001000, 0, "[hwpmc]");
	loggen_unmap(g, 42, 0x600000, 0x700000);
}

struct hwpmc_log_loss *loggen_loss(struct loggen *g, uint32_t pmc, uint32_t cpu,
				   uint32_t reason, uint8_t flags)
{
	struct hwpmc_log_loss *r = loggen_add(g, HWPMC_LOG_LOSS, sizeof(*r));

	r->hdr.id = pmc;
	r->hdr.flags = flags;
	r->cpu = cpu;
	r->reason = reason;
	r->since = r->hdr.time - 1000;
	return r;
}

static void add_samples(struct loggen *g)
{
	static const uint64_t chain[] = { 0x401000, 0x402000, 0x403000 };
	static const uint64_t split[] = {
		HWPMC_PC_HIDDEN, HWPMC_PC_USER, 0x401000,
	};
	struct hwpmc_log_throttle *throttle;

	loggen_cpu(g, 1);
	loggen_context(g, 42, 43);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 3, chain);
	loggen_sample(g, 8, HWPMC_SAMPLE_HIDDEN | HWPMC_SAMPLE_SPLIT, 3, split);
	loggen_drop(g, 12)->cpu = 1;
	throttle = loggen_add(g, HWPMC_LOG_THROTTLE, sizeof(*throttle));
	throttle->hdr.id = 7;
	throttle->percent = 26;
	loggen_loss(g, 7, 1, HWPMC_WHY_COUNTER_TAKEN, 0)->detail = 3;
}

void loggen_every_type(struct loggen *g)
{
	static const uint64_t word = 0x401000;
	struct hwpmc_log_clock *clock;

	loggen_begin(g);
	add_pmcs(g);
	add_processes(g);
	add_samples(g);
	loggen_task(g, HWPMC_LOG_THR_EXIT, 42, 43, "");
	loggen_task(g, HWPMC_LOG_SYSEXIT, 42, 42, "");
	loggen_add(g, HWPMC_LOG_USERDATA, sizeof(struct hwpmc_log_hdr));
	clock = loggen_add(g, HWPMC_LOG_CLOCK, sizeof(*clock));
	clock->tick = g->time;
	clock->monotonic = 5000000000ull + g->time - LOGGEN_FIRST;
	loggen_add(g, HWPMC_LOG_PADDING, 64);
	loggen_kind(g, 1, HWPMC_KIND_ATOM);
	loggen_period(g, 0, 70000, HWPMC_PERIOD_DROPPED);
	loggen_precise(g, 7, HWPMC_PRECISE_TEST, HWPMC_PRECISE_EXACT | 2, &word);
	loggen_add(g, 200, 24);
	loggen_add(g, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_hdr));
}

void loggen_exact(struct loggen *g)
{
	static const uint64_t words[] = { 1, 0x401000, 0xffff888000000000 }, odd = 5;
	static const uint64_t pc[] = { 0x401000, 0x402000 }, hidden = HWPMC_PC_HIDDEN;

	loggen_begin(g);
	loggen_allocate(g, 7, "cycles", 1000);
	loggen_allocate(g, 9, "ops", 1000)->flags = HWPMC_F_EXACT;
	loggen_exec(g, 42, "true", "/bin/true");
	loggen_map(g, 42, 0x400000, 0x500000, 0, "/bin/program");
	loggen_cpu(g, 1);
	loggen_context(g, 42, 43);
	/* Exact by its record; the next one is not. */
	loggen_precise(g, 7, HWPMC_PRECISE_IBS_OP, HWPMC_PRECISE_EXACT |
		       1 << HWPMC_IBS_OP_CTL | 1 << HWPMC_IBS_OP_RIP |
		       1 << HWPMC_IBS_OP_DC_PHYSADDR, words);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 2, pc);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 2, pc);
	/* Exact by its PMC; the next one is not, by its record. */
	loggen_sample(g, 9, HWPMC_SAMPLE_USER, 1, pc);
	loggen_precise(g, 9, HWPMC_PRECISE_NONE, 0, NULL);
	loggen_sample(g, 9, HWPMC_SAMPLE_USER, 1, pc);
	/* Hidden, behind a record of another PMC, of a kind to come. */
	loggen_precise(g, 8, 200, HWPMC_PRECISE_EXACT | 1ull << 40 | 1ull << 50, &odd);
	loggen_sample(g, 9, HWPMC_SAMPLE_HIDDEN, 1, &hidden);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 1, pc);
}

void loggen_frequency(struct loggen *g)
{
	static const uint64_t chain[] = { 0x401000, 0x402000 };

	loggen_begin(g);
	loggen_allocate(g, 7, "instructions", 1000);
	loggen_allocate(g, 9, "cycles", 99)->flags = HWPMC_F_FREQUENCY;
	loggen_exec(g, 42, "true", "/bin/true");
	loggen_map(g, 42, 0x400000, 0x500000, 0, "/bin/program");
	loggen_cpu(g, 1);
	loggen_context(g, 42, 43);
	loggen_period(g, 9, 1000, 0);
	loggen_sample(g, 9, HWPMC_SAMPLE_USER, 2, chain);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 2, chain);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 2, chain);
	/* The thread has changed: what says so lies between. */
	loggen_period(g, 9, 1ull << 40, 0);
	loggen_context(g, 42, 42);
	loggen_sample(g, 9, HWPMC_SAMPLE_USER, 1, chain);
	loggen_period(g, 0, 70000, HWPMC_PERIOD_DROPPED);
	loggen_drop(g, 12)->cpu = 1;
	/* Of no PMC, twice, and of none that is left. */
	loggen_period(g, 8, 5, 0);
	loggen_period(g, 7, 5, 0);
	loggen_period(g, 7, 6, 0);
	loggen_sample(g, 7, HWPMC_SAMPLE_USER, 2, chain);
	loggen_sample(g, 9, HWPMC_SAMPLE_USER, 2, chain);
	loggen_period(g, 9, 1, 0);
}
