/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_parser.c - the log parser on logs that are right, cut, damaged and random. Each
 * log that is parsed lies in memory of exactly its size, so that ASan sees a read
 * behind its end; a parser that does not come to an end is ended by the time limit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmclog.h>

#include "drops.h"
#include "harness.h"

#define LOG_MAX	8192

struct log {
	uint8_t bytes[LOG_MAX];
	size_t len;
	unsigned int n;
};

static void *add(struct log *log, uint8_t type, size_t len)
{
	struct hwpmc_log_hdr *h = (void *)(log->bytes + log->len);

	len = (len + 7) & ~7ul;
	ck_assert_uint_le(log->len + len, LOG_MAX);
	h->len = len;
	h->type = type;
	h->id = 7;
	h->time = 1000 + log->n++;
	log->len += len;
	return h;
}

static void add_initialize(struct log *log)
{
	struct hwpmc_log_initialize *r;

	r = add(log, HWPMC_LOG_INITIALIZE, sizeof(*r));
	r->magic = HWPMC_LOG_MAGIC;
	r->schema = HWPMC_LOG_SCHEMA;
	r->ncpu = 2;
	r->clock = HWPMC_CLOCK_TSC;
	r->khz = 2000000;
	strcpy(r->cpuid, "GenuineIntel-6-55-4");
}

/* One of each type. */
static void make_log(struct log *log)
{
	static const uint8_t tasks[] = {
		HWPMC_LOG_SYSEXIT, HWPMC_LOG_THR_CREATE, HWPMC_LOG_THR_EXIT,
		HWPMC_LOG_PROC_CREATE, HWPMC_LOG_COMM_NAME,
	};
	struct hwpmc_log_context *context;
	struct hwpmc_log_allocate *alloc;
	struct hwpmc_log_attach *attach;
	struct hwpmc_log_sample *sample;
	struct hwpmc_log_exec *exec;
	struct hwpmc_log_drop *drop;
	struct hwpmc_log_note *note;
	struct hwpmc_log_map *map;

	memset(log, 0, sizeof(*log));
	add_initialize(log);
	alloc = add(log, HWPMC_LOG_PMCALLOCATE, sizeof(*alloc));
	alloc->mode = HWPMC_MODE_TS;
	alloc = add(log, HWPMC_LOG_PMCALLOCATEDYN, sizeof(*alloc));
	strcpy(alloc->name, "CLOCK.PROF");
	attach = add(log, HWPMC_LOG_PMCATTACH, sizeof(*attach) + 9);
	strcpy(attach->path, "/bin/loop");
	add(log, HWPMC_LOG_PMCDETACH, sizeof(*attach));
	add(log, HWPMC_LOG_PROCCSW, sizeof(struct hwpmc_log_value));
	add(log, HWPMC_LOG_PROCEXIT, sizeof(struct hwpmc_log_value));
	exec = add(log, HWPMC_LOG_PROCEXEC, sizeof(*exec) + 10);
	strcpy(exec->path, "/bin/true");
	add(log, HWPMC_LOG_PROCFORK, sizeof(struct hwpmc_log_fork));
	for (unsigned int i = 0; i < sizeof(tasks); i++)
		add(log, tasks[i], sizeof(struct hwpmc_log_task));
	add(log, HWPMC_LOG_USERDATA, sizeof(struct hwpmc_log_hdr));
	map = add(log, HWPMC_LOG_MAP_IN, sizeof(*map) + 12);
	map->start = 0x400000;
	map->end = 0x500000;
	strcpy(map->path, "/bin/program");
	add(log, HWPMC_LOG_MAP_OUT, sizeof(struct hwpmc_log_unmap));
	add(log, HWPMC_LOG_CPU, sizeof(struct hwpmc_log_hdr));
	context = add(log, HWPMC_LOG_CONTEXT, sizeof(*context));
	context->pid = 42;
	context->tid = 43;
	sample = add(log, HWPMC_LOG_CALLCHAIN, sizeof(*sample) + 3 * 8);
	sample->pc[0] = 0x401000;
	drop = add(log, HWPMC_LOG_DROPNOTIFY, sizeof(*drop));
	drop->ncause = HWPMC_DROP_FIXED;
	add(log, HWPMC_LOG_THROTTLE, sizeof(struct hwpmc_log_throttle));
	add(log, HWPMC_LOG_CLOCK, sizeof(struct hwpmc_log_clock));
	note = add(log, HWPMC_LOG_NOTE, sizeof(*note) + 10);
	strcpy(note->text, "key=value");
	add(log, HWPMC_LOG_PADDING, 64);
	add(log, HWPMC_LOG_CPU_KIND, sizeof(struct hwpmc_log_cpu_kind));
	add(log, HWPMC_LOG_LOSS, sizeof(struct hwpmc_log_loss));
	add(log, 200, 24);		/* of a later version */
	add(log, HWPMC_LOG_CLOSELOG, sizeof(struct hwpmc_log_hdr));
}

