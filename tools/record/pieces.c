/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.c - see pieces.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/watch.h"
#include "note.h"
#include "pieces.h"

#define BLOCKS		8		/* of the time that is kept */
#define SECOND_NS	1000000000ull

struct pieces_block {
	struct pieces_block *next;
	struct pieces_buffer b;
	uint64_t began, ended;		/* watch_now() */
	uint64_t samples;
};

/* ---- options ------------------------------------------------------------- */

/* A number and one letter of `units`; value: times what the letter stands for. */
static int parse_unit(const char *arg, const char *units, const uint64_t *factor,
		      uint64_t *value)
{
	unsigned long long n;
	const char *unit;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (end == arg || errno || !n || *arg == '-')
		return -1;
	unit = *end ? strchr(units, *end) : units;
	if (!unit || (*end && end[1]) || n > UINT64_MAX / 4 / factor[unit - units])
		return -1;
	*value = n * factor[unit - units];
	return 0;
}

static const uint64_t bytes[] = { 1, 1, 1ull << 10, 1ull << 20, 1ull << 30 };
static const uint64_t times[] = { SECOND_NS, 60 * SECOND_NS, 3600 * SECOND_NS };

int pieces_parse_size(const char *arg, uint64_t *size)
{
	if (parse_unit(arg, "BbKMG", bytes, size) < 0)
		return msg_usage("invalid size '%s' (100K, 10M, 1G)", arg);
	return 0;
}

int pieces_parse_switch(struct pieces *p, const char *arg)
{
	size_t len = arg ? strlen(arg) : 0;
	bool time = len && strchr("smh", arg[len - 1]);

	if (p->kind == PIECES_RECENT)
		return msg_usage("--switch-output and --overwrite cannot be combined");
	p->kind = PIECES_SWITCH;
	if (!len || strcmp(arg, "signal") == 0)
		return 0;
	if (time ? parse_unit(arg, "smh", times, &p->period_ns) :
		   parse_unit(arg, "BbKMG", bytes, &p->size))
		return msg_usage("invalid value '%s' of --switch-output (10M, 1G, 30s, 5m, signal)",
				 arg);
	return 0;
}

int pieces_parse_recent(struct pieces *p, const char *arg)
{
	if (p->kind == PIECES_SWITCH)
		return msg_usage("--switch-output and --overwrite cannot be combined");
	p->kind = PIECES_RECENT;
	p->keep_ns = 10 * SECOND_NS;
	if (arg && parse_unit(arg, "smh", times, &p->keep_ns) < 0)
		return msg_usage("invalid time '%s' (10, 30s, 5m)", arg);
	return 0;
}

/* ---- records ------------------------------------------------------------- */

static void append(struct pieces_buffer *b, const void *data, size_t len)
{
	if (b->n + len > b->room) {
		b->room = 2 * (b->n + len);
		b->data = must_realloc(b->data, b->room, 1);
	}
	memcpy(b->data + b->n, data, len);
	b->n += len;
}

static void append_of_cpu(struct pieces_buffer *b, int32_t cpu, const struct hwpmc_log_hdr *h)
{
	struct hwpmc_log_hdr mark;

	if (b->cpu != cpu && h->type != HWPMC_LOG_INITIALIZE) {
		hwpmc_rings_mark(cpu, &mark);
		append(b, &mark, sizeof(mark));
		b->cpu = cpu;
	}
	append(b, h, h->len);
}

/* What happened at a time; all else says what there is. */
static bool is_of_time(uint8_t type)
{
	switch (type) {
	case HWPMC_LOG_CALLCHAIN:
	case HWPMC_LOG_CONTEXT:
	case HWPMC_LOG_PROCCSW:
	case HWPMC_LOG_PROCEXIT:
	case HWPMC_LOG_DROPNOTIFY:
	case HWPMC_LOG_THROTTLE:
	case HWPMC_LOG_LOSS:
	case HWPMC_LOG_PERIOD:
	case HWPMC_LOG_PRECISE:
	case HWPMC_LOG_CLOSELOG:
	case HWPMC_LOG_PADDING:
	case HWPMC_LOG_CPU:
		return true;
	default:
		return false;
	}
}

