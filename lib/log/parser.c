/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parser.c - bytes to records, one at a time, each of them checked before it is
 * shown. Pure but for the memory of the parser itself. A record that lies whole in
 * the fed bytes is not copied; one that is cut by their end is put together in a
 * buffer of the parser's own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drops.h"
#include "libhwpmclog.h"
#include "records.h"

#define EXPORT		__attribute__((visibility("default")))
#define HDR		sizeof(struct hwpmc_log_hdr)
#define UNKNOWN_TASK	{ -1, -1 }

/* Which thread the samples of a CPU are of. */
struct context {
	int32_t pid, tid;
};

struct hwpmc_parser {
	const uint8_t *data;		/* fed and not yet taken */
	size_t len;
	uint64_t offset;		/* of data in the stream */
	uint64_t serial;
	size_t have;			/* bytes of a cut record in .whole */
	bool ended, failed;
	bool between;			/* two records: not before the first, nor
					 * within one, nor behind a bad one */
	int error_code;
	uint64_t error_offset;
	char error[160];
	bool skip_samples;
	int32_t cpu;			/* of the records that follow */
	int32_t shown;			/* the same, for readers: -1 if it is unknown */
	struct context now;		/* that of .cpu */
	uint64_t period;		/* of the next sample, if it is ... */
	uint32_t period_id;		/* ... of this PMC */
	struct context *contexts;	/* by CPU */
	uint32_t ncpu;
	uint64_t whole[HWPMC_LOG_MAX / sizeof(uint64_t)];
};

EXPORT struct hwpmc_parser *hwpmc_parser_new(void)
{
	struct hwpmc_parser *p = calloc(1, sizeof(*p));

	if (p)
		p->now = (struct context)UNKNOWN_TASK;
	return p;
}

EXPORT void hwpmc_parser_free(struct hwpmc_parser *p)
{
	if (p)
		free(p->contexts);
	free(p);
}

EXPORT int hwpmc_parser_feed(struct hwpmc_parser *p, const void *data,
			     size_t len)
{
	if (!p || (len && !data) || p->failed || p->ended) {
		errno = EINVAL;
		return -1;
	}
	if (p->len) {
		errno = EBUSY;
		return -1;
	}
	p->data = data;
	p->len = len;
	return 0;
}

EXPORT void hwpmc_parser_end(struct hwpmc_parser *p)
{
	if (p)
		p->ended = true;
}

EXPORT void hwpmc_parser_skip_samples(struct hwpmc_parser *p, bool skip)
{
	if (p)
		p->skip_samples = skip;
}

EXPORT const char *hwpmc_parser_error(const struct hwpmc_parser *p)
{
	return p ? p->error : "no parser";
}

EXPORT uint64_t hwpmc_parser_error_offset(const struct hwpmc_parser *p)
{
	return p ? p->error_offset : 0;
}

EXPORT int hwpmc_parser_errno(const struct hwpmc_parser *p)
{
	return p ? p->error_code : EINVAL;
}

__attribute__((format(printf, 3, 4)))
static enum hwpmc_parse parser_fail(struct hwpmc_parser *p, uint64_t offset,
				    const char *format, ...)
{
	va_list ap;
	int n;

	p->failed = true;
	p->error_code = EINVAL;
	p->error_offset = offset;
	n = snprintf(p->error, sizeof(p->error), "offset %" PRIu64 ": ", offset);
	va_start(ap, format);
	vsnprintf(p->error + n, sizeof(p->error) - n, format, ap);
	va_end(ap);
	return HWPMC_PARSE_ERROR;
}

/* ---- what a record must be ----------------------------------------------- */

static const char *type_name(uint8_t type)
{
	const struct record_type *rule = record_type(type);

	return rule ? rule->name : "unknown";
}

/* The part that can be judged before the record is there. */
static bool header_is_bad(struct hwpmc_parser *p, const struct hwpmc_log_hdr *h,
			  uint64_t offset)
{
	const struct record_type *rule = record_type(h->type);

	/* Of any other file: its lengths mean nothing. */
	if (!p->serial && h->type != HWPMC_LOG_INITIALIZE)
		parser_fail(p, offset, "not an hwpmc log");
	else if (h->len < HDR)
		parser_fail(p, offset, "%s record of %u bytes: its header needs %zu",
			    type_name(h->type), h->len, HDR);
	else if (h->len % HWPMC_LOG_ALIGN)
		parser_fail(p, offset, "%s record of %u bytes: must be a multiple of %d",
			    type_name(h->type), h->len, HWPMC_LOG_ALIGN);
	else if (h->len > HWPMC_LOG_MAX)
		parser_fail(p, offset, "%s record of %u bytes: the maximum is %d",
			    type_name(h->type), h->len, HWPMC_LOG_MAX);
	else if (rule && h->len < rule->least)
		parser_fail(p, offset, "%s record of %u bytes: the minimum is %u",
			    rule->name, h->len, rule->least);
	return p->failed;
}