struct outcome {
	enum hwpmc_parse last;
	unsigned int n;
	uint64_t error_offset;
	char error[200];
	int32_t cpu, pid, tid;		/* of the sample */
	uint32_t npc;
};

/* In pieces of `piece` bytes, each in memory of its own. */
static struct outcome parse(const uint8_t *bytes, size_t len, size_t piece)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	struct outcome o = { .last = HWPMC_PARSE_MORE };
	struct hwpmc_record r;
	uint8_t *copy = NULL;

	for (size_t at = 0; o.last == HWPMC_PARSE_MORE; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		free(copy);
		copy = malloc(n ? n : 1);
		memcpy(copy, bytes + at, n);
		ck_assert_int_eq(hwpmc_parser_feed(p, copy, n), 0);
		if (at + n == len)
			hwpmc_parser_end(p);
		while ((o.last = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD) {
			o.n++;
			if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
				continue;
			o.cpu = r.cpu;
			o.pid = r.pid;
			o.tid = r.tid;
			o.npc = r.npc;
		}
	}
	o.error_offset = hwpmc_parser_error_offset(p);
	strncpy(o.error, hwpmc_parser_error(p), sizeof(o.error) - 1);
	free(copy);
	hwpmc_parser_free(p);
	return o;
}

START_TEST(a_log_with_every_record_is_read_in_pieces_of_any_size)
{
	struct log log;

	make_log(&log);
	for (size_t piece = 1; piece <= 300; piece++) {
		struct outcome o = parse(log.bytes, log.len, piece);

		ck_assert_msg(o.last == HWPMC_PARSE_END, "%s", o.error);
		ck_assert_uint_eq(o.n, log.n);
		ck_assert_int_eq(o.cpu, 7);
		ck_assert_int_eq(o.pid, 42);
		ck_assert_int_eq(o.tid, 43);
		ck_assert_uint_eq(o.npc, 3);
	}
}
END_TEST

START_TEST(a_log_cut_at_any_byte_says_where_it_ends)
{
	struct log log;
	size_t whole = 0;

	make_log(&log);
	for (size_t len = 0; len <= log.len; len++) {
		struct outcome o = parse(log.bytes, len, LOG_MAX);
		const struct hwpmc_log_hdr *h = (void *)(log.bytes + whole);

		if (len == whole + h->len && len)
			whole = len;
		if (len && len == whole) {
			ck_assert_int_eq(o.last, HWPMC_PARSE_END);
			continue;
		}
		ck_assert_int_eq(o.last, HWPMC_PARSE_ERROR);
		ck_assert_uint_eq(o.error_offset, whole);
		ck_assert_ptr_nonnull(strstr(o.error, "offset "));
	}
}
END_TEST

START_TEST(every_flipped_bit_of_every_header_is_refused_or_harmless)
{
	struct log log;
	unsigned int refused = 0;
	size_t next;

	make_log(&log);
	for (size_t at = 0; at < log.len; at += next) {
		next = ((struct hwpmc_log_hdr *)(log.bytes + at))->len;
		for (unsigned int bit = 0; bit < 128; bit++) {
			struct outcome o;

			log.bytes[at + bit / 8] ^= 1 << bit % 8;
			o = parse(log.bytes, log.len, LOG_MAX);
			log.bytes[at + bit / 8] ^= 1 << bit % 8;
			ck_assert(o.last == HWPMC_PARSE_END ||
				  (o.last == HWPMC_PARSE_ERROR && o.error[0] &&
				   o.error_offset >= at));
			refused += o.last == HWPMC_PARSE_ERROR;
		}
	}
	ck_assert_uint_gt(refused, log.n * 8);
}
END_TEST

static uint32_t random_state = 20261121;