static struct pieces_cpu *cpu_of(struct pieces *p, unsigned int cpu)
{
	if (cpu >= p->ncpu) {
		p->cpu = must_realloc(p->cpu, cpu + 1, sizeof(*p->cpu));
		memset(p->cpu + p->ncpu, 0, (cpu + 1 - p->ncpu) * sizeof(*p->cpu));
		p->ncpu = cpu + 1;
	}
	return &p->cpu[cpu];
}

static struct pieces_loss *loss_of(struct pieces *p, const struct hwpmc_log_loss *r)
{
	struct pieces_loss *l = p->loss;

	for (; l < p->loss + p->nloss; l++)
		if (l->found.hdr.id == r->hdr.id && l->found.cpu == r->cpu &&
		    l->found.reason == r->reason)
			return l;
	p->loss = must_realloc(p->loss, p->nloss + 1, sizeof(*p->loss));
	l = &p->loss[p->nloss++];
	*l = (struct pieces_loss){
		.found = { .hdr.id = r->hdr.id, .cpu = r->cpu, .reason = r->reason },
	};
	return l;
}

/* Records of a loss may come in any order: rings of different CPUs have them. */
static void see_loss(struct pieces *p, unsigned int cpu, const struct hwpmc_log_loss *r)
{
	struct pieces_loss *l = loss_of(p, r);

	if (r->hdr.flags & HWPMC_LOSS_OVER) {
		l->over = r->hdr.time > l->over ? r->hdr.time : l->over;
	} else if (r->hdr.time >= l->found.hdr.time) {
		l->found = *r;
		l->cpu = cpu;
	}
}

/* Losses that go on as a log begins. */
static void write_losses(const struct pieces *p, struct sink *sink)
{
	struct pieces_buffer b = { .cpu = -1 };

	for (const struct pieces_loss *l = p->loss; l < p->loss + p->nloss; l++)
		if (l->found.hdr.time > l->over)
			append_of_cpu(&b, l->cpu, &l->found.hdr);
	sink_write(sink, b.data, b.n);
	free(b.data);
}

static struct pieces_pause *pause_of(struct pieces *p, const struct hwpmc_log_throttle *r)
{
	struct pieces_pause *pause = p->pause;

	for (; pause < p->pause + p->npause; pause++)
		if (pause->began.hdr.id == r->hdr.id && pause->began.cpu == r->cpu)
			return pause;
	p->pause = must_realloc(p->pause, p->npause + 1, sizeof(*p->pause));
	pause = &p->pause[p->npause++];
	*pause = (struct pieces_pause){ .began = *r };
	return pause;
}

static void see_pause(struct pieces *p, unsigned int cpu, const struct hwpmc_log_throttle *r)
{
	struct pieces_pause *pause = pause_of(p, r);

	if (r->hdr.flags) {
		pause->open -= !!pause->open;
		return;
	}
	pause->open++;
	pause->began = *r;
	pause->cpu = cpu;
}

/* Pauses that go on as a log begins: the part of them before it is in other logs, or overwritten. */
static void write_pauses(const struct pieces *p, struct sink *sink)
{
	struct pieces_buffer b = { .cpu = -1 };

	for (const struct pieces_pause *pause = p->pause; pause < p->pause + p->npause; pause++) {
		struct hwpmc_log_throttle began = pause->began;

		if (began.hdr.time < p->time)
			began.hdr.time = p->time;
		for (unsigned int i = 0; i < pause->open; i++)
			append_of_cpu(&b, pause->cpu, &began.hdr);
	}
	sink_write(sink, b.data, b.n);
	free(b.data);
}

/* Pauses that go on at the end of a log: the next one begins with them. */
static void see_what_goes_on(struct pieces *p, unsigned int cpu, const struct hwpmc_log_hdr *h)
{
	if (h->type == HWPMC_LOG_LOSS)
		see_loss(p, cpu, (const void *)h);
	if (h->type == HWPMC_LOG_THROTTLE)
		see_pause(p, cpu, (const void *)h);
	if (h->time > p->time)
		p->time = h->time;
}

/* ---- the last seconds ---------------------------------------------------- */