static bool initialize_is_bad(struct hwpmc_parser *p, uint64_t offset,
			      const struct hwpmc_log_initialize *r)
{
	if (r->magic == __builtin_bswap64(HWPMC_LOG_MAGIC))
		parser_fail(p, offset, "log of a machine with a different byte order");
	else if (r->magic != HWPMC_LOG_MAGIC)
		parser_fail(p, offset, "not an hwpmc log: the magic number is %#" PRIx64,
			    (uint64_t)r->magic);
	else if (r->schema >> 16 != HWPMC_LOG_SCHEMA >> 16)
		parser_fail(p, offset, "log format %u.%u: this library supports %u.x",
			    r->schema >> 16, r->schema & 0xffff,
			    HWPMC_LOG_SCHEMA >> 16);
	else if (!memchr(r->cpuid, 0, sizeof(r->cpuid)))
		parser_fail(p, offset, "INITIALIZE record with an unterminated CPU name");
	else if (!r->khz)
		parser_fail(p, offset, "INITIALIZE record with a clock of 0 kHz");
	return p->failed;
}

static bool drop_is_bad(struct hwpmc_parser *p, uint64_t offset,
			const struct hwpmc_log_drop *r)
{
	if (r->hdr.len < drops_record_size(r->ncause))
		parser_fail(p, offset, "DROPNOTIFY record of %u bytes: too short for %u causes",
			    r->hdr.len, r->ncause);
	return p->failed;
}

static bool map_is_bad(struct hwpmc_parser *p, uint64_t offset,
		       const struct hwpmc_log_map *r)
{
	if (r->build_id_len > HWPMC_LOG_BUILD_ID)
		parser_fail(p, offset, "MAP_IN record with a build-id of %u bytes",
			    r->build_id_len);
	else if (r->end < r->start)
		parser_fail(p, offset, "MAP_IN record whose end is before its start");
	return p->failed;
}

static bool precise_is_bad(struct hwpmc_parser *p, uint64_t offset,
			   const struct hwpmc_log_precise *r)
{
	unsigned int n = __builtin_popcountll(r->present & HWPMC_PRECISE_WORDS);

	if (r->hdr.len < sizeof(*r) + n * sizeof(r->word[0]))
		parser_fail(p, offset, "PRECISE record of %u bytes: too short for %u words",
			    r->hdr.len, n);
	return p->failed;
}

/* Values that no field of their kind may have. */
static bool values_are_bad(struct hwpmc_parser *p, uint64_t offset,
			   const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_INITIALIZE:
		return initialize_is_bad(p, offset, r->initialize);
	case HWPMC_LOG_DROPNOTIFY:
		return drop_is_bad(p, offset, r->drop);
	case HWPMC_LOG_MAP_IN:
		return map_is_bad(p, offset, r->map);
	case HWPMC_LOG_PRECISE:
		return precise_is_bad(p, offset, r->precise);
	case HWPMC_LOG_CALLCHAIN:
		if (!r->npc)
			parser_fail(p, offset, "CALLCHAIN record without an address");
		break;
	case HWPMC_LOG_CPU:
	case HWPMC_LOG_CPU_KIND:
		if (r->hdr->id > 0xffff)
			parser_fail(p, offset, "%s record for CPU %u",
				    hwpmc_name_of_record(r->hdr->type), r->hdr->id);
		break;
	}
	return p->failed;
}

static bool strings_are_bad(struct hwpmc_parser *p, uint64_t offset,
			    const struct hwpmc_log_hdr *h)
{
	const struct record_type *rule = record_type(h->type);
	const char *at = (const char *)h;

	if (!rule)
		return false;
	if (rule->string && (h->len <= rule->string ||
			     !memchr(at + rule->string, 0, h->len - rule->string)))
		parser_fail(p, offset, "%s record with an unterminated string", rule->name);
	else if (rule->fixed && !memchr(at + rule->fixed, 0, rule->fixed_size))
		parser_fail(p, offset, "%s record with an unterminated name", rule->name);
	return p->failed;
}

