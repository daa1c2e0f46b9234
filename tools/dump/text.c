/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c - records as lines for people. A sample: name of the thread pid/tid [cpu] time
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
	uint64_t ns;

	if (d->raw_time) {
		outbuf_u64(&d->out, tick);
		return;
	}
	ns = hwpmc_lookup_time(d->lookup, tick);
	outbuf_u64(&d->out, ns / SECOND_NS);
	outbuf_putc(&d->out, '.');
	outbuf_nine(&d->out, ns % SECOND_NS);
}

/* A name that holds a line's end, or what a terminal obeys, is to stay in its line. */
static void put_plain(FILE *f, const char *s)
{
	fmt_put_escaped(f, s, "");
}

/* With the seconds of its time. */
__attribute__((noinline))
static void make_prefix(struct dump *d, const struct hwpmc_record *r,
			const struct hwpmc_task *task, uint64_t ns)
{
	put_plain(d->side, task->info.comm);
	if (r->cpu < 0)
		fprintf(d->side, " %d/%d [---] ", r->pid, r->tid);
	else
		fprintf(d->side, " %d/%d [%03d] ", r->pid, r->tid, r->cpu);
	if (!d->raw_time)
		fprintf(d->side, "%" PRIu64 ".", (uint64_t)(ns / SECOND_NS));
	dump_take(d, &d->prefix);
	d->task = task;
	d->cpu = r->cpu;
	d->second = ns - ns % SECOND_NS;
}

static void write_event(struct dump *d, const struct hwpmc_lookup_event *e, uint64_t period)
{
	fprintf(d->side, " %" PRIu64 " ", period);
	put_plain(d->side, e->name);
	fputs(": ", d->side);
}

static struct dump_piece *event_piece(struct dump *d, uint32_t id)
{
	const struct hwpmc_lookup_event *e = hwpmc_lookup_event(d->lookup, id);
	struct dump_piece *piece = dump_find(&d->events, e->serial);

	if (piece)
		return piece;
	write_event(d, e, e->period);
	return dump_make(d, &d->events, e->serial);
}

/* Of the event of the sample before, mostly. */
static inline const struct dump_piece *event_of(struct dump *d, uint32_t id)
{
	if (!d->event || d->event_id != id) {
		d->event_piece = *event_piece(d, id);
		d->event = hwpmc_lookup_event(d->lookup, id);
		d->event_id = id;
	}
	return &d->event_piece;
}

/* Of an event whose samples have periods of their own. */
static const struct dump_piece *own_piece(struct dump *d, const struct hwpmc_record *r)
{
	write_event(d, hwpmc_lookup_event(d->lookup, r->hdr->id), r->period);
	dump_take(d, &d->own);
	return &d->own;
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
	dump_doubt(d, f->image);
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
	if (!(r->hdr->flags & (HWPMC_SAMPLE_CUT | HWPMC_SAMPLE_FAULT)))
		return;
	if (r->hdr->flags & HWPMC_SAMPLE_CUT)
		outbuf_puts(&d->out, " <- [depth limit]");
	if (r->hdr->flags & HWPMC_SAMPLE_FAULT)
		outbuf_puts(&d->out, " <- [not in memory]");
}

/* ---- samples: nearly all lines ------------------------------------------- */

/* All of them have no more of these, or are put slowly. */
#define PREFIX		48
#define LINE		(PREFIX + 16 + PREFIX + DUMP_PIECE + 16)

/* The thread of the sample before, which ran the same program. */
static inline bool in_span(const struct dump *d, const struct hwpmc_record *r)
{
	return d->pid == r->pid && d->tid == r->tid && r->hdr->time >= d->from &&
	       r->hdr->time < d->until;
}

__attribute__((noinline))
static void begin_line(struct dump *d, const struct hwpmc_record *r, uint64_t ns)
{
	const struct hwpmc_task *task = hwpmc_lookup_span(d->lookup, r, &d->from,
							  &d->until);

	d->pid = r->pid;
	d->tid = r->tid;
	if (task != d->task || r->cpu != d->cpu || ns - d->second >= SECOND_NS)
		make_prefix(d, r, task, ns);
}

static inline struct dump_spot *spot_of(struct dump *d, uint64_t pc)
{
	return &d->spot[(pc ^ d->from) * 0x9e3779b97f4a7c15ull >> 52 & (DUMP_SPOTS - 1)];
}