static uint32_t any(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

START_TEST(ten_thousand_mutations_neither_crash_nor_hang)
{
	struct log log, bad;

	make_log(&log);
	for (int i = 0; i < 10000; i++) {
		bad = log;
		for (uint32_t n = 1 + any(8); n; n--)
			bad.bytes[any(bad.len)] = any(256);
		if (!any(4))
			bad.len = any(bad.len + 1);
		parse(bad.bytes, bad.len, 1 + any(LOG_MAX));
	}
}
END_TEST

static void refuses(const struct log *log, const char *why)
{
	struct outcome o = parse(log->bytes, log->len, LOG_MAX);

	ck_assert_int_eq(o.last, HWPMC_PARSE_ERROR);
	ck_assert_msg(strstr(o.error, why) != NULL, "%s", o.error);
}

START_TEST(what_no_log_can_hold_is_refused_with_the_reason)
{
	struct hwpmc_log_initialize *init;
	struct hwpmc_log_sample *sample;
	struct hwpmc_log_cpu_kind *kind;
	struct hwpmc_log_drop *drop;
	struct hwpmc_log_map *map;
	struct log log = { .len = 0 };

	refuses(&log, "empty");
	add(&log, HWPMC_LOG_CPU, 16);
	refuses(&log, "not an hwpmc log");
	memset(&log, 0, sizeof(log));
	add_initialize(&log);
	init = (void *)log.bytes;
	init->magic = __builtin_bswap64(HWPMC_LOG_MAGIC);
	refuses(&log, "different byte order");
	init->magic = 1;
	refuses(&log, "magic number");
	init->magic = HWPMC_LOG_MAGIC;
	init->schema = 2 << 16;
	refuses(&log, "format 2.0");
	init->schema = HWPMC_LOG_SCHEMA;
	sample = add(&log, HWPMC_LOG_CALLCHAIN, sizeof(*sample));
	refuses(&log, "without an address");
	sample->hdr.len = 12;
	refuses(&log, "its header needs 16");
	sample->hdr.len = 20;
	refuses(&log, "multiple of 8");
	sample->hdr.len = HWPMC_LOG_MAX + 8;
	refuses(&log, "the maximum is");
	log.len -= 16;
	drop = add(&log, HWPMC_LOG_DROPNOTIFY, sizeof(*drop));
	drop->ncause = 1000000;
	refuses(&log, "too short for 1000000 causes");
	drop->ncause = HWPMC_DROP_FIXED + 1;
	refuses(&log, "too short for 5 causes");
	log.len -= sizeof(*drop);
	map = add(&log, HWPMC_LOG_MAP_IN, sizeof(*map) + 8);
	memset(map->path, 'x', 8);
	refuses(&log, "unterminated string");
	map->path[7] = '\0';
	map->build_id_len = HWPMC_LOG_BUILD_ID + 1;
	refuses(&log, "build-id of 21 bytes");
	map->build_id_len = HWPMC_LOG_BUILD_ID;
	map->start = 0x2000;
	map->end = 0x1fff;
	refuses(&log, "end is before its start");
	log.len -= map->hdr.len;
	add(&log, HWPMC_LOG_CPU, 16);
	((struct hwpmc_log_hdr *)(log.bytes + log.len - 16))->id = 0x10000;
	refuses(&log, "CPU record for CPU 65536");
	log.len -= 16;
	kind = add(&log, HWPMC_LOG_CPU_KIND, sizeof(*kind));
	kind->hdr.id = 0x10000;
	refuses(&log, "CPU_KIND record for CPU 65536");
	log.len -= sizeof(*kind);
	init->khz = 0;
	refuses(&log, "clock of 0 kHz");
}
END_TEST

#define FURTHER	4	/* causes behind the fixed arrays: one, and three of a later module */

/* Samples 1, 2, 3, ..., others 101, 102, ... of one cause each. */
static struct hwpmc_log_drop *make_drops(uint8_t *room, uint32_t ncause)
{
	struct hwpmc_log_drop *r = (void *)room;
	struct hwpmc_log_drop_pair *more = (void *)(r + 1);

	r->hdr.type = HWPMC_LOG_DROPNOTIFY;
	r->hdr.len = sizeof(*r) + FURTHER * sizeof(*more);
	r->ncause = ncause;
	for (uint32_t i = 0; i < HWPMC_DROP_FIXED; i++) {
		r->samples[i] = i + 1;
		r->others[i] = i + 101;
	}
	for (uint32_t i = 0; i < FURTHER; i++) {
		more[i].samples = HWPMC_DROP_FIXED + i + 1;
		more[i].others = HWPMC_DROP_FIXED + i + 101;
	}
	return r;
}

static void check_counts(const uint64_t *n, uint64_t first, uint64_t rest, uint32_t of)
{
	for (uint32_t i = 0; i < of; i++)
		ck_assert_uint_eq(n[i], i == HWPMC_DROP_OTHER ? rest :
				  i < HWPMC_DROP__COUNT ? first + i : 0);
}

START_TEST(drops_of_causes_to_come_are_counted_as_other_causes)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	uint8_t room[200];
	struct log log = { .len = 0 };
	struct hwpmc_log_drop *r = make_drops(room, 4 + FURTHER);

	ck_assert_uint_eq(hwpmc_record_drops(r, samples, others, HWPMC_DROP_SLOTS),
			  4 + FURTHER);
	check_counts(samples, 1, 8, HWPMC_DROP_SLOTS);
	check_counts(others, 101, 108, HWPMC_DROP_SLOTS);
	ck_assert_str_eq(hwpmc_name_of_drop(HWPMC_DROP_OTHER), "other causes");
	ck_assert_ptr_null(hwpmc_name_of_drop(HWPMC_DROP_SLOTS));
	add_initialize(&log);
	memcpy(add(&log, HWPMC_LOG_DROPNOTIFY, r->hdr.len), r, r->hdr.len);
	ck_assert_int_eq(parse(log.bytes, log.len, LOG_MAX).last, HWPMC_PARSE_END);
}
END_TEST

