/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_header.c - the header of a file of perf record, the table of its attributes, and its
 * features: host, kernel, command line, names of events, build-ids. A pipe has the same
 * features in records.
 */
#include <stdlib.h>

#include "perf.h"
#include "stat.h"

/* Sections and strings are no larger, whatever they say. */
#define SECTION_MOST	(64u << 20)
#define EVENTS_MOST	65536
#define IDS_MOST	(1u << 20)

/* ---- features ------------------------------------------------------------ */

/* What is left of a section. */
struct part {
	const uint8_t *at;
	size_t len;
};

static bool take_u32(struct part *s, uint32_t *x)
{
	if (s->len < sizeof(*x))
		return false;
	*x = perf_u32(s->at);
	s->at += sizeof(*x);
	s->len -= sizeof(*x);
	return true;
}

/* The bytes of a string with its padding; it may lack its end. */
static bool take_string(struct part *s, struct part *text)
{
	uint32_t len;

	if (!take_u32(s, &len) || len > s->len)
		return false;
	*text = (struct part){ s->at, strnlen((const char *)s->at, len) };
	s->at += len;
	s->len -= len;
	return true;
}

static void put_string(struct perfdata *p, const char *key, struct part s)
{
	char value[1024];
	struct part text;

	if (!take_string(&s, &text))
		return;
	snprintf(value, sizeof(value), "%.*s", (int)text.len, (const char *)text.at);
	if (*value)
		perf_put_note(p, 0, key, value);
}

/* Words with a blank between them. */
static void put_command(struct perfdata *p, struct part s)
{
	char value[4096];
	struct part word;
	size_t len = 0;
	uint32_t n;

	*value = 0;
	if (!take_u32(&s, &n))
		return;
	while (n-- && len < sizeof(value) && take_string(&s, &word))
		len += snprintf(value + len, sizeof(value) - len, "%s%.*s", len ? " " : "",
				(int)word.len, (const char *)word.at);
	if (*value)
		perf_put_note(p, 0, "command", value);
}

static void read_ids(struct perfdata *p, struct part *s, uint32_t event, uint32_t n)
{
	for (; n && s->len >= sizeof(uint64_t); n--) {
		perf_add_id(p, perf_u64(s->at), event);
		s->at += sizeof(uint64_t);
		s->len -= sizeof(uint64_t);
	}
}

/* The names of events, in the order of their attributes. */
static void read_events(struct perfdata *p, struct part s)
{
	uint32_t n, size, nid;
	struct part name;

	if (!take_u32(&s, &n) || !take_u32(&s, &size))
		return;
	for (uint32_t i = 0; i < n && i < p->nevent; i++) {
		if (size > s.len)
			return;
		s.at += size;
		s.len -= size;
		if (!take_u32(&s, &nid) || !take_string(&s, &name))
			return;
		perf_name_event(p, i, (const char *)name.at, name.len);
		read_ids(p, &s, i, nid);
	}
}

static void read_build_ids(struct perfdata *p, struct part s)
{
	struct perf_hdr h;

	while (s.len >= sizeof(h)) {
		h = perf_hdr_of(s.at);
		if (h.size < sizeof(h) || h.size > s.len)
			return;
		perf_add_build_id(p, s.at, h.size);
		s.at += h.size;
		s.len -= h.size;
	}
}

/* A version, the number of a clock, and both clocks at one time. */
static void read_clocks(struct perfdata *p, struct part s)
{
	if (s.len < 24)
		return;
	p->wall = perf_u64(s.at + 8);
	p->wall_at = perf_u64(s.at + 16);
}

static void read_cpuid(struct perfdata *p, struct part s)
{
	struct part text;

	if (take_string(&s, &text))
		snprintf(p->cpuid, sizeof(p->cpuid), "%.*s", (int)text.len,
			 (const char *)text.at);
}

/* Another machine's: its programs, and the registers of its samples, are others. */
static void check_machine(struct perfdata *p, struct part s)
{
	struct part text;

	if (!take_string(&s, &text) || !text.len ||
	    (text.len == 6 && !memcmp(text.at, "x86_64", 6)))
		return;
	perf_fail(p, "perf record made it on a machine of type %.*s: only x86_64 is supported",
		  text.len > 32 ? 32 : (int)text.len, (const char *)text.at);
}

