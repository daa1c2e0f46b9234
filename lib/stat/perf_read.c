/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_read.c - bytes of a file of perf record to its records. perf record -z writes
 * compressed records: together they are one stream of zstd, whose bytes are records again,
 * which may begin in one compressed record and end in the next.
 */
#include <errno.h>
#include <stdlib.h>

#include "perf.h"
#include "stat.h"

#define ROOM	(256 * 1024)		/* more than the largest record */

static bool bytes_init(struct perf_bytes *b)
{
	if (!b->buf)
		b->buf = malloc(ROOM);
	b->room = b->buf ? ROOM : 0;
	stat_nomem |= !b->buf;
	return b->buf;
}

static size_t bytes_left(const struct perf_bytes *b)
{
	return b->len - b->at;
}

/* The rest moves to the front. */
static void bytes_shift(struct perf_bytes *b)
{
	memmove(b->buf, b->buf + b->at, bytes_left(b));
	b->len -= b->at;
	b->at = 0;
}

bool perf_within(const struct perfdata *p, uint64_t at, uint64_t len)
{
	return at <= p->source.size && len <= p->source.size - at;
}

int perf_read_at(struct perfdata *p, uint64_t at, void *buf, size_t len)
{
	for (size_t done = 0; done < len; ) {
		ssize_t n = p->source.read(p->source.arg, at + done, (char *)buf + done,
					   len - done);

		if (n < 0)
			return -1;
		if (!n)
			return perf_fail(p, "it ends within its header");
		done += n;
	}
	return 0;
}

/* 1: `need` bytes are here; 0: there are no more; -1. */
static int raw_fill(struct perfdata *p, size_t need)
{
	struct perf_bytes *b = &p->raw;
	ssize_t n;

	if (bytes_left(b) >= need)
		return 1;
	if (!bytes_init(b))
		return -1;
	bytes_shift(b);
	while (b->len < need) {
		size_t room = b->room - b->len;

		if (room > p->end - p->at)
			room = p->end - p->at;
		n = room ? p->source.read(p->source.arg, p->at, b->buf + b->len, room) : 0;
		if (n < 0)
			return -1;
		if (!n)
			return 0;
		b->len += n;
		p->at += n;
	}
	return 1;
}

int perf_peek(struct perfdata *p, size_t len, const uint8_t **at)
{
	int rc = raw_fill(p, len);

	*at = p->raw.buf + p->raw.at;
	return rc;
}

void perf_drop(struct perfdata *p, size_t len)
{
	p->raw.at += len;
}

/* Bytes that follow a record and are not part of the next. */
static int raw_skip(struct perfdata *p)
{
	while (p->skip_bytes) {
		int rc = raw_fill(p, 1);
		size_t n = bytes_left(&p->raw);

		if (rc <= 0) {
			p->cut |= !rc;
			return rc;
		}
		if (n > p->skip_bytes)
			n = p->skip_bytes;
		p->raw.at += n;
		p->skip_bytes -= n;
	}
	return 1;
}

/* The record at the front of the bytes. 1; 0: it is not whole; -1. */
static int look_at(struct perfdata *p, struct perf_bytes *b, struct perf_hdr *h)
{
	if (bytes_left(b) < sizeof(*h))
		return 0;
	memcpy(h, b->buf + b->at, sizeof(*h));
	if (h->size < sizeof(*h))
		return perf_damaged(p, "record of type %u with %u bytes: its header needs %zu",
				    h->type, h->size, sizeof(*h));
	return bytes_left(b) >= h->size;
}

static const struct perf_hdr *take_record(struct perf_bytes *b, uint16_t size)
{
	b->at += size;
	return (const void *)(b->buf + b->at - size);
}

static int raw_next(struct perfdata *p, const struct perf_hdr **record)
{
	struct perf_hdr h = { .size = 0 };
	int rc = raw_skip(p);

	if (rc > 0)
		rc = raw_fill(p, sizeof(h));
	if (rc > 0) {
		p->record_at = p->at - bytes_left(&p->raw);
		rc = look_at(p, &p->raw, &h);
		if (rc >= 0)
			rc = raw_fill(p, h.size);
	}
	if (rc == 0)
		p->cut |= bytes_left(&p->raw) > 0;
	if (rc > 0)
		*record = take_record(&p->raw, h.size);
	return rc;
}

/* ---- compressed ---------------------------------------------------------- */

static int begin_packed(struct perfdata *p, const struct perf_hdr *h)
{
	const uint8_t *at = (const uint8_t *)h + sizeof(*h);
	struct perf_hdr head;
	uint64_t len;

	memcpy(&head, h, sizeof(head));
	len = head.size - sizeof(*h);
	if (head.type == PERF_COMPRESSED2) {
		if (len < sizeof(len) || perf_u64(at) > len - sizeof(len))
			return perf_damaged(p, "COMPRESSED2 record of %u bytes: too short for its data",
					    head.size);
		len = perf_u64(at);
		at += sizeof(len);
	}
	if (!p->zstd)
		p->zstd = ZSTD_createDStream();
	if (!p->zstd || !bytes_init(&p->plain)) {
		stat_nomem = true;
		return -1;
	}
	p->packed = (ZSTD_inBuffer){ at, len, 0 };
	p->more_plain = len;
	return 1;
}

static int unpack(struct perfdata *p)
{
	struct perf_bytes *b = &p->plain;
	ZSTD_outBuffer to;
	size_t rc;

	bytes_shift(b);
	to = (ZSTD_outBuffer){ b->buf, b->room, b->len };
	rc = ZSTD_decompressStream(p->zstd, &to, &p->packed);
	if (ZSTD_isError(rc))
		return perf_damaged(p, "the compressed data is damaged: %s",
				    ZSTD_getErrorName(rc));
	b->len = to.pos;
	p->more_plain = p->packed.pos < p->packed.size || to.pos == b->room;
	return 1;
}

int perf_next(struct perfdata *p, const struct perf_hdr **record)
{
	struct perf_hdr h;
	int rc;

	for (;;) {
		rc = p->plain.buf ? look_at(p, &p->plain, &h) : 0;
		if (rc > 0)
			*record = take_record(&p->plain, h.size);
		if (rc)
			return rc;
		if (p->more_plain) {
			rc = unpack(p);
			if (rc < 0)
				return -1;
			continue;
		}
		rc = raw_next(p, record);
		if (rc <= 0)
			break;
		memcpy(&h, *record, sizeof(h));
		if (h.type != PERF_COMPRESSED && h.type != PERF_COMPRESSED2)
			return 1;
		rc = begin_packed(p, *record);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		p->cut |= bytes_left(&p->plain) > 0;
	return rc;
}

void perf_read_end(struct perfdata *p)
{
	ZSTD_freeDStream(p->zstd);
	free(p->raw.buf);
	free(p->plain.buf);
}