START_TEST(drops_of_a_writer_with_fewer_causes_are_those_that_it_counts)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	uint8_t room[200];
	struct hwpmc_log_drop *r = make_drops(room, 3);

	ck_assert_uint_eq(hwpmc_record_drops(r, samples, others, HWPMC_DROP_SLOTS), 3);
	ck_assert_uint_eq(samples[2], 3);
	ck_assert_uint_eq(others[2], 103);
	for (uint32_t i = 3; i < HWPMC_DROP_SLOTS; i++)
		ck_assert_uint_eq(samples[i] + others[i], 0);
}
END_TEST

/* ASan sees what is written behind the end. */
START_TEST(drops_stay_in_the_arrays_of_the_caller_and_add_up)
{
	uint8_t room[200];
	const struct hwpmc_log_drop *r = make_drops(room, 4 + FURTHER);
	struct hwpmc_log_ring ring = {
		.samples_dropped = { 1, 2, 3, 4 }, .others_dropped = { 101, 102, 103, 104 },
		.more_dropped = { { 5, 105 }, { 6 + 7 + 8, 106 + 107 + 108 } },
		/* The last one in a slot that has no name yet. */
		.each_dropped = { { 6, 106 }, { 7, 107 }, { 8, 108 } },
	};
	static const uint64_t last[] = { 36, 35, 33, 30, 26, 21, 15, 8 };

	ck_assert_uint_eq(hwpmc_record_drops(r, NULL, NULL, 0), 4 + FURTHER);
	for (uint32_t n = 1; n <= 20; n++) {
		uint64_t *of = calloc(4 * n, sizeof(*of)), sum[4] = { 0 };

		memset(of, 0xff, 2 * n * sizeof(*of));
		hwpmc_record_drops(r, of, of + n, n);
		drops_add_ring(&ring, of + 2 * n, of + 3 * n, n);
		for (uint32_t i = 0; i < 4 * n; i++)
			sum[i / n] += of[i];
		ck_assert_uint_eq(sum[0], 36);
		ck_assert_uint_eq(sum[1], 836);
		ck_assert_uint_eq(sum[2], 36);
		ck_assert_uint_eq(sum[3], 836);
		ck_assert_uint_eq(of[0], n == 1 ? 36 : 1);
		ck_assert_uint_eq(of[n - 1], last[n > 8 ? 7 : n - 1]);
		ck_assert_uint_eq(of[3 * n - 1], of[n - 1]);
		free(of);
	}
}
END_TEST