static void new_block(struct pieces *p)
{
	struct pieces_block *b = must_calloc(1, sizeof(*b));

	b->began = b->ended = watch_now();
	b->b.cpu = -1;
	if (p->last)
		p->last->next = b;
	else
		p->first = b;
	p->last = b;
	p->serial++;
}

static void see_block(struct pieces *p, const struct pieces_block *b)
{
	const struct hwpmc_log_hdr *h;
	unsigned int cpu = 0;

	for (size_t at = 0; at < b->b.n; at += h->len) {
		h = (const void *)(b->b.data + at);
		if (h->type == HWPMC_LOG_CPU)
			cpu = h->id;
		see_what_goes_on(p, cpu, h);
	}
}

static void free_block(struct pieces_block *b)
{
	free(b->b.data);
	free(b);
}

/* Blocks that are older than what is kept. */
static void forget_blocks(struct pieces *p, uint64_t now)
{
	while (p->first != p->last && now - p->first->ended > p->keep_ns) {
		struct pieces_block *b = p->first;

		p->first = b->next;
		p->overwritten += b->samples;
		see_block(p, b);
		free_block(b);
	}
}

static void keep_record(struct pieces *p, unsigned int cpu, const struct hwpmc_log_hdr *h)
{
	struct pieces_cpu *c = cpu_of(p, cpu);

	if (h->type == HWPMC_LOG_CLOSELOG)
		return;
	/* A block may be the first of a log. */
	if (h->type == HWPMC_LOG_CALLCHAIN && c->block != p->serial && c->context.hdr.len)
		append_of_cpu(&p->last->b, cpu, &c->context.hdr);
	if (h->type == HWPMC_LOG_CALLCHAIN || h->type == HWPMC_LOG_CONTEXT)
		c->block = p->serial;
	append_of_cpu(&p->last->b, cpu, h);
	p->last->samples += h->type == HWPMC_LOG_CALLCHAIN;
}

static void write_close(struct sink *sink)
{
	struct hwpmc_log_hdr end = {
		.len = sizeof(end), .type = HWPMC_LOG_CLOSELOG,
	};

	sink_write(sink, &end, sizeof(end));
}

static void write_recent(const struct pieces *p, struct sink *sink)
{
	char n[32];

	sink_write(sink, p->head.data, p->head.n);
	write_losses(p, sink);
	write_pauses(p, sink);
	for (struct pieces_block *b = p->first; b; b = b->next)
		sink_write(sink, b->b.data, b->b.n);
	snprintf(n, sizeof(n), "%" PRIu64, p->overwritten);
	if (p->overwritten)
		sink_note(sink, 0, "overwritten", n);
	write_close(sink);
}

/* ---- pieces -------------------------------------------------------------- */

static int open_piece(struct pieces *p, struct sink *sink, bool numbered, char *err,
		      size_t size)
{
	char name[4096];

	if (numbered)
		snprintf(name, sizeof(name), "%s.%04u", p->output, p->n + 1);
	else
		snprintf(name, sizeof(name), "%s", p->output);
	free(p->name);
	p->name = must_strdup(name);
	p->began = watch_now();
	return sink_open(sink, p->name, p->level, err, size);
}

int pieces_open(struct pieces *p, struct sink *sink, const char *output, int level,
		char *err, size_t size)
{
	p->sink = sink;
	p->output = output;
	p->level = level;
	p->head.cpu = -1;
	if (p->kind == PIECES_RECENT)
		new_block(p);
	return open_piece(p, sink, p->kind == PIECES_SWITCH, err, size);
}

static void see_record(struct pieces *p, unsigned int cpu, const struct hwpmc_log_hdr *h)
{
	if (!is_of_time(h->type))
		append_of_cpu(&p->head, cpu, h);
	else if (p->kind == PIECES_RECENT)
		keep_record(p, cpu, h);
	if (p->kind == PIECES_SWITCH)
		see_what_goes_on(p, cpu, h);
	if (h->type == HWPMC_LOG_CONTEXT)
		cpu_of(p, cpu)->context = *(const struct hwpmc_log_context *)h;
}