__attribute__((noinline))
static void fill_spot(struct dump *d, const struct hwpmc_record *r,
		      struct dump_spot *spot, uint32_t kind)
{
	const struct hwpmc_place *place;
	struct dump_piece *piece;
	uint32_t n;

	place = *hwpmc_lookup_stack(d->lookup, r, 1, &n);
	piece = dump_find(&d->places, place->serial);
	if (!piece)
		piece = make_place(d, place);
	*spot = (struct dump_spot){
		.pc = r->sample->pc[0], .task = d->task, .from = d->from,
		.kind = kind, .len = piece->len, .text = piece->text,
	};
}

/* What the address of a sample without callers is; NULL: it is to be put slowly. */
static inline const struct dump_spot *spot_for(struct dump *d,
					       const struct hwpmc_record *r)
{
	uint32_t flags = r->hdr->flags, kind = d->changes | flags;
	struct dump_spot *spot;

	/* Before the first program of its process it has no span of its own. */
	if (r->npc != 1 || flags & ~HWPMC_SAMPLE_USER || r->hdr->time < d->from)
		return NULL;
	spot = spot_of(d, r->sample->pc[0]);
	if (spot->pc != r->sample->pc[0] || spot->task != d->task ||
	    spot->from != d->from || spot->kind != kind)
		fill_spot(d, r, spot, kind);
	return spot->len <= DUMP_PIECE ? spot : NULL;
}

static void put_slowly(struct dump *d, const struct hwpmc_record *r, uint64_t ns,
		       const struct dump_piece *event, bool exact)
{
	outbuf_put(&d->out, d->prefix.text, d->prefix.len);
	if (d->raw_time)
		outbuf_u64(&d->out, r->hdr->time);
	else
		outbuf_nine(&d->out, ns - d->second);
	outbuf_put(&d->out, event->text, event->len);
	put_stack(d, r);
	if (exact)
		outbuf_puts(&d->out, " [exact]");
	outbuf_putc(&d->out, '\n');
}

static void put_sample(struct dump *d, const struct hwpmc_record *r)
{
	uint64_t ns = d->raw_time ? 0 : hwpmc_lookup_time(d->lookup, r->hdr->time);
	const struct dump_piece *event = r->period ? own_piece(d, r) : event_of(d, r->hdr->id);
	bool exact = dump_is_exact(d, r->period ? hwpmc_lookup_event(d->lookup, r->hdr->id) :
				   d->event, r);
	const struct dump_spot *spot;
	char *at;

	if (!in_span(d, r) || r->cpu != d->cpu || ns - d->second >= SECOND_NS)
		begin_line(d, r, ns);
	spot = spot_for(d, r);
	if (!spot || exact || d->raw_time || d->prefix.len > PREFIX || event->len > PREFIX) {
		put_slowly(d, r, ns, event, exact);
		return;
	}
	at = outbuf_reserve(&d->out, LINE);
	at = outbuf_put_at(at, d->prefix.text, d->prefix.len, PREFIX);
	at = outbuf_nine_at(at, ns - d->second);
	at = outbuf_put_at(at, event->text, event->len, PREFIX);
	at = outbuf_put_at(at, spot->text, spot->len, DUMP_PIECE);
	*at++ = '\n';
	d->out.at = at;
}

/* "loss: CPU 1 may lack events of cycles since 11.123456789: the host took the counter ..." */
static void put_loss(struct dump *d, const struct hwpmc_record *r)
{
	const struct hwpmc_log_loss *loss = r->loss;
	char why[LOGTEXT_LOSS];

	logtext_loss(why, sizeof(why), loss);
	if (loss->hdr.flags & HWPMC_LOSS_OVER)
		fprintf(d->side, "loss: CPU %u counts ", loss->cpu);
	else
		fprintf(d->side, "loss: CPU %u may lack events of ", loss->cpu);
	put_plain(d->side, hwpmc_lookup_event(d->lookup, loss->hdr.id)->name);
	fputs(loss->hdr.flags & HWPMC_LOSS_OVER ? " again; events may be missing since " :
	      " since ", d->side);
	dump_side(d);
	put_time(d, loss->since);
	fprintf(d->side, ": %s\n", why);
	dump_side(d);
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
	if (r->hdr->type == HWPMC_LOG_LOSS) {
		put_loss(d, r);
		return;
	}
	logtext_named_line(d->side, r);
	dump_side(d);
}