START_TEST(drops_of_a_damaged_page_do_not_become_negative)
{
	struct hwpmc_log_ring ring = {
		.more_dropped = { { 1, 2 }, { 5, 50 } }, .each_dropped = { { 9, 20 }, { 1, 90 } },
	};
	uint64_t samples[HWPMC_DROP_SLOTS] = { 0 }, others[HWPMC_DROP_SLOTS] = { 0 };

	drops_add_ring(&ring, samples, others, HWPMC_DROP_SLOTS);
	ck_assert_uint_eq(samples[HWPMC_DROP_FILTERED], 5);
	ck_assert_uint_eq(samples[HWPMC_DROP_UNCOUNTED], 0);
	ck_assert_uint_eq(samples[HWPMC_DROP_OTHER], 0);
	ck_assert_uint_eq(others[HWPMC_DROP_FILTERED], 20);
	ck_assert_uint_eq(others[HWPMC_DROP_UNCOUNTED], 30);
	ck_assert_uint_eq(others[HWPMC_DROP_OTHER], 0);
}
END_TEST

START_TEST(records_and_rings_of_drops_keep_their_layout)
{
	ck_assert_uint_eq(sizeof(struct hwpmc_log_drop), 16 + 16 + 8 * 8);
	ck_assert_uint_eq(offsetof(struct hwpmc_log_ring, others_dropped), 56);
	ck_assert_uint_eq(offsetof(struct hwpmc_log_ring, more_dropped), 88);
	ck_assert_uint_eq(offsetof(struct hwpmc_log_ring, tail), 128);
	ck_assert_uint_eq(offsetof(struct hwpmc_log_ring, each_dropped), 192);
}
END_TEST

START_TEST(log_of_a_later_minor_format_is_read)
{
	struct log log;

	make_log(&log);
	((struct hwpmc_log_initialize *)log.bytes)->schema++;
	ck_assert_int_eq(parse(log.bytes, log.len, LOG_MAX).last, HWPMC_PARSE_END);
}
END_TEST

START_TEST(longest_record_is_read)
{
	struct log log = { .len = 0 };
	struct hwpmc_log_hdr h = { .len = HWPMC_LOG_MAX, .type = HWPMC_LOG_PADDING };
	size_t len;
	uint8_t *bytes;

	add_initialize(&log);
	len = log.len + HWPMC_LOG_MAX;
	bytes = calloc(1, len);
	memcpy(bytes, log.bytes, log.len);
	memcpy(bytes + log.len, &h, sizeof(h));
	for (size_t piece = 100; piece <= len; piece += 997) {
		struct outcome o = parse(bytes, len, piece);

		ck_assert_msg(o.last == HWPMC_PARSE_END, "%s", o.error);
		ck_assert_uint_eq(o.n, 2);
	}
	free(bytes);
}
END_TEST

static void add_cpu(struct log *log, uint32_t cpu)
{
	((struct hwpmc_log_hdr *)add(log, HWPMC_LOG_CPU, 16))->id = cpu;
}

static void add_context(struct log *log, int32_t pid, int32_t tid)
{
	struct hwpmc_log_context *r = add(log, HWPMC_LOG_CONTEXT, sizeof(*r));

	r->pid = pid;
	r->tid = tid;
}

START_TEST(contexts_of_cpus_are_kept_apart)
{
	static const int32_t tids[] = { 11, 21, 11, -1, 21 };
	struct hwpmc_parser *p = hwpmc_parser_new();
	struct log log = { .len = 0 };
	struct hwpmc_record r;
	unsigned int n = 0;

	add_initialize(&log);
	add_cpu(&log, 1);
	add_context(&log, 10, 11);
	add(&log, HWPMC_LOG_CALLCHAIN, sizeof(struct hwpmc_log_sample) + 8);
	add_cpu(&log, 2);
	add_context(&log, 20, 21);
	add(&log, HWPMC_LOG_CALLCHAIN, sizeof(struct hwpmc_log_sample) + 8);
	for (uint32_t i = 0; i < 3; i++) {
		add_cpu(&log, (uint32_t[]){ 1, 0, 2 }[i]);
		add(&log, HWPMC_LOG_CALLCHAIN, sizeof(struct hwpmc_log_sample) + 8);
	}
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), 0);
	while (hwpmc_parser_next(p, &r) == HWPMC_PARSE_RECORD)
		if (r.hdr->type == HWPMC_LOG_CALLCHAIN) {
			ck_assert_uint_lt(n, sizeof(tids) / sizeof(tids[0]));
			ck_assert_int_eq(r.tid, tids[n]);
			ck_assert_int_eq(r.pid, tids[n] < 0 ? -1 : tids[n] - 1);
			n++;
		}
	ck_assert_uint_eq(n, sizeof(tids) / sizeof(tids[0]));
	hwpmc_parser_free(p);
}
END_TEST