/* ---- the stream's state -------------------------------------------------- */

static bool need_contexts(struct hwpmc_parser *p, uint32_t cpu)
{
	uint32_t n = cpu + 1;
	struct context *more;

	if (n <= p->ncpu)
		return true;
	more = realloc(p->contexts, n * sizeof(*more));
	if (!more)
		return false;
	for (uint32_t i = p->ncpu; i < n; i++)
		more[i] = (struct context)UNKNOWN_TASK;
	p->contexts = more;
	p->ncpu = n;
	return true;
}

static bool parser_follow(struct hwpmc_parser *p, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_CPU:
		p->cpu = r->hdr->id;
		p->shown = p->cpu == HWPMC_LOG_CPU_UNKNOWN ? -1 : p->cpu;
		if (!need_contexts(p, p->cpu))
			return false;
		p->now = p->contexts[p->cpu];
		return true;
	case HWPMC_LOG_CONTEXT:
		if (!need_contexts(p, p->cpu))
			return false;
		p->now.pid = r->context->pid;
		p->now.tid = r->context->tid;
		p->contexts[p->cpu] = p->now;
		return true;
	case HWPMC_LOG_PERIOD:
		if (r->hdr->flags & HWPMC_PERIOD_DROPPED)
			return true;
		p->period = r->period_of->period;
		p->period_id = r->hdr->id;
		return true;
	}
	return true;
}

/* Of a sample of this PMC: what the record before it said. */
static inline uint64_t take_period(struct hwpmc_parser *p, uint32_t id)
{
	uint64_t period = p->period;

	if (period) {
		p->period = 0;
		period = id == p->period_id ? period : 0;
	}
	return period;
}

static enum hwpmc_parse parser_show(struct hwpmc_parser *p,
				    const struct hwpmc_log_hdr *h,
				    struct hwpmc_record *r)
{
	uint64_t offset = p->offset;

	r->hdr = h;
	r->offset = offset;
	r->serial = p->serial;
	r->npc = h->type == HWPMC_LOG_CALLCHAIN ? (h->len - HDR) / 8 : 0;
	r->period = h->type == HWPMC_LOG_CALLCHAIN ? take_period(p, h->id) : 0;
	if (strings_are_bad(p, offset, h) || values_are_bad(p, offset, r))
		return HWPMC_PARSE_ERROR;
	if (!parser_follow(p, r)) {
		parser_fail(p, offset, "out of memory for the state of %d CPUs",
			    p->cpu + 1);
		p->error_code = ENOMEM;
		return HWPMC_PARSE_ERROR;
	}
	r->cpu = p->shown;
	r->pid = p->now.pid;
	r->tid = p->now.tid;
	p->serial++;
	p->offset += h->len;
	return HWPMC_PARSE_RECORD;
}

/* ---- cut records --------------------------------------------------------- */

static void parser_gather(struct hwpmc_parser *p, size_t want)
{
	size_t n = want - p->have;

	if (n > p->len)
		n = p->len;
	if (!n)		/* nothing was fed yet, from nowhere */
		return;
	memcpy((uint8_t *)p->whole + p->have, p->data, n);
	p->have += n;
	p->data += n;
	p->len -= n;
}

static enum hwpmc_parse next_cut(struct hwpmc_parser *p,
				 struct hwpmc_record *record)
{
	const struct hwpmc_log_hdr *h = (const void *)p->whole;

	if (p->have < HDR)
		parser_gather(p, HDR);
	if (p->have < HDR)
		return HWPMC_PARSE_MORE;
	if (header_is_bad(p, h, p->offset))
		return HWPMC_PARSE_ERROR;
	parser_gather(p, h->len);
	if (p->have < h->len)
		return HWPMC_PARSE_MORE;
	p->have = 0;
	return parser_show(p, h, record);
}

static enum hwpmc_parse next_whole(struct hwpmc_parser *p,
				   struct hwpmc_record *record)
{
	const struct hwpmc_log_hdr *h = (const void *)p->data;

	if (header_is_bad(p, h, p->offset))
		return HWPMC_PARSE_ERROR;
	if (h->len > p->len)
		return next_cut(p, record);
	p->data += h->len;
	p->len -= h->len;
	return parser_show(p, h, record);
}