void pieces_take(struct pieces *p, unsigned int cpu, const void *data, size_t len)
{
	const struct hwpmc_log_hdr *h = data;
	bool begins = h->type == HWPMC_LOG_INITIALIZE;
	struct hwpmc_log_hdr mark;

	for (const char *at = data, *end = at + len; at < end; at += h->len) {
		h = (const void *)at;
		see_record(p, cpu, h);
		/* pieces_end() writes it behind the other rings. */
		if (h->type == HWPMC_LOG_CLOSELOG) {
			len = at - (const char *)data;
			p->closed = true;
		}
	}
	if (p->kind != PIECES_SWITCH)
		return;
	if (!begins) {
		hwpmc_rings_mark(cpu, &mark);
		sink_write(p->sink, &mark, sizeof(mark));
	}
	sink_write(p->sink, data, len);
}

void pieces_note(struct pieces *p, uint32_t id, const char *key, const char *value)
{
	union note n;
	size_t len = note_fill(&n, id, key, value);

	append(&p->head, &n, len);
	if (p->kind == PIECES_SWITCH)
		sink_write(p->sink, &n, len);
}

/* Complete, and named. */
static int end_piece(struct pieces *p)
{
	write_close(p->sink);
	p->n++;
	p->bytes += p->sink->bytes;
	if (sink_close(p->sink) == 0)
		return 0;
	msg("cannot write '%s': %s", p->name, strerror(errno));
	return -1;
}

/* The thread of each CPU too, whose samples may be the first. */
static void begin_piece(struct pieces *p)
{
	struct pieces_buffer b = { .cpu = -1 };

	sink_write(p->sink, p->head.data, p->head.n);
	for (unsigned int cpu = 0; cpu < p->ncpu; cpu++)
		if (p->cpu[cpu].context.hdr.len)
			append_of_cpu(&b, cpu, &p->cpu[cpu].context.hdr);
	sink_write(p->sink, b.data, b.n);
	free(b.data);
	write_losses(p, p->sink);
	write_pauses(p, p->sink);
}

static int next_piece(struct pieces *p)
{
	int stop_fd = p->sink->stop_fd;
	char err[600];

	if (end_piece(p) < 0)
		return -1;
	if (open_piece(p, p->sink, true, err, sizeof(err)) < 0) {
		msg("%s", err);
		return -1;
	}
	p->sink->stop_fd = stop_fd;
	begin_piece(p);
	return 0;
}

/* What there was lately, in a log of its own; that of the end is still to come. */
static int write_apart(struct pieces *p)
{
	char *name = p->name;
	struct sink sink;
	char err[600];
	int rc = -1;

	p->name = NULL;
	if (open_piece(p, &sink, true, err, sizeof(err)) < 0) {
		msg("%s", err);
	} else {
		write_recent(p, &sink);
		rc = sink_close(&sink);
		if (rc < 0)
			msg("cannot write '%s': %s", p->name, strerror(errno));
		p->n += !rc;
	}
	free(p->name);
	p->name = name;
	return rc;
}

int pieces_tick(struct pieces *p, bool now_please)
{
	uint64_t now = watch_now();

	if (p->kind == PIECES_RECENT) {
		p->last->ended = now;
		if (now - p->last->began >= p->keep_ns / BLOCKS)
			new_block(p);
		forget_blocks(p, now);
	}
	if (p->kind == PIECES_SWITCH)
		now_please |= (p->size && p->sink->bytes >= p->size) ||
			      (p->period_ns && now - p->began >= p->period_ns);
	if (!now_please || p->kind == PIECES_NONE)
		return 0;
	return p->kind == PIECES_RECENT ? write_apart(p) : next_piece(p);
}

void pieces_end(struct pieces *p)
{
	if (p->kind == PIECES_RECENT)
		write_recent(p, p->sink);
	else if (p->closed)
		write_close(p->sink);
	p->n++;
	p->bytes += p->sink->bytes;
}

void pieces_free(struct pieces *p)
{
	struct pieces_block *next;

	for (struct pieces_block *b = p->first; b; b = next) {
		next = b->next;
		free_block(b);
	}
	free(p->head.data);
	free(p->cpu);
	free(p->loss);
	free(p->pause);
	free(p->name);
}