/* In pieces of `piece` bytes; how many records are told and the last one's number. */
static unsigned int told(const struct log *log, size_t piece, bool skip,
			 uint64_t *serial)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	enum hwpmc_parse what = HWPMC_PARSE_MORE;
	struct hwpmc_record r;
	unsigned int n = 0;

	hwpmc_parser_skip_samples(p, skip);
	for (size_t at = 0; what == HWPMC_PARSE_MORE; at += piece) {
		size_t len = log->len - at < piece ? log->len - at : piece;

		ck_assert_int_eq(hwpmc_parser_feed(p, log->bytes + at, len), 0);
		if (at + len == log->len)
			hwpmc_parser_end(p);
		while ((what = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD) {
			ck_assert(!skip || r.hdr->type != HWPMC_LOG_CALLCHAIN);
			*serial = r.serial;
			n++;
		}
	}
	ck_assert_int_eq(what, HWPMC_PARSE_END);
	hwpmc_parser_free(p);
	return n;
}

START_TEST(samples_that_are_skipped_are_counted_all_the_same)
{
	uint64_t serial, skipped;
	struct log log;

	make_log(&log);
	for (size_t piece = 1; piece < 200; piece++) {
		ck_assert_uint_eq(told(&log, piece, false, &serial), log.n);
		ck_assert_uint_eq(told(&log, piece, true, &skipped), log.n - 1);
		ck_assert_uint_eq(serial, skipped);
	}
}
END_TEST

/* Of a log in pieces: times and numbers of its samples, by rows or one at a time. */
static uint64_t sum_of_samples(const struct log *log, size_t piece, bool rows,
			       unsigned int *n)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	enum hwpmc_parse what = HWPMC_PARSE_MORE;
	struct hwpmc_record r = { .offset = 0 };
	uint64_t sum = 0;
	size_t bytes = 0;

	*n = 0;
	for (size_t at = 0; what == HWPMC_PARSE_MORE; at += piece) {
		size_t len = log->len - at < piece ? log->len - at : piece;

		ck_assert_int_eq(hwpmc_parser_feed(p, log->bytes + at, len), 0);
		if (at + len == log->len)
			hwpmc_parser_end(p);
		while ((what = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD) {
			const struct hwpmc_log_sample *s = r.sample;
			const char *row, *end;

			/* Where it lies, and how many records there were before it. */
			sum = sum * 31 + r.offset * 7 + r.serial;
			if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
				continue;
			sum = sum * 31 + s->pc[0];
			++*n;
			row = rows ? (const void *)hwpmc_parser_samples(p, &bytes) : NULL;
			for (end = row + bytes; row < end; row += s->hdr.len) {
				s = (const void *)row;
				ck_assert_uint_eq(s->hdr.type, HWPMC_LOG_CALLCHAIN);
				r.offset += r.hdr->len;
				r.hdr = &s->hdr;
				r.serial++;
				sum = sum * 31 + r.offset * 7 + r.serial;
				sum = sum * 31 + s->pc[0];
				++*n;
			}
			ck_assert(row == end);
		}
	}
	hwpmc_parser_free(p);
	return what == HWPMC_PARSE_END ? sum : ~sum;
}

static void add_samples(struct log *log, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct hwpmc_log_sample *s = add(log, HWPMC_LOG_CALLCHAIN,
						 sizeof(*s) + 8 * (1 + i % 3));

		s->pc[0] = 0x1000 + i;
	}
}

START_TEST(samples_in_a_row_are_those_that_come_one_at_a_time)
{
	unsigned int one, row;
	struct log log;

	make_log(&log);
	add_samples(&log, 20);
	for (size_t piece = 1; piece < 300; piece++) {
		ck_assert_uint_eq(sum_of_samples(&log, piece, false, &one),
				  sum_of_samples(&log, piece, true, &row));
		ck_assert_uint_eq(one, row);
		ck_assert_uint_ge(row, 20);
	}
}
END_TEST

