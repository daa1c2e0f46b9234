/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c - call trees: callers above callees, or, upside down, under each
 * function its callers; of everything, or of one function. Recursion shows as it
 * is. In each form what ends at the nodes adds up to the samples of the event.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byevent.h"
#include "common/fmt.h"
#include "common/msg.h"
#include "common/symname.h"
#include "branches.h"
#include "report.h"
#include "rows.h"

/* A node, or the sum of some that have none: below the limit, without the function. */
struct row {
	const struct hwpmc_symbol *symbol;	/* NULL: a sum */
	const char *what;		/* of a sum */
	uint64_t count, self;
	unsigned int depth;
};

struct printing {
	const struct report *r;
	const struct branches *tree;
	const struct hwpmc_profile_event *ev;
	FILE *f;
	struct rows *rows;		/* NULL: a terminal, or no text */
};

/* ---- one function -------------------------------------------------------- */

static bool is_function(const struct report *r, const struct hwpmc_frame *f)
{
	return hwpmc_symbol_is(f->symbol, r->function);
}

/*
 * The part of a stack that a function's tree has: of callers what is around its
 * innermost call, of callees what is within its outermost one. Each stack counts once.
 */
static bool stack_cut(const struct report *r, struct hwpmc_stack *s)
{
	uint32_t i = 0, n = s->nframe;

	if (r->view == REPORT_CALLEES) {
		while (n && !is_function(r, s->frame[n - 1]))
			n--;
		s->nframe = n;
		return n != 0;
	}
	while (i < n && !is_function(r, s->frame[i]))
		i++;
	s->frame += i;
	s->nframe -= i;
	return i < n;
}

/* The samples of the event whose stacks have no such function. */
static uint64_t make_tree(const struct report *r, struct branches *t,
			  const struct by_event *stacks, uint32_t event)
{
	uint64_t without = 0;

	for (uint32_t i = 0; i < by_event_count(stacks, event); i++) {
		struct hwpmc_stack s = *by_event_get(stacks, event, i);

		if (r->function && !stack_cut(r, &s))
			without += s.count;
		else
			branches_add(t, &s);
	}
	branches_sort(t);
	return without;
}

/* ---- forms --------------------------------------------------------------- */

static const char *symbol_of(const struct row *row)
{
	return row->symbol ? row->symbol->name : row->what;
}

static const char *image_of(const struct row *row)
{
	return row->symbol ? row->symbol->image->name : "";
}

/* What a row begins with, before the indentation. */
#define TREE_FIGURES	30

/* What the figures, the indentation and the image leave of a line. */
static const char *shown_symbol(const struct printing *p, const struct row *row,
				char buf[SYMNAME])
{
	const struct pager *out = &p->r->out;
	unsigned int used = TREE_FIGURES + 2 + 2 * row->depth;

	if (!out->terminal || !row->symbol)
		return symbol_of(row);
	return symname_show(buf, symbol_of(row), symname_room(out->columns,
			    used + 2 + strlen(image_of(row))));
}

/* Names are as long as the rest of the line, which the depth decides. */
static void print_on_terminal(const struct printing *p, const struct row *row)
{
	double percent = report_percent(row->count, p->ev->samples);
	char text[4 * FMT_NUMBER], *at = fmt_percent(text, percent), name[SYMNAME];

	*at++ = '%';
	*at++ = ' ';
	at = fmt_right(at, row->count, 10);
	*at++ = ' ';
	at = fmt_right(at, row->self, 10);
	pager_heat(&p->r->out, percent);
	fwrite_unlocked(text, 1, at - text, p->f);
	pager_plain(&p->r->out);
	fmt_put_blanks(p->f, 2 + 2 * row->depth);
	fmt_put_plain(p->f, shown_symbol(p, row, name), 0);
	fputs_unlocked(row->symbol ? "  " : "", p->f);
	fmt_put_plain(p->f, image_of(row), 0);
	putc_unlocked('\n', p->f);
}

static void print_text(const struct printing *p, const struct row *row)
{
	if (p->rows)
		rows_put(p->rows, row->count, row->self, row->depth, row->symbol, row->what);
	else
		print_on_terminal(p, row);
}

static void print_csv(const struct printing *p, const struct row *row)
{
	fmt_csv_field(p->f, p->ev->name);
	fprintf(p->f, ",%u,%" PRIu64 ",%" PRIu64 ",%.4f,", row->depth, row->count,
		row->self, report_percent(row->count, p->ev->samples));
	fmt_csv_field(p->f, image_of(row));
	fputc(',', p->f);
	fmt_csv_field(p->f, symbol_of(row));
	fputc('\n', p->f);
}

/* Left open, for the children. */
static void print_json(const struct printing *p, const struct row *row)
{
	fprintf(p->f, "{\"samples\":%" PRIu64 ",\"self\":%" PRIu64
		",\"percent\":%.4f,", row->count, row->self,
		report_percent(row->count, p->ev->samples));
	if (row->symbol) {
		fputs("\"image\":", p->f);
		fmt_json_string(p->f, image_of(row));
		fputs(",\"symbol\":", p->f);
	} else {
		fputs("\"symbol\":null,\"what\":", p->f);
	}
	fmt_json_string(p->f, symbol_of(row));
	fputs(row->symbol && row->symbol->made_up ? ",\"made_up\":true" : "", p->f);
}

