/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_out.c - records of the log that a file of perf record becomes. */
#include <stdlib.h>

#include <hwpmc.h>

#include "perf.h"
#include "stat.h"

static bool out_room(struct perfdata *p, size_t len)
{
	struct perf_bytes *out = &p->out;
	size_t room = out->room ? out->room : 64 * 1024;
	uint8_t *buf;

	if (out->len + len <= out->room)
		return true;
	while (room < out->len + len)
		room *= 2;
	buf = realloc(out->buf, room);
	stat_nomem |= !buf;
	if (!buf)
		return false;
	out->buf = buf;
	out->room = room;
	return true;
}

void *perf_put(struct perfdata *p, uint8_t type, size_t len, uint64_t time)
{
	struct hwpmc_log_hdr *h;

	len = (len + HWPMC_LOG_ALIGN - 1) & ~(size_t)(HWPMC_LOG_ALIGN - 1);
	if (len > HWPMC_LOG_MAX || !out_room(p, len))
		return NULL;
	h = memset(p->out.buf + p->out.len, 0, len);
	h->len = len;
	h->type = type;
	h->time = time;
	p->out.len += len;
	return h;
}

void perf_put_note(struct perfdata *p, uint32_t id, const char *key, const char *value)
{
	size_t len = strlen(key) + strlen(value) + 2;
	struct hwpmc_log_note *note;

	if (sizeof(*note) + len > HWPMC_LOG_MAX)
		len = HWPMC_LOG_MAX - sizeof(*note);
	note = perf_put(p, HWPMC_LOG_NOTE, sizeof(*note) + len, p->last);
	if (!note)
		return;
	note->hdr.id = id;
	snprintf(note->text, len, "%s=%s", key, value);
}

void perf_put_context(struct perfdata *p, int32_t cpu, int32_t pid, int32_t tid, uint64_t time)
{
	struct hwpmc_log_context *context;
	struct hwpmc_log_hdr *h;

	if (cpu < 0 || cpu > HWPMC_LOG_CPU_UNKNOWN)
		cpu = HWPMC_LOG_CPU_UNKNOWN;
	if (p->has_context && p->cpu == cpu && p->pid == pid && p->tid == tid)
		return;
	if (p->cpu != cpu) {
		h = perf_put(p, HWPMC_LOG_CPU, sizeof(*h), time);
		if (h)
			h->id = cpu;
	}
	context = perf_put(p, HWPMC_LOG_CONTEXT, sizeof(*context), time);
	if (context) {
		context->pid = pid;
		context->tid = tid;
	}
	p->cpu = cpu;
	p->pid = pid;
	p->tid = tid;
	p->has_context = true;
}

void perf_put_begin(struct perfdata *p)
{
	struct hwpmc_log_initialize *r;

	r = perf_put(p, HWPMC_LOG_INITIALIZE, sizeof(*r), 0);
	if (!r)
		return;
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->api = HWPMC_API_VERSION;
	r->clock = HWPMC_CLOCK_MONOTONIC;
	r->khz = 1000000;
	r->flags = HWPMC_LOG_INIT_PRIVILEGED;
}

/* "GenuineIntel,6,85,4" is GenuineIntel-6-55-4 in logs. */
static void put_cpuid(char *to, size_t size, const char *from)
{
	unsigned int family, model, stepping;
	char vendor[16];

	if (sscanf(from, "%15[^,],%u,%u,%u", vendor, &family, &model, &stepping) == 4)
		snprintf(to, size, "%s-%u-%02X-%X", vendor, family, model, stepping);
	else
		snprintf(to, size, "%s", from);
}

void perf_settle_begin(struct perfdata *p)
{
	struct hwpmc_log_initialize *r = (void *)p->out.buf;

	p->begun = true;
	if (p->out.len < sizeof(*r))
		return;
	r->hdr.time = r->tick = r->monotonic = p->first;
	r->ncpu = p->ncpu;
	put_cpuid(r->cpuid, sizeof(r->cpuid), p->cpuid);
	if (p->wall)
		r->realtime = p->wall + (p->first - p->wall_at);
}