START_TEST(a_row_of_samples_ends_before_a_bad_one_and_before_another_record)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	struct hwpmc_log_hdr *bad;
	struct hwpmc_record r;
	struct log log;
	size_t bytes, good;

	make_log(&log);
	good = log.len;
	add_samples(&log, 3);
	bad = add(&log, HWPMC_LOG_CALLCHAIN, sizeof(struct hwpmc_log_sample) + 8);
	bad->len += 4;
	/* Not a log: it begins with one. */
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes + good, log.len - good), 0);
	hwpmc_parser_samples(p, &bytes);
	ck_assert_uint_eq(bytes, 0);
	ck_assert_int_eq(hwpmc_parser_next(p, &r), HWPMC_PARSE_ERROR);
	hwpmc_parser_free(p);

	p = hwpmc_parser_new();
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), 0);
	do
		ck_assert_int_eq(hwpmc_parser_next(p, &r), HWPMC_PARSE_RECORD);
	while (r.offset < good);
	hwpmc_parser_samples(p, &bytes);
	ck_assert_uint_eq(bytes, (const char *)bad - (const char *)r.hdr - r.hdr->len);
	hwpmc_parser_samples(p, &bytes);
	ck_assert_uint_eq(bytes, 0);
	ck_assert_int_eq(hwpmc_parser_next(p, &r), HWPMC_PARSE_ERROR);
	ck_assert_uint_eq(hwpmc_parser_error_offset(p), (const uint8_t *)bad - log.bytes);
	hwpmc_parser_free(p);
}
END_TEST

static void add_period(struct log *log, uint32_t id, uint64_t period, uint8_t flags)
{
	struct hwpmc_log_period *r = add(log, HWPMC_LOG_PERIOD, sizeof(*r));

	r->hdr.id = id;
	r->hdr.flags = flags;
	r->period = period;
}

START_TEST(a_sample_has_the_period_that_was_said_of_its_pmc)
{
	static const uint64_t periods[] = { 1000, 0, 0, 30, 2000, 0, 0 };
	struct hwpmc_parser *p = hwpmc_parser_new();
	struct log log = { .len = 0 };
	struct hwpmc_record r;
	unsigned int n = 0;

	add_initialize(&log);
	add_cpu(&log, 1);
	/* Directly, and the next one has none. */
	add_period(&log, 7, 1000, 0);
	add_samples(&log, 2);
	/* Of another PMC; what drops stood for is of no sample. */
	add_period(&log, 8, 1000, 0);
	add_period(&log, 0, 5000, HWPMC_PERIOD_DROPPED);
	add_samples(&log, 1);
	/* The last one counts, and a context may come between. */
	add_period(&log, 7, 20, 0);
	add_period(&log, 7, 30, 0);
	add_context(&log, 10, 11);
	add_samples(&log, 1);
	add_period(&log, 7, 2000, 0);
	add_samples(&log, 3);
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), 0);
	while (hwpmc_parser_next(p, &r) == HWPMC_PARSE_RECORD) {
		if (r.hdr->type != HWPMC_LOG_CALLCHAIN) {
			ck_assert_uint_eq(r.period, 0);
			continue;
		}
		ck_assert_uint_lt(n, sizeof(periods) / sizeof(periods[0]));
		ck_assert_uint_eq(r.period, periods[n]);
		n++;
	}
	ck_assert_uint_eq(n, sizeof(periods) / sizeof(periods[0]));
	hwpmc_parser_free(p);
}
END_TEST

START_TEST(precise_record_has_a_word_for_each_bit)
{
	struct hwpmc_log_precise *precise;
	struct log log = { .len = 0 };
	uint64_t value = 4711;

	add_initialize(&log);
	precise = add(&log, HWPMC_LOG_PRECISE, sizeof(*precise) + 3 * sizeof(uint64_t));
	precise->hdr.flags = HWPMC_PRECISE_IBS_OP;
	precise->present = HWPMC_PRECISE_EXACT | 1ull << 47 | 1 << 8 | 1 << 1;
	precise->word[0] = 10;
	precise->word[1] = 80;
	precise->word[2] = 470;
	ck_assert_int_eq(parse(log.bytes, log.len, LOG_MAX).last, HWPMC_PARSE_END);
	ck_assert(!hwpmc_precise_word(precise, 0, &value));
	ck_assert(!hwpmc_precise_word(precise, 63, &value));
	ck_assert(!hwpmc_precise_word(precise, 64 + 1, &value));
	ck_assert_uint_eq(value, 4711);
	ck_assert(hwpmc_precise_word(precise, 1, &value));
	ck_assert_uint_eq(value, 10);
	ck_assert(hwpmc_precise_word(precise, 8, &value));
	ck_assert_uint_eq(value, 80);
	ck_assert(hwpmc_precise_word(precise, 47, &value));
	ck_assert_uint_eq(value, 470);
	ck_assert(!hwpmc_precise_word(NULL, 1, &value));
	ck_assert(!hwpmc_precise_word(precise, 1, NULL));
	/* A mark has no word, and further bytes are for later. */
	precise->present |= 1ull << 48;
	ck_assert_int_eq(parse(log.bytes, log.len, LOG_MAX).last, HWPMC_PARSE_END);
	precise->present &= ~(1ull << 47);
	ck_assert_int_eq(parse(log.bytes, log.len, LOG_MAX).last, HWPMC_PARSE_END);
	precise->present |= 3ull << 46;
	refuses(&log, "PRECISE record of 48 bytes: too short for 4 words");
}
END_TEST