static void print_row(const struct printing *p, const struct row *row)
{
	if (p->r->format == REPORT_JSON)
		print_json(p, row);
	else if (p->r->format == REPORT_CSV)
		print_csv(p, row);
	else
		print_text(p, row);
}

/* ---- trees --------------------------------------------------------------- */

/* What JSON needs between rows and around the children of one. */
static void put_punctuation(const struct printing *p, const char *text)
{
	if (p->r->format == REPORT_JSON)
		fputs(text, p->f);
}

static void print_sum(const struct printing *p, uint64_t count,
		      const char *what, unsigned int depth, bool first)
{
	struct row row = { NULL, what, count, count, depth };

	if (!count)
		return;
	put_punctuation(p, first ? "" : ",");
	print_row(p, &row);
	put_punctuation(p, "}");
}

/* Frames of a branch that no other stack has: each calls the next one alone. */
static void print_tail(const struct printing *p, const struct branch *parent,
		       unsigned int depth)
{
	uint64_t count = parent->count - parent->self;
	uint32_t n = parent->ntail;

	put_punctuation(p, ",\"children\":[");
	if (report_is_small(p->r, count, p->ev->samples)) {
		print_sum(p, count, "(functions below --limit)", depth, true);
		put_punctuation(p, "]");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct row row = {
			.symbol = branches_tail(p->tree, parent, i)->symbol,
			.count = count, .self = i + 1 < n ? 0 : count, .depth = depth + i,
		};

		print_row(p, &row);
		put_punctuation(p, ",\"children\":[");
	}
	put_punctuation(p, "]");
	for (uint32_t i = 0; i < n; i++)
		put_punctuation(p, "}]");
}

/* The most have come first: what is small has only small ones behind it. */
static void print_children(const struct printing *p,
			   const struct branch *parent, unsigned int depth,
			   uint64_t without)
{
	const struct branch *n;
	uint64_t rest = 0;

	if (parent->ntail) {
		print_tail(p, parent, depth);
		return;
	}
	put_punctuation(p, ",\"children\":[");
	for (n = parent->child; n; n = n->next) {
		struct row row = { n->symbol, NULL, n->count, n->self, depth };

		if (report_is_small(p->r, n->count, p->ev->samples))
			break;
		put_punctuation(p, n == parent->child ? "" : ",");
		print_row(p, &row);
		print_children(p, n, depth + 1, 0);
		put_punctuation(p, "}");
	}
	for (const struct branch *m = n; m; m = m->next)
		rest += m->count;
	print_sum(p, rest, "(functions below --limit)", depth,
		  n == parent->child);
	print_sum(p, without, "(stacks without it)", depth, !parent->child);
	put_punctuation(p, "]");
}

static void print_event_head(const struct printing *p)
{
	if (p->r->format == REPORT_JSON) {
		fputs("{\"event\":", p->f);
		fmt_json_string(p->f, p->ev->name);
		fprintf(p->f, ",\"period\":%" PRIu64 ",\"samples\":%" PRIu64,
			p->ev->period, p->ev->samples);
		if (logopts_has_rate(p->ev))
			fprintf(p->f, ",\"frequency\":%" PRIu64, p->ev->frequency);
		if (p->ev->frequency)
			fprintf(p->f, ",\"taken\":%" PRIu64, p->ev->taken);
	} else if (p->r->format == REPORT_TEXT) {
		report_head(p->r, p->ev);
		fprintf(p->f, "# percent    %7s  ends here  function\n",
			logopts_unit(p->ev));
	}
}

void report_tree(const struct report *r)
{
	const struct hwpmc_profile_event *ev;
	struct by_event stacks;
	uint32_t n;

	ev = hwpmc_profile_events(r->profile, &n);
	by_event_of(&stacks, r->profile);
	if (r->format == REPORT_CSV)
		fputs("event,depth,samples,self,percent,image,symbol\n", r->out.f);
	if (!n && r->format == REPORT_TEXT)
		fputs("# nothing was sampled in this log\n", r->out.f);
	for (uint32_t e = 0; e < n; e++) {
		struct branches tree = { .callees = r->view != REPORT_CALLERS };
		struct printing p = { r, &tree, &ev[e], r->out.f, NULL };
		uint64_t without = make_tree(r, &tree, &stacks, e);

		if (e && r->format == REPORT_TEXT)
			fputc('\n', p.f);
		print_event_head(&p);
		if (r->format == REPORT_TEXT && !r->out.terminal)
			p.rows = rows_begin(&r->out, ev[e].samples);
		print_children(&p, &tree.root, 0, without);
		rows_end(p.rows);
		put_punctuation(&p, "}\n");
		branches_clear(&tree);
	}
	by_event_free(&stacks);
	if (r->format == REPORT_TEXT)
		report_problems(r->out.f, r->profile,
				r->log.o.symbols.inlines);
}

int report_tree_check(const struct report *r)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(r->profile, &n);
	for (uint32_t i = 0; r->function && i < n; i++)
		for (uint32_t j = 0; j < stack[i].nframe; j++)
			if (is_function(r, stack[i].frame[j]))
				return 0;
	if (!r->function)
		return 0;
	msg("no sample has a function '%s' on its stack; see: hwpmc report -i %s",
	    r->function, r->log.input);
	return EXIT_FAILED;
}
