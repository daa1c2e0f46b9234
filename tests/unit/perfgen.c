/* SPDX-License-Identifier: BSD-2-Clause */
/* perfgen.c - see perfgen.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <perf_format.h>

#include "perfgen.h"

#define ATTR_SIZE	128

void perfgen_put(struct perfgen_bytes *b, const void *bytes, size_t len)
{
	if (b->len + len > b->room) {
		b->room = 2 * (b->len + len);
		b->bytes = realloc(b->bytes, b->room);
	}
	if (bytes)
		memcpy(b->bytes + b->len, bytes, len);
	else
		memset(b->bytes + b->len, 0, len);
	b->len += len;
}

void perfgen_u64(struct perfgen_bytes *b, uint64_t x)
{
	perfgen_put(b, &x, sizeof(x));
}

void perfgen_u32(struct perfgen_bytes *b, uint32_t x)
{
	perfgen_put(b, &x, sizeof(x));
}

void perfgen_begin(struct perfgen *g, bool pipe)
{
	memset(g, 0, sizeof(*g));
	g->pipe = pipe;
	g->time = PERFGEN_FIRST;
}

void perfgen_free(struct perfgen *g)
{
	for (uint32_t i = 0; i < g->nfeature; i++)
		free(g->feature[i].bytes);
	ZSTD_freeCStream(g->packer);
	free(g->data.bytes);
	free(g->out.bytes);
	memset(g, 0, sizeof(*g));
}

uint32_t perfgen_event(struct perfgen *g, const struct perfgen_event *e)
{
	g->event[g->nevent] = *e;
	return g->nevent++;
}

static void put_attr(struct perfgen_bytes *b, const struct perfgen_event *e)
{
	uint8_t attr[ATTR_SIZE] = { 0 };
	uint32_t size = sizeof(attr);

	memcpy(attr + PERF_ATTR_TYPE, &e->type, 4);
	memcpy(attr + PERF_ATTR_SIZE, &size, 4);
	memcpy(attr + PERF_ATTR_CONFIG, &e->config, 8);
	memcpy(attr + PERF_ATTR_PERIOD, &e->period, 8);
	memcpy(attr + PERF_ATTR_SAMPLE_TYPE, &e->sample_type, 8);
	memcpy(attr + PERF_ATTR_READ_FORMAT, &e->read_format, 8);
	memcpy(attr + PERF_ATTR_FLAGS, &e->flags, 8);
	memcpy(attr + PERF_ATTR_BRANCHES, &e->branches, 8);
	memcpy(attr + PERF_ATTR_REGS_USER, &e->regs_user, 8);
	memcpy(attr + PERF_ATTR_REGS_INTR, &e->regs_intr, 8);
	perfgen_put(b, attr, sizeof(attr));
}

/* A pipe has its events in records before all others. */
static void write_attrs(struct perfgen *g)
{
	struct perfgen_bytes body;

	if (!g->pipe || g->attrs_written)
		return;
	g->attrs_written = true;
	for (uint32_t i = 0; i < g->nevent; i++) {
		body = (struct perfgen_bytes){ 0 };
		put_attr(&body, &g->event[i]);
		if (g->event[i].id)
			perfgen_u64(&body, g->event[i].id);
		perfgen_raw(g, PERF_HEADER_ATTR, 0, body.bytes, body.len);
		free(body.bytes);
	}
}

void perfgen_raw(struct perfgen *g, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	struct perf_hdr h = { type, misc, sizeof(h) + len };

	if (type != PERF_HEADER_ATTR)
		write_attrs(g);
	perfgen_put(&g->data, &h, sizeof(h));
	perfgen_put(&g->data, body, len);
}

void perfgen_feature(struct perfgen *g, uint32_t bit, const void *bytes, size_t len)
{
	struct perfgen_bytes body = { 0 };

	if (g->pipe) {
		perfgen_u64(&body, bit);
		perfgen_put(&body, bytes, len);
		perfgen_raw(g, PERF_FEATURE, 0, body.bytes, body.len);
		free(body.bytes);
		return;
	}
	g->bit[g->nfeature] = bit;
	perfgen_put(&g->feature[g->nfeature++], bytes, len);
}

static void put_string(struct perfgen_bytes *b, const char *text)
{
	size_t len = strlen(text), padded = (len + 64) / 64 * 64;

	perfgen_u32(b, padded);
	perfgen_put(b, text, len);
	perfgen_put(b, NULL, padded - len);
}

void perfgen_string(struct perfgen *g, uint32_t bit, const char *text)
{
	struct perfgen_bytes b = { 0 };

	put_string(&b, text);
	perfgen_feature(g, bit, b.bytes, b.len);
	free(b.bytes);
}