START_TEST(kinds_and_words_of_precise_records_have_names)
{
	ck_assert_str_eq(hwpmc_name_of_precise(HWPMC_PRECISE_IBS_FETCH), "ibs-fetch");
	ck_assert_str_eq(hwpmc_name_of_precise(HWPMC_PRECISE_IBS_OP), "ibs-op");
	ck_assert_str_eq(hwpmc_name_of_precise(HWPMC_PRECISE_TEST), "test");
	ck_assert_ptr_null(hwpmc_name_of_precise(1));
	ck_assert_ptr_null(hwpmc_name_of_precise(256));
	ck_assert_str_eq(hwpmc_name_of_word(HWPMC_PRECISE_IBS_OP, 8), "data4");
	ck_assert_str_eq(hwpmc_name_of_word(HWPMC_PRECISE_IBS_FETCH, 3), "physaddr");
	ck_assert_str_eq(hwpmc_name_of_word(HWPMC_PRECISE_TEST, 3), "latency");
	ck_assert_ptr_null(hwpmc_name_of_word(HWPMC_PRECISE_IBS_OP, 9));
	ck_assert_ptr_null(hwpmc_name_of_word(HWPMC_PRECISE_IBS_FETCH, 4));
	ck_assert_ptr_null(hwpmc_name_of_word(HWPMC_PRECISE_TEST, 4));
	ck_assert_ptr_null(hwpmc_name_of_word(HWPMC_PRECISE_PEBS, 0));
}
END_TEST

START_TEST(feeding_too_early_or_too_late_is_an_error)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	struct hwpmc_record r;
	struct log log;

	make_log(&log);
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), 0);
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), -1);
	ck_assert_int_eq(errno, EBUSY);
	while (hwpmc_parser_next(p, &r) == HWPMC_PARSE_RECORD)
		;
	hwpmc_parser_end(p);
	ck_assert_int_eq(hwpmc_parser_next(p, &r), HWPMC_PARSE_END);
	ck_assert_int_eq(hwpmc_parser_feed(p, log.bytes, log.len), -1);
	ck_assert_int_eq(errno, EINVAL);
	hwpmc_parser_free(p);
}
END_TEST

int main(void)
{
	harness_add(a_log_with_every_record_is_read_in_pieces_of_any_size);
	harness_add(a_log_cut_at_any_byte_says_where_it_ends);
	harness_add_timed(every_flipped_bit_of_every_header_is_refused_or_harmless,
			  60);
	harness_add_timed(ten_thousand_mutations_neither_crash_nor_hang, 60);
	harness_add(what_no_log_can_hold_is_refused_with_the_reason);
	harness_add(drops_of_causes_to_come_are_counted_as_other_causes);
	harness_add(drops_of_a_writer_with_fewer_causes_are_those_that_it_counts);
	harness_add(drops_stay_in_the_arrays_of_the_caller_and_add_up);
	harness_add(drops_of_a_damaged_page_do_not_become_negative);
	harness_add(records_and_rings_of_drops_keep_their_layout);
	harness_add(log_of_a_later_minor_format_is_read);
	harness_add(longest_record_is_read);
	harness_add(contexts_of_cpus_are_kept_apart);
	harness_add(samples_that_are_skipped_are_counted_all_the_same);
	harness_add(samples_in_a_row_are_those_that_come_one_at_a_time);
	harness_add(a_row_of_samples_ends_before_a_bad_one_and_before_another_record);
	harness_add(a_sample_has_the_period_that_was_said_of_its_pmc);
	harness_add(precise_record_has_a_word_for_each_bit);
	harness_add(kinds_and_words_of_precise_records_have_names);
	harness_add(feeding_too_early_or_too_late_is_an_error);
	return harness_run();
}
