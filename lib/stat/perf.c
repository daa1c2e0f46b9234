/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.c - a file of perf record as a log: its begin, its records in their order, its end.
 * The first record of the log has the time of the first sample, which comes later in the file:
 * the log is held until then.
 */
#include <errno.h>
#include <stdlib.h>

#include "perf.h"
#include "stat.h"

#define PIECE		(64 * 1024)
#define HOLD_MOST	(16u << 20)	/* bytes that are held for the first time */

bool perf_is(const void *head, size_t len)
{
	uint64_t magic;

	if (len < sizeof(magic))
		return false;
	magic = perf_u64(head);
	return magic == PERF_MAGIC || magic == PERF_MAGIC_OLD ||
	       magic == __builtin_bswap64(PERF_MAGIC);
}

bool perf_is_file(const void *head, size_t len)
{
	return perf_is(head, len) && len >= PERF_HEADER_PIPE &&
	       perf_u64((const uint8_t *)head + 8) == PERF_HEADER_FILE;
}

struct perfdata *perf_new(const struct perf_source *source)
{
	struct perfdata *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->source = *source;
	p->end = UINT64_MAX;
	p->cpu = p->pid = p->tid = -1;
	return p;
}

void perf_free(struct perfdata *p)
{
	if (!p)
		return;
	perf_read_end(p);
	perf_events_end(p);
	perf_maps_end(p);
	free(p->out.buf);
	free(p);
}

void perf_skip_samples(struct perfdata *p, bool skip)
{
	p->skip = skip;
}

const char *perf_error(const struct perfdata *p)
{
	return p->error;
}

bool perf_cut(const struct perfdata *p)
{
	return p->cut;
}

/* ---- records ------------------------------------------------------------- */

static int kernel_record(struct perfdata *p, const struct perf_hdr *record, uint32_t type)
{
	if (p->pipe && !p->nevent)
		return perf_damaged(p, "record of type %u before any event", type);
	perf_announce(p);
	switch (type) {
	case PERF_SAMPLE:
		return perf_sample(p, record);
	case PERF_MMAP:
		return perf_mmap(p, record);
	case PERF_MMAP2:
		return perf_mmap2(p, record);
	case PERF_COMM:
		return perf_comm(p, record);
	case PERF_FORK:
		return perf_fork(p, record);
	case PERF_EXIT:
		return perf_exit(p, record);
	case PERF_LOST:
		return perf_lost(p, record);
	case PERF_LOST_SAMPLES:
		return perf_lost_samples(p, record);
	case PERF_THROTTLE:
	case PERF_UNTHROTTLE:
		return perf_throttle(p, record);
	case PERF_AUX:
		perf_leave(p, PERF_LEFT_AUX);
		return 0;
	default:
		return 0;
	}
}

/* A number of bytes that follow the record, and are not part of it. */
static int skip_behind(struct perfdata *p, const struct perf_hdr *record, size_t size)
{
	const uint8_t *at = (const uint8_t *)record + sizeof(*record);

	if (perf_hdr_of(record).size < sizeof(*record) + size)
		return perf_damaged(p, "record of type %u without the size of its data",
				    perf_hdr_of(record).type);
	p->skip_bytes = size == sizeof(uint32_t) ? perf_u32(at) : perf_u64(at);
	/* Trace data of a pipe is padded; AUX data has its size. */
	if (size == sizeof(uint32_t))
		p->skip_bytes = (p->skip_bytes + 7) & ~7ull;
	return 0;
}

static int own_record(struct perfdata *p, const struct perf_hdr *record, const struct perf_hdr *h)
{
	const uint8_t *at = (const uint8_t *)record;

	switch (h->type) {
	case PERF_HEADER_ATTR:
		return perf_header_attr(p, record);
	case PERF_TRACING_DATA:
		return skip_behind(p, record, sizeof(uint32_t));
	case PERF_AUXTRACE:
		perf_leave(p, PERF_LEFT_AUX);
		return skip_behind(p, record, sizeof(uint64_t));
	case PERF_BUILD_ID:
		perf_add_build_id(p, at, h->size);
		return 0;
	case PERF_EVENT_UPDATE:
		perf_event_update(p, record);
		return 0;
	case PERF_FEATURE:
		if (h->size >= sizeof(*h) + 8)
			perf_feature(p, perf_u64(at + sizeof(*h)), at + sizeof(*h) + 8,
				     h->size - sizeof(*h) - 8);
		return p->failed ? -1 : 0;
	case PERF_STAT:
		return perf_fail(p, "perf stat record made it: it has counts and no samples");
	default:
		return 0;
	}
}

static int put_end(struct perfdata *p)
{
	p->ended = true;
	if (!p->begun)
		perf_settle_begin(p);
	perf_flush_execs(p, -1, NULL);
	perf_announce(p);
	perf_put_left(p);
	if (!p->cut)
		perf_put(p, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_closelog), p->last);
	return 0;
}

static int one_record(struct perfdata *p)
{
	const struct perf_hdr *record;
	int rc = perf_next(p, &record);
	struct perf_hdr h;

	if (rc <= 0)
		return rc < 0 ? -1 : put_end(p);
	h = perf_hdr_of(record);
	rc = h.type < PERF_OWN ? kernel_record(p, record, h.type) : own_record(p, record, &h);
	if (rc == 0 && !p->begun && (p->first || p->out.len > HOLD_MOST))
		perf_settle_begin(p);
	return rc;
}

static int fill_piece(struct perfdata *p)
{
	if (!p->header_read && perf_header(p) < 0)
		return -1;
	p->header_read = true;
	while (!p->ended && (!p->begun || p->out.len < PIECE))
		if (one_record(p) < 0)
			return -1;
	return 0;
}

ssize_t perf_more(struct perfdata *p, const uint8_t **at)
{
	bool nomem = stat_nomem;
	int rc;

	if (p->failed) {
		errno = p->failed;
		return -1;
	}
	if (p->begun)
		p->out.len = 0;
	stat_nomem = false;
	rc = fill_piece(p);
	if (stat_nomem) {
		rc = perf_fail(p, "no memory to read it");
		p->failed = errno = ENOMEM;
		p->out.len = 0;
	}
	stat_nomem |= nomem;
	/* The records before a failure come first. */
	if (rc < 0 && !(p->begun && p->out.len))
		return -1;
	*at = p->out.buf;
	return p->out.len;
}