void perfgen_names(struct perfgen *g)
{
	struct perfgen_bytes b = { 0 };

	perfgen_u32(&b, g->nevent);
	perfgen_u32(&b, ATTR_SIZE);
	for (uint32_t i = 0; i < g->nevent; i++) {
		put_attr(&b, &g->event[i]);
		perfgen_u32(&b, !!g->event[i].id);
		put_string(&b, g->event[i].name ? g->event[i].name : "");
		if (g->event[i].id)
			perfgen_u64(&b, g->event[i].id);
	}
	perfgen_feature(g, PERF_FEATURE_EVENT_DESC, b.bytes, b.len);
	free(b.bytes);
}

void perfgen_build_id(struct perfgen *g, int32_t pid, uint16_t misc, uint8_t byte,
		      const char *path)
{
	size_t len = strlen(path) + 1;
	struct perf_hdr h = { PERF_BUILD_ID, misc, 36 + len };
	struct perfgen_bytes b = { 0 };
	uint8_t id[24] = { 0 };

	memset(id, byte, 20);
	perfgen_put(&b, &h, sizeof(h));
	perfgen_u32(&b, pid);
	perfgen_put(&b, id, sizeof(id));
	perfgen_put(&b, path, len);
	perfgen_feature(g, PERF_FEATURE_BUILD_ID, b.bytes, b.len);
	free(b.bytes);
}

/* ---- records ------------------------------------------------------------- */

static void put_ids(struct perfgen_bytes *b, int32_t pid, int32_t tid)
{
	perfgen_u32(b, pid);
	perfgen_u32(b, tid);
}

static void put_trailer(struct perfgen *g, struct perfgen_bytes *b)
{
	const struct perfgen_event *e = &g->event[0];
	uint64_t type = e->sample_type;

	if (!(e->flags & PERF_A_ID_ALL))
		return;
	if (type & PERF_S_TID)
		put_ids(b, 0, 0);
	if (type & PERF_S_TIME)
		perfgen_u64(b, g->time);
	if (type & PERF_S_ID)
		perfgen_u64(b, e->id);
	if (type & PERF_S_STREAM_ID)
		perfgen_u64(b, 1);
	if (type & PERF_S_CPU)
		perfgen_u64(b, 1);
	if (type & PERF_S_IDENTIFIER)
		perfgen_u64(b, e->id);
}

void perfgen_record(struct perfgen *g, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	struct perfgen_bytes b = { 0 };

	perfgen_put(&b, body, len);
	perfgen_put(&b, NULL, -len % 8);
	put_trailer(g, &b);
	perfgen_raw(g, type, misc, b.bytes, b.len);
	free(b.bytes);
	if (g->time)
		g->time += PERFGEN_STEP;
}

static void put_numbers(struct perfgen_bytes *b, uint64_t n, uint64_t value)
{
	while (n--)
		perfgen_u64(b, value);
}

static void put_read(struct perfgen_bytes *b, uint64_t format)
{
	uint64_t n = 1, each = 1 + !!(format & PERF_R_ID) + !!(format & PERF_R_LOST);

	if (format & PERF_R_GROUP)
		perfgen_u64(b, n = 3);
	put_numbers(b, !!(format & PERF_R_ENABLED) + !!(format & PERF_R_RUNNING), 99);
	put_numbers(b, n * each, 77);
}

static void put_branches(struct perfgen_bytes *b, const struct perfgen_event *e,
			 const struct perfgen_sample *s)
{
	perfgen_u64(b, s->nbranch);
	if (e->branches & PERF_B_HW_INDEX)
		perfgen_u64(b, 3);
	for (uint32_t i = 0; i < s->nbranch; i++) {
		perfgen_u64(b, s->branch ? s->branch[2 * i] : 1);
		perfgen_u64(b, s->branch ? s->branch[2 * i + 1] : 2);
		perfgen_u64(b, 0);
	}
	if (e->branches & PERF_B_COUNTERS)
		put_numbers(b, s->nbranch, 5);
}

static void put_registers(struct perfgen_bytes *b, uint64_t mask)
{
	perfgen_u64(b, 2);
	put_numbers(b, __builtin_popcountll(mask), 0x5555);
}

