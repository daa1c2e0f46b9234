/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * made_log.h - logs that a test makes: in memory, record by record, times one tick
 * apart. For tests that include it once.
 */
#ifndef MADE_LOG_H
#define MADE_LOG_H

#include <stdlib.h>
#include <string.h>

#include <libhwpmcstat.h>

struct made_log {
	uint8_t *bytes;
	size_t len, room;
	unsigned int n;
};

/* A record with `extra` bytes behind its structure; zero but for its head. */
static void *made_add(struct made_log *log, uint8_t type, size_t size,
		      size_t extra)
{
	size_t len = (size + extra + 7) & ~7ul;
	struct hwpmc_log_hdr *h;

	if (log->len + len > log->room) {
		log->room = 2 * (log->room + len);
		log->bytes = realloc(log->bytes, log->room);
	}
	h = (void *)(log->bytes + log->len);
	memset(h, 0, len);
	h->len = len;
	h->type = type;
	h->time = 1000 + log->n++;
	log->len += len;
	return h;
}

static inline void made_begin(struct made_log *log)
{
	struct hwpmc_log_initialize *r;

	memset(log, 0, sizeof(*log));
	r = made_add(log, HWPMC_LOG_INITIALIZE, sizeof(*r), 0);
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->ncpu = 2;
	r->clock = HWPMC_CLOCK_TSC;
	r->khz = 2000000;
	strcpy(r->cpuid, "GenuineIntel-6-55-4");
}

static inline void made_note(struct made_log *log, uint32_t id, const char *text)
{
	struct hwpmc_log_note *r;

	r = made_add(log, HWPMC_LOG_NOTE, sizeof(*r), strlen(text) + 1);
	r->hdr.id = id;
	strcpy(r->text, text);
}

/* A PMC that samples, and what it is called. */
static inline void made_event(struct made_log *log, uint32_t id, const char *name)
{
	struct hwpmc_log_allocate *r;
	char text[128];

	r = made_add(log, HWPMC_LOG_PMCALLOCATE, sizeof(*r), 0);
	r->hdr.id = id;
	r->class = HWPMC_CLASS_IAP;
	r->mode = HWPMC_MODE_TS;
	r->count = 1000;
	r->flags = HWPMC_F_CALLCHAIN;
	snprintf(text, sizeof(text), "event=%s", name);
	made_note(log, id, text);
}

/* The same with periods that adapt. */
static void __attribute__((unused)) made_adapting(struct made_log *log, uint32_t id,
						  const char *name)
{
	struct hwpmc_log_allocate *r;
	char text[128];

	r = made_add(log, HWPMC_LOG_PMCALLOCATE, sizeof(*r), 0);
	r->hdr.id = id;
	r->class = HWPMC_CLASS_IAP;
	r->mode = HWPMC_MODE_TS;
	r->count = 4000;
	r->flags = HWPMC_F_CALLCHAIN | HWPMC_F_FREQUENCY;
	snprintf(text, sizeof(text), "event=%s", name);
	made_note(log, id, text);
}

/* The period of the next sample. */
static void __attribute__((unused)) made_period(struct made_log *log, uint32_t id, uint64_t period)
{
	struct hwpmc_log_period *r = made_add(log, HWPMC_LOG_PERIOD, sizeof(*r), 0);

	r->hdr.id = id;
	r->period = period;
}

static inline void made_exec(struct made_log *log, int32_t pid, const char *path)
{
	struct hwpmc_log_exec *r;

	r = made_add(log, HWPMC_LOG_PROCEXEC, sizeof(*r), strlen(path) + 1);
	r->pid = r->tid = pid;
	strcpy(r->comm, "made");
	strcpy(r->path, path);
}

static inline void made_map(struct made_log *log, int32_t pid, uint64_t start,
		     uint64_t end, uint64_t offset, const char *path)
{
	struct hwpmc_log_map *r;

	r = made_add(log, HWPMC_LOG_MAP_IN, sizeof(*r), strlen(path) + 1);
	r->pid = pid;
	r->start = start;
	r->end = end;
	r->offset = offset;
	strcpy(r->path, path);
}

/* Records that follow are of this CPU. */
static void __attribute__((unused)) made_cpu(struct made_log *log, uint32_t cpu)
{
	struct hwpmc_log_hdr *h = made_add(log, HWPMC_LOG_CPU, sizeof(*h), 0);

	h->id = cpu;
}

static void __attribute__((unused)) made_kind(struct made_log *log, uint32_t cpu, uint32_t kind)
{
	struct hwpmc_log_cpu_kind *r;

	r = made_add(log, HWPMC_LOG_CPU_KIND, sizeof(*r), 0);
	r->hdr.id = cpu;
	r->kind = kind;
}

static inline void made_context(struct made_log *log, int32_t pid, int32_t tid)
{
	struct hwpmc_log_context *r;

	r = made_add(log, HWPMC_LOG_CONTEXT, sizeof(*r), 0);
	r->pid = pid;
	r->tid = tid;
}

/* The same stack so many times; of the thread of the last context. */
static inline void made_samples(struct made_log *log, uint32_t id, uint8_t flags,
			 const uint64_t *pc, unsigned int npc, unsigned int times)
{
	struct hwpmc_log_sample *r;

	while (times--) {
		r = made_add(log, HWPMC_LOG_CALLCHAIN, sizeof(*r),
			     npc * sizeof(*pc));
		r->hdr.id = id;
		r->hdr.flags = flags;
		memcpy(r->pc, pc, npc * sizeof(*pc));
	}
}

static inline void made_end(struct made_log *log)
{
	made_add(log, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_closelog), 0);
}

#endif