/* ---- samples: nearly all that is in most logs ---------------------------- */

static inline bool is_aligned(const void *data)
{
	return !((uintptr_t)data % sizeof(uint64_t));
}

/* The length of a right sample that lies whole in these aligned bytes; else 0. */
static inline size_t sample_at(const uint8_t *data, size_t len)
{
	const struct hwpmc_log_hdr *h = (const void *)data;
	uint32_t more;

	if (len < HDR || h->type != HWPMC_LOG_CALLCHAIN)
		return 0;
	/* Addresses behind the first; with a rest of bytes, or without a first one,
	 * a huge number of them. */
	more = h->len - (HDR + sizeof(uint64_t));
	more = more >> 3 | more << 29;
	if (more > (HWPMC_LOG_MAX - HDR) / sizeof(uint64_t) - 1 || h->len > len)
		return 0;
	return h->len;
}

/* Bytes of the samples that lie in a row. */
static size_t pass_samples(struct hwpmc_parser *p)
{
	const uint8_t *data = p->data;
	size_t len = p->len, n, bytes;
	uint64_t samples = 0;

	if (!is_aligned(data))
		return 0;
	/* Each has a length that is a multiple of 8. */
	while ((n = sample_at(data, len))) {
		data += n;
		len -= n;
		samples++;
	}
	bytes = data - p->data;
	p->serial += samples;
	if (samples)
		p->period = 0;
	p->offset += bytes;
	p->data = data;
	p->len = len;
	return bytes;
}

EXPORT const struct hwpmc_log_sample *
hwpmc_parser_samples(struct hwpmc_parser *p, size_t *bytes)
{
	const uint8_t *data;

	if (!p || !bytes) {
		errno = EINVAL;
		return NULL;
	}
	data = p->data;
	*bytes = p->between && !p->skip_samples ? pass_samples(p) : 0;
	return (const void *)data;
}

static inline void show_sample(struct hwpmc_parser *p, size_t len,
			       struct hwpmc_record *r)
{
	r->hdr = (const void *)p->data;
	r->offset = p->offset;
	r->serial = p->serial;
	r->npc = (len - HDR) / sizeof(uint64_t);
	r->period = take_period(p, r->hdr->id);
	r->cpu = p->shown;
	r->pid = p->now.pid;
	r->tid = p->now.tid;
	p->data += len;
	p->len -= len;
	p->offset += len;
	p->serial++;
}

static enum hwpmc_parse next_any(struct hwpmc_parser *p,
				 struct hwpmc_record *record)
{
	enum hwpmc_parse what;

	/* In place only where it is aligned as its fields are. */
	if (!p->have && p->len >= HDR && is_aligned(p->data))
		what = next_whole(p, record);
	else
		what = next_cut(p, record);
	if (what != HWPMC_PARSE_MORE || !p->ended)
		return what;
	if (p->have)
		return parser_fail(p, p->offset, "the log ends within a record, %zu bytes after its beginning",
				   p->have);
	if (!p->serial)
		return parser_fail(p, 0, "the log is empty");
	return HWPMC_PARSE_END;
}

__attribute__((noinline))
static enum hwpmc_parse next_slowly(struct hwpmc_parser *p,
				    struct hwpmc_record *record)
{
	enum hwpmc_parse what;

	do {
		if (p->between && p->skip_samples)
			pass_samples(p);
		if (p->failed)
			return HWPMC_PARSE_ERROR;
		what = next_any(p, record);
		p->between = !p->have && p->serial && !p->failed;
	} while (what == HWPMC_PARSE_RECORD && p->skip_samples &&
		 record->hdr->type == HWPMC_LOG_CALLCHAIN);
	return what;
}

EXPORT enum hwpmc_parse hwpmc_parser_next(struct hwpmc_parser *p,
					  struct hwpmc_record *record)
{
	size_t len;

	if (__builtin_expect(!p || !record, 0)) {
		errno = EINVAL;
		return HWPMC_PARSE_ERROR;
	}
	if (p->between && !p->skip_samples) {
		len = is_aligned(p->data) ? sample_at(p->data, p->len) : 0;
		if (len) {
			show_sample(p, len, record);
			return HWPMC_PARSE_RECORD;
		}
	}
	return next_slowly(p, record);
}
