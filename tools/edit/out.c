/* SPDX-License-Identifier: BSD-2-Clause */
/* out.c - writes the records of logs into another one; see edit.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/logopts.h"
#include "common/msg.h"
#include "edit.h"

#define BUFFER	(256 * 1024)

int edit_open(struct edit_out *out, const char *path, int level)
{
	char err[600];

	*out = (struct edit_out){ .cpu = -1 };
	if (sink_open(&out->sink, path, level, err, sizeof(err)) < 0) {
		msg("%s", err);
		return -1;
	}
	out->buffer = must_calloc(BUFFER, 1);
	return 0;
}

static void flush_out(struct edit_out *out)
{
	sink_write(&out->sink, out->buffer, out->n);
	out->n = 0;
}

static char *room_for(struct edit_out *out, size_t len)
{
	if (out->n + len > BUFFER)
		flush_out(out);
	out->n += len;
	return out->buffer + out->n - len;
}

/* INITIALIZE stands before the first of them. */
static void put_cpu(struct edit_out *out, int32_t cpu)
{
	struct hwpmc_log_hdr mark;

	if (cpu < 0)
		cpu = HWPMC_LOG_CPU_UNKNOWN;
	if (cpu == out->cpu)
		return;
	out->cpu = cpu;
	hwpmc_rings_mark(cpu, &mark);
	memcpy(room_for(out, sizeof(mark)), &mark, sizeof(mark));
}

/* How many samples a filter took out: their sum is written at the end. */
static bool take_filtered(struct edit_out *out, const struct hwpmc_record *r)
{
	uint64_t n;

	if (r->hdr->type != HWPMC_LOG_NOTE ||
	    sscanf(r->note->text, "filtered=%" SCNu64, &n) != 1)
		return false;
	out->filtered += n;
	return true;
}

void edit_put(struct edit_out *out, const struct hwpmc_record *r, uint32_t id)
{
	uint8_t type = r->hdr->type;
	struct hwpmc_log_hdr *h;

	if (type == HWPMC_LOG_CPU || type == HWPMC_LOG_PADDING ||
	    type == HWPMC_LOG_CLOSELOG || take_filtered(out, r))
		return;
	if (type != HWPMC_LOG_INITIALIZE)
		put_cpu(out, r->cpu);
	h = (void *)room_for(out, r->hdr->len);
	memcpy(h, r->hdr, r->hdr->len);
	h->id = id;
	out->samples += type == HWPMC_LOG_CALLCHAIN;
	if (h->time > out->last)
		out->last = h->time;
}

static void put_end(struct edit_out *out)
{
	struct hwpmc_log_hdr end = {
		.len = sizeof(end), .type = HWPMC_LOG_CLOSELOG, .time = out->last,
	};
	char n[32];

	flush_out(out);
	snprintf(n, sizeof(n), "%" PRIu64, out->filtered);
	if (out->filtered)
		sink_note(&out->sink, 0, "filtered", n);
	if (!out->cut)
		sink_write(&out->sink, &end, sizeof(end));
}

int edit_close(struct edit_out *out, bool good)
{
	int err = 0;

	if (good) {
		put_end(out);
		err = sink_close(&out->sink) < 0 ? errno : 0;
	} else {
		sink_discard(&out->sink);
	}
	free(out->buffer);
	if (!err)
		return 0;
	msg("cannot write '%s': %s; the log is incomplete", out->sink.name,
	    strerror(err));
	return -1;
}

struct hwpmc_input *edit_input(const char *path)
{
	struct hwpmc_input *in = logopts_open(path);

	if (!in)
		return NULL;
	if (hwpmc_input_rewind(in) == 0 || hwpmc_input_keep(in) == 0)
		return in;
	msg("%s", hwpmc_input_error(in));
	hwpmc_input_close(in);
	return NULL;
}