static void put_fixed(struct perfgen *g, struct perfgen_bytes *b, const struct perfgen_sample *s)
{
	const struct perfgen_event *e = &g->event[s->event];
	uint64_t type = e->sample_type;

	if (type & PERF_S_IDENTIFIER)
		perfgen_u64(b, e->id);
	if (type & PERF_S_IP)
		perfgen_u64(b, s->ip);
	if (type & PERF_S_TID)
		put_ids(b, s->pid, s->tid);
	if (type & PERF_S_TIME)
		perfgen_u64(b, g->time);
	if (type & PERF_S_ADDR)
		perfgen_u64(b, 0xaddaadd);
	if (type & PERF_S_ID)
		perfgen_u64(b, e->id);
	if (type & PERF_S_STREAM_ID)
		perfgen_u64(b, 4242);
	if (type & PERF_S_CPU)
		perfgen_u64(b, s->cpu | 0x7777ull << 32);
	if (type & PERF_S_PERIOD)
		perfgen_u64(b, s->period);
	if (type & PERF_S_READ)
		put_read(b, e->read_format);
	if (type & PERF_S_CALLCHAIN) {
		perfgen_u64(b, s->nchain);
		perfgen_put(b, s->chain, s->nchain * sizeof(uint64_t));
	}
	if (type & PERF_S_RAW) {
		perfgen_u32(b, 12);
		put_numbers(b, 1, 12);
		perfgen_u32(b, 1);
	}
	if (type & PERF_S_BRANCH_STACK)
		put_branches(b, e, s);
}

void perfgen_sample(struct perfgen *g, const struct perfgen_sample *s)
{
	const struct perfgen_event *e = &g->event[s->event];
	struct perfgen_bytes b = { 0 };
	uint64_t type = e->sample_type;

	put_fixed(g, &b, s);
	if (type & PERF_S_REGS_USER)
		put_registers(&b, e->regs_user);
	if (type & PERF_S_STACK_USER) {
		perfgen_u64(&b, 64);
		put_numbers(&b, 8, 0xdead);
		perfgen_u64(&b, 64);
	}
	if (type & (PERF_S_WEIGHT | PERF_S_WEIGHT_STRUCT))
		perfgen_u64(&b, 10);
	if (type & PERF_S_DATA_SRC)
		perfgen_u64(&b, 11);
	if (type & PERF_S_TRANSACTION)
		perfgen_u64(&b, 12);
	if (type & PERF_S_REGS_INTR)
		put_registers(&b, e->regs_intr);
	if (type & PERF_S_PHYS_ADDR)
		perfgen_u64(&b, 13);
	if (type & PERF_S_CGROUP)
		perfgen_u64(&b, 14);
	if (type & PERF_S_DATA_PAGE)
		perfgen_u64(&b, 15);
	if (type & PERF_S_CODE_PAGE)
		perfgen_u64(&b, 16);
	if (type & PERF_S_AUX) {
		perfgen_u64(&b, 16);
		put_numbers(&b, 2, 17);
	}
	perfgen_raw(g, PERF_SAMPLE, s->misc, b.bytes, b.len);
	free(b.bytes);
	g->time += PERFGEN_STEP;
}

void perfgen_comm(struct perfgen *g, int32_t pid, int32_t tid, uint16_t misc, const char *comm)
{
	struct perfgen_bytes b = { 0 };

	put_ids(&b, pid, tid);
	perfgen_put(&b, comm, strlen(comm) + 1);
	perfgen_record(g, PERF_COMM, misc, b.bytes, b.len);
	free(b.bytes);
}

static void begin_map(struct perfgen_bytes *b, int32_t pid, uint64_t start, uint64_t size,
		      uint64_t offset)
{
	put_ids(b, pid, pid);
	perfgen_u64(b, start);
	perfgen_u64(b, size);
	perfgen_u64(b, offset);
}

/* With a build-id of bytes 0xbb in the record itself, or inode 4711 of device 8:1. */
void perfgen_mmap2(struct perfgen *g, int32_t pid, uint16_t misc, uint64_t start, uint64_t size,
		   uint64_t offset, const char *path)
{
	struct perfgen_bytes b = { 0 };
	uint8_t id[24] = { 20 };

	begin_map(&b, pid, start, size, offset);
	if (misc & PERF_MISC_BUILD_ID) {
		memset(id + 4, 0xbb, 20);
		perfgen_put(&b, id, sizeof(id));
	} else {
		perfgen_u32(&b, 8);
		perfgen_u32(&b, 1);
		perfgen_u64(&b, 4711);
		perfgen_u64(&b, 1);
	}
	perfgen_u32(&b, misc & PERF_MISC_MMAP_DATA ? 3 : 5);
	perfgen_u32(&b, 2);
	perfgen_put(&b, path, strlen(path) + 1);
	perfgen_record(g, PERF_MMAP2, misc, b.bytes, b.len);
	free(b.bytes);
}

