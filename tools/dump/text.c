/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c - records as lines for people. A sample: process pid/tid [cpu] time
 * period event: address function+offset (image), then its callers. What comes with
 * each sample is copied from pieces that were made once.
 */
#include <inttypes.h>

#include "common/fmt.h"
#include "common/logtext.h"
#include "dump.h"

#define SECOND_NS	1000000000ull

static void put_time(struct dump *d, uint64_t tick)
{
	uint64_t ns, second;

	if (d->raw_time) {
		outbuf_u64(&d->out, tick);
		return;
	}
	ns = hwpmc_lookup_time(d->lookup, tick);
	second = ns / SECOND_NS;
	if (second != d->second || !d->seconds.text) {
		fprintf(d->side, "%" PRIu64 ".", second);
		dump_take(d, &d->seconds);
		d->second = second;
	}
	outbuf_put(&d->out, d->seconds.text, d->seconds.len);
	outbuf_nine(&d->out, ns - second * SECOND_NS);
}

/* A name that holds a line's end, or what a terminal obeys, is to stay in its line. */
static void put_plain(FILE *f, const char *s)
{
	fmt_put_escaped(f, s, "");
}

static void make_prefix(struct dump *d, const struct hwpmc_record *r,
			const struct hwpmc_task *task)
{
	put_plain(d->side, task->info.process);
	fprintf(d->side, " %d/%d [%03d] ", r->pid, r->tid, r->cpu);
	dump_take(d, &d->prefix);
	d->task = task;
	d->cpu = r->cpu;
}

static struct dump_piece *event_piece(struct dump *d, uint32_t id)
{
	const struct hwpmc_lookup_event *e = hwpmc_lookup_event(d->lookup, id);
	struct dump_piece *piece = dump_find(&d->events, e->serial);

	if (piece)
		return piece;
	fprintf(d->side, " %" PRIu64 " ", e->period);
	put_plain(d->side, e->name);
	fputs(": ", d->side);
	return dump_make(d, &d->events, e->serial);
}

static struct dump_piece *make_place(struct dump *d, const struct hwpmc_place *p)
{
	const struct hwpmc_frame *f = &p->frame;

	if (f->image->kind == HWPMC_IMAGE_CHAIN_END) {
		fprintf(d->side, "%s", f->symbol->name);
		return dump_make(d, &d->places, p->serial);
	}
	if (f->image->kind == HWPMC_IMAGE_HIDDEN)
		fputs("hidden", d->side);
	else
		fprintf(d->side, "%" PRIx64, f->pc);
	if (f->symbol->unknown && !d->log.o.symbols.no_symbols)
		fputs(" [unknown]", d->side);
	if (!f->symbol->unknown) {
		fputc(' ', d->side);
		put_plain(d->side, f->symbol->name);
		fprintf(d->side, "+0x%" PRIx64, dump_offset(f));
	}
	fputs(" (", d->side);
	put_plain(d->side, f->image->path);
	fputc(')', d->side);
	return dump_make(d, &d->places, p->serial);
}

static void put_stack(struct dump *d, const struct hwpmc_record *r)
{
	uint32_t depth = d->log.o.depth ? d->log.o.depth : UINT32_MAX, n;
	const struct hwpmc_place *const *stack;

	stack = hwpmc_lookup_stack(d->lookup, r, depth, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct dump_piece *piece = dump_find(&d->places,
						     stack[i]->serial);

		if (!piece)
			piece = make_place(d, stack[i]);
		if (i)
			outbuf_put(&d->out, " <- ", 4);
		outbuf_put(&d->out, piece->text, piece->len);
	}
	if (!n)
		outbuf_puts(&d->out, "[no address]");
	if (r->hdr->flags & HWPMC_SAMPLE_CUT)
		outbuf_puts(&d->out, " <- [depth limit]");
	if (r->hdr->flags & HWPMC_SAMPLE_FAULT)
		outbuf_puts(&d->out, " <- [not in memory]");
}

static void put_sample(struct dump *d, const struct hwpmc_record *r)
{
	const struct hwpmc_task *task = hwpmc_lookup_task(d->lookup, r);
	struct dump_piece *event = event_piece(d, r->hdr->id);

	if (task != d->task || r->cpu != d->cpu)
		make_prefix(d, r, task);
	outbuf_put(&d->out, d->prefix.text, d->prefix.len);
	put_time(d, r->hdr->time);
	outbuf_put(&d->out, event->text, event->len);
	put_stack(d, r);
	outbuf_putc(&d->out, '\n');
}

void dump_text(struct dump *d, const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN) {
		put_sample(d, r);
		return;
	}
	outbuf_putc(&d->out, '[');
	outbuf_fixed(&d->out, r->cpu < 0 ? 0 : r->cpu, 3);
	outbuf_put(&d->out, "] ", 2);
	put_time(d, r->hdr->time);
	outbuf_putc(&d->out, ' ');
	logtext_line(d->side, r);
	dump_side(d);
}