void perf_feature(struct perfdata *p, uint64_t feature, const uint8_t *data, size_t len)
{
	struct part s = { data, len };
	uint32_t available;

	switch (feature) {
	case PERF_FEATURE_BUILD_ID:
		read_build_ids(p, s);
		break;
	case PERF_FEATURE_HOSTNAME:
		put_string(p, "hostname", s);
		break;
	case PERF_FEATURE_OSRELEASE:
		put_string(p, "release", s);
		break;
	case PERF_FEATURE_VERSION:
		put_string(p, "perf", s);
		break;
	case PERF_FEATURE_ARCH:
		check_machine(p, s);
		break;
	case PERF_FEATURE_NRCPUS:
		if (take_u32(&s, &available))
			take_u32(&s, &p->ncpu);
		break;
	case PERF_FEATURE_CPUID:
		read_cpuid(p, s);
		break;
	case PERF_FEATURE_CMDLINE:
		put_command(p, s);
		break;
	case PERF_FEATURE_EVENT_DESC:
		read_events(p, s);
		break;
	case PERF_FEATURE_CLOCK_DATA:
		read_clocks(p, s);
		break;
	}
}

/* ---- the header ---------------------------------------------------------- */

/* A part of the file in memory, to be freed. */
static uint8_t *read_section(struct perfdata *p, struct perf_section s)
{
	uint8_t *bytes;

	if (s.size > SECTION_MOST || !perf_within(p, s.offset, s.size)) {
		perf_fail(p, "a section of %llu bytes at offset %llu is not within the file",
			  (unsigned long long)s.size, (unsigned long long)s.offset);
		return NULL;
	}
	bytes = stat_alloc(s.size + 1, 1);
	if (bytes && perf_read_at(p, s.offset, bytes, s.size) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

static int add_ids(struct perfdata *p, struct perf_section s, uint32_t event)
{
	struct part ids = { .len = s.size };
	uint8_t *bytes;

	if (!s.size)
		return 0;
	if (s.size / sizeof(uint64_t) > IDS_MOST)
		return perf_fail(p, "an event has more than %u identifiers", IDS_MOST);
	/* Events of a file that was made to mislead could share a section. */
	p->ids_read += s.size;
	if (p->source.size && p->ids_read > p->source.size)
		return perf_fail(p, "its events have more identifiers than the file has bytes for");
	bytes = read_section(p, s);
	if (!bytes)
		return -1;
	ids.at = bytes;
	read_ids(p, &ids, event, s.size / sizeof(uint64_t));
	free(bytes);
	return 0;
}

/* Each attribute of the table, and behind it where its identifiers are. */
static int read_attrs(struct perfdata *p, const struct perf_file_header *h)
{
	uint64_t each = h->attr_size, n = h->attrs.size / each;
	struct perf_section ids;
	uint8_t *table;
	int rc = 0;

	table = read_section(p, h->attrs);
	for (uint64_t i = 0; table && !rc && i < n; i++) {
		const uint8_t *attr = table + i * each;
		uint32_t size = perf_u32(attr + PERF_ATTR_SIZE);

		if (!size)
			size = PERF_ATTR_LEAST;
		if (size > each - sizeof(ids))
			size = each - sizeof(ids);
		rc = perf_add_event(p, attr, size);
		memcpy(&ids, attr + size, sizeof(ids));
		if (!rc)
			rc = add_ids(p, ids, i);
	}
	free(table);
	return table ? rc : -1;
}

static bool has_feature(const struct perf_file_header *h, uint32_t bit)
{
	return h->features[bit / 64] >> bit % 64 & 1;
}

/* Those of perf_feature(). Others are not even read: there may be many, of large sections. */
static bool is_taken(uint32_t bit)
{
	static const uint32_t taken[] = {
		PERF_FEATURE_BUILD_ID, PERF_FEATURE_HOSTNAME, PERF_FEATURE_OSRELEASE,
		PERF_FEATURE_VERSION, PERF_FEATURE_ARCH, PERF_FEATURE_NRCPUS, PERF_FEATURE_CPUID,
		PERF_FEATURE_CMDLINE, PERF_FEATURE_EVENT_DESC, PERF_FEATURE_CLOCK_DATA,
	};

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (taken[i] == bit)
			return true;
	return false;
}

static int read_feature(struct perfdata *p, uint32_t bit, struct perf_section s)
{
	uint8_t *bytes;

	if (!is_taken(bit) || s.size > SECTION_MOST)
		return 0;
	/* Features of a file that was made to mislead could share a section. */
	p->features_read += s.size;
	if (p->features_read > p->source.size)
		return perf_fail(p, "its features have more bytes than the file");
	bytes = read_section(p, s);
	if (!bytes)
		return -1;
	perf_feature(p, bit, bytes, s.size);
	free(bytes);
	return p->failed ? -1 : 0;
}

/* Features lie behind the data: the table of their places, in the order of their bits. */
static int read_features(struct perfdata *p, const struct perf_file_header *h)
{
	uint64_t at = h->data.offset + h->data.size;
	struct perf_section s;

	for (uint32_t bit = 0; bit < 256; bit++) {
		if (!has_feature(h, bit))
			continue;
		if (!perf_within(p, at, sizeof(s)) || perf_read_at(p, at, &s, sizeof(s)) < 0)
			return p->failed ? -1 : perf_fail(p, "it ends within its header");
		at += sizeof(s);
		if (read_feature(p, bit, s) < 0)
			return -1;
	}
	return 0;
}

static int check_header(struct perfdata *p, const struct perf_file_header *h)
{
	uint64_t each = h->attr_size, n = each ? h->attrs.size / each : 0;

	if (has_feature(h, PERF_FEATURE_DIR_FORMAT))
		return perf_fail(p, "perf record --threads made it, whose data is in other files of its directory: not supported");
	if (has_feature(h, PERF_FEATURE_STAT))
		return perf_fail(p, "perf stat record made it: it has counts and no samples");
	if (each < PERF_ATTR_LEAST + sizeof(struct perf_section) || each > PERF_ATTR_MOST ||
	    n > EVENTS_MOST)
		return perf_fail(p, "its table of events is damaged: %llu attributes of %llu bytes",
				 (unsigned long long)n, (unsigned long long)each);
	return n ? 0 : perf_fail(p, "it has no event");
}

int perf_check_header(struct perfdata *p, const void *head, size_t len)
{
	struct perf_file_header h;

	if (len < sizeof(h))
		return perf_fail(p, "it ends within its header");
	memcpy(&h, head, sizeof(h));
	return check_header(p, &h);
}

/* The data, and what follows if the recording was ended properly. */
static int read_file_header(struct perfdata *p)
{
	struct perf_file_header h;

	if (!perf_within(p, 0, sizeof(h)) || perf_read_at(p, 0, &h, sizeof(h)) < 0)
		return p->failed ? -1 : perf_fail(p, "it ends within its header");
	if (check_header(p, &h) < 0 || read_attrs(p, &h) < 0)
		return -1;
	p->at = h.data.offset;
	if (!h.data.size || !perf_within(p, h.data.offset, h.data.size)) {
		p->cut = true;
		p->end = p->source.size;
		return p->at <= p->end ? 0 : perf_fail(p, "its data begins after its end");
	}
	p->end = h.data.offset + h.data.size;
	return read_features(p, &h);
}

static int read_pipe_header(struct perfdata *p, const uint8_t *at)
{
	uint64_t size = perf_u64(at + sizeof(uint64_t));

	if (size != PERF_HEADER_PIPE)
		return perf_fail(p, "its header has %llu bytes: 16 in a pipe, 104 in a file",
				 (unsigned long long)size);
	p->pipe = true;
	perf_drop(p, size);
	return 0;
}

int perf_header(struct perfdata *p)
{
	const uint8_t *at;
	uint64_t magic;
	int rc = perf_peek(p, PERF_HEADER_PIPE, &at);

	if (rc < 0)
		return -1;
	if (!rc)
		return perf_fail(p, "it ends within its header");
	magic = perf_u64(at);
	if (magic == __builtin_bswap64(PERF_MAGIC))
		return perf_fail(p, "perf record made it on a machine with another byte order: not supported");
	if (magic != PERF_MAGIC)
		return perf_fail(p, "perf record of a Linux before 2.6.36 made it: not supported");
	perf_put_begin(p);
	if (!perf_is_file(at, PERF_HEADER_PIPE))
		return read_pipe_header(p, at);
	p->raw.at = p->raw.len = 0;
	return read_file_header(p);
}