void perfgen_mmap(struct perfgen *g, int32_t pid, uint16_t misc, uint64_t start, uint64_t size,
		  const char *path)
{
	struct perfgen_bytes b = { 0 };

	begin_map(&b, pid, start, size, start);
	perfgen_put(&b, path, strlen(path) + 1);
	perfgen_record(g, PERF_MMAP, misc, b.bytes, b.len);
	free(b.bytes);
}

static void task(struct perfgen *g, uint32_t type, const int32_t id[4])
{
	struct perfgen_bytes b = { 0 };

	perfgen_put(&b, id, 4 * sizeof(*id));
	perfgen_u64(&b, g->time);
	perfgen_record(g, type, 0, b.bytes, b.len);
	free(b.bytes);
}

void perfgen_fork(struct perfgen *g, int32_t parent, int32_t parent_tid, int32_t pid, int32_t tid)
{
	task(g, PERF_FORK, (int32_t []){ pid, parent, tid, parent_tid });
}

void perfgen_exit(struct perfgen *g, int32_t pid, int32_t tid)
{
	task(g, PERF_EXIT, (int32_t []){ pid, pid, tid, tid });
}

/* ---- the file ------------------------------------------------------------ */

static void put_packed(struct perfgen *g, uint32_t type, const void *bytes, size_t len)
{
	struct perfgen_bytes b = { 0 };

	if (type == PERF_COMPRESSED2)
		perfgen_u64(&b, len);
	perfgen_put(&b, bytes, len);
	if (type == PERF_COMPRESSED2)
		perfgen_put(&b, NULL, -len % 8);
	perfgen_raw(g, type, 0, b.bytes, b.len);
	free(b.bytes);
}

void perfgen_pack(struct perfgen *g, size_t at, uint32_t type, size_t most)
{
	size_t len = g->data.len - at, room = ZSTD_compressBound(len) + 1024;
	uint8_t *packed = malloc(room), *plain = malloc(len + 1);
	ZSTD_inBuffer from = { plain, len, 0 };
	ZSTD_outBuffer to = { packed, room, 0 };

	memcpy(plain, g->data.bytes + at, len);
	if (!g->packer) {
		g->packer = ZSTD_createCStream();
		ZSTD_initCStream(g->packer, 1);
	}
	ZSTD_compressStream(g->packer, &to, &from);
	ZSTD_flushStream(g->packer, &to);
	g->data.len = at;
	for (size_t i = 0; i < to.pos; i += most)
		put_packed(g, type, packed + i, to.pos - i < most ? to.pos - i : most);
	free(packed);
	free(plain);
}

static void finish_file(struct perfgen *g)
{
	struct perf_file_header h = {
		.magic = PERF_MAGIC, .size = sizeof(h), .attr_size = ATTR_SIZE + 16,
	};
	uint64_t at = sizeof(h), ids = at;

	at += 8 * g->nevent;
	h.attrs = (struct perf_section){ at, g->nevent * h.attr_size };
	at += h.attrs.size;
	h.data = (struct perf_section){ at, g->data.len };
	at += h.data.size + g->nfeature * sizeof(struct perf_section);
	for (uint32_t i = 0; i < g->nfeature; i++)
		h.features[g->bit[i] / 64] |= 1ull << g->bit[i] % 64;
	perfgen_put(&g->out, &h, sizeof(h));
	for (uint32_t i = 0; i < g->nevent; i++)
		perfgen_u64(&g->out, g->event[i].id);
	for (uint32_t i = 0; i < g->nevent; i++) {
		put_attr(&g->out, &g->event[i]);
		perfgen_u64(&g->out, ids + 8 * i);
		perfgen_u64(&g->out, g->event[i].id ? 8 : 0);
	}
	perfgen_put(&g->out, g->data.bytes, g->data.len);
	/* In the order of their bits. */
	for (uint32_t bit = 0; bit < 256; bit++)
		for (uint32_t i = 0; i < g->nfeature; i++)
			if (g->bit[i] == bit) {
				perfgen_u64(&g->out, at);
				perfgen_u64(&g->out, g->feature[i].len);
				at += g->feature[i].len;
			}
	for (uint32_t bit = 0; bit < 256; bit++)
		for (uint32_t i = 0; i < g->nfeature; i++)
			if (g->bit[i] == bit)
				perfgen_put(&g->out, g->feature[i].bytes, g->feature[i].len);
}

void perfgen_finish(struct perfgen *g)
{
	write_attrs(g);
	if (!g->pipe) {
		finish_file(g);
		return;
	}
	perfgen_u64(&g->out, PERF_MAGIC);
	perfgen_u64(&g->out, PERF_HEADER_PIPE);
	perfgen_put(&g->out, g->data.bytes, g->data.len);
}
