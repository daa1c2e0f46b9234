/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flat.c - samples by process, thread and its name, image, function, line, address and kind of core: of
 * what they hit, or with --children of all that was on the stack.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/symname.h"
#include "report.h"

static const char *const key_words[REPORT_KEYS] = {
	"process", "pid", "thread", "image", "symbol", "line", "address",
	"kind", "cpu", "comm",
};

/* What perf calls them. */
static const struct {
	const char *word;
	enum report_key key;
} perf_words[] = {
	{ "tid", REPORT_THREAD }, { "dso", REPORT_IMAGE }, { "sym", REPORT_SYMBOL },
	{ "srcline", REPORT_LINE },
};

int report_key(const char *word)
{
	for (unsigned int i = 0; i < sizeof(perf_words) / sizeof(*perf_words); i++)
		if (strcmp(word, perf_words[i].word) == 0)
			return perf_words[i].key;
	for (int i = 0; i < REPORT_KEYS; i++)
		if (strcmp(word, key_words[i]) == 0)
			return i;
	return -1;
}

/* A line: the keys' values of a stack, and the samples of all that have them. */
struct line {
	const struct hwpmc_stack *stack;
	const struct hwpmc_frame *frame;	/* of it */
	uint64_t count, self;		/* self: of count, that hit the frame itself */
	const char *file;		/* of the source; NULL: not known, or not
					 * asked for */
	unsigned int number;
};

static const struct report *sorting;	/* for qsort() */

/* The same string mostly is the same pointer. */
static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	return !a ? -1 : !b ? 1 : strcmp(a, b);
}

static int compare_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_line(const struct line *a, const struct line *b)
{
	int d = compare_text(a->file, b->file);

	return d ? d : compare_number(a->number, b->number);
}

/* Addresses are the images' own: the same in two images is not the same. */
static int compare_address(const struct hwpmc_frame *a,
			   const struct hwpmc_frame *b)
{
	int d = compare_text(a->image->path, b->image->path);

	return d ? d : compare_number(a->addr, b->addr);
}

static int compare_key(enum report_key key, const struct line *x,
		       const struct line *y)
{
	const struct hwpmc_stack *a = x->stack, *b = y->stack;

	switch (key) {
	case REPORT_PROCESS:
		return compare_text(a->thread->process, b->thread->process);
	case REPORT_COMM:
		return compare_text(a->thread->comm, b->thread->comm);
	case REPORT_PID:
		return compare_number(a->thread->pid, b->thread->pid);
	case REPORT_THREAD:
		return compare_number(a->thread->tid, b->thread->tid);
	case REPORT_IMAGE:
		return compare_text(x->frame->image->path,
				    y->frame->image->path);
	case REPORT_LINE:
		return compare_line(x, y);
	case REPORT_ADDRESS:
		return compare_address(x->frame, y->frame);
	case REPORT_KIND:
		return compare_number(a->kind, b->kind);
	case REPORT_CPU:
		return compare_number((uint32_t)a->cpu, (uint32_t)b->cpu);
	default:
		return compare_number((uintptr_t)x->frame->symbol,
				      (uintptr_t)y->frame->symbol);
	}
}

static int same_keys(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int d = (x->stack->event > y->stack->event) -
		(x->stack->event < y->stack->event);

	for (unsigned int i = 0; !d && i < sorting->nkey; i++)
		d = compare_key(sorting->key[i], x, y);
	return d;
}

/* By what was printed last, so that two reports of one log are the same. */
static int by_place(const struct line *x, const struct line *y)
{
	const struct hwpmc_frame *a = x->frame;
	const struct hwpmc_frame *b = y->frame;
	int d = strcmp(a->symbol->name, b->symbol->name);

	if (!d)
		d = compare_line(x, y);
	if (!d)
		d = compare_address(a, b);
	if (!d)
		d = compare_number(x->stack->thread->tid, y->stack->thread->tid);
	if (!d)
		d = strcmp(x->stack->thread->comm, y->stack->thread->comm);
	if (!d)
		d = compare_number((uint32_t)x->stack->cpu, (uint32_t)y->stack->cpu);
	return d ? d : compare_number(x->stack->kind, y->stack->kind);
}

static int most_first(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->stack->event != y->stack->event)
		return x->stack->event < y->stack->event ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_place(x, y);
}

static bool has_key(const struct report *r, enum report_key key)
{
	for (unsigned int i = 0; i < r->nkey; i++)
		if (r->key[i] == key)
			return true;
	return false;
}

static void find_line(const struct report *r, struct line *l)
{
	if (hwpmc_frame_line(r->profile, l->frame, &l->file,
			     &l->number) > 0)
		return;
	l->file = NULL;
	l->number = 0;
}

/* The frames of a stack that lines are made of. */
static uint32_t frames_of(const struct report *r, const struct hwpmc_stack *stack)
{
	return r->children ? stack->nframe : 1;
}

/* ---- a line by its keys --------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = mix(h, (unsigned char)*text);
	return h;
}

static uint64_t mix_key(uint64_t h, enum report_key key, const struct line *l)
{
	switch (key) {
	case REPORT_PROCESS:
		return mix_text(h, l->stack->thread->process);
	case REPORT_COMM:
		return mix_text(h, l->stack->thread->comm);
	case REPORT_PID:
		return mix(h, l->stack->thread->pid);
	case REPORT_THREAD:
		return mix(h, l->stack->thread->tid);
	case REPORT_IMAGE:
		return mix_text(h, l->frame->image->path);
	case REPORT_LINE:
		return mix(mix_text(h, l->file), l->number);
	case REPORT_ADDRESS:
		return mix(mix_text(h, l->frame->image->path), l->frame->addr);
	case REPORT_KIND:
		return mix(h, l->stack->kind);
	case REPORT_CPU:
		return mix(h, l->stack->cpu);
	default:
		return mix(h, (uintptr_t)l->frame->symbol);
	}
}

/* The line of a frame of stacks that are like this one: but for frames, in all keys. */
struct memo {
	const struct hwpmc_frame *frame;
	const struct hwpmc_stack *like;
	uint32_t line;
};

#define MEMO_BITS	12
#define LIKE_BITS	8

struct lines {
	const struct report *r;
	struct line *line;
	const struct hwpmc_stack **last;	/* that each line has counted */
	uint32_t n, room;
	uint32_t *slot;			/* number of a line + 1; 0: free */
	uint32_t nslot;			/* a power of two */
	struct memo *memo;		/* lines of the frames that came last */
	const struct hwpmc_stack **like;	/* stacks that others are like */
	bool by_line;
};

static void enter(struct lines *all, uint32_t i)
{
	const struct line *l = &all->line[i];
	uint64_t h = l->stack->event;

	for (unsigned int k = 0; k < all->r->nkey; k++)
		h = mix_key(h, all->r->key[k], l);
	for (h &= all->nslot - 1; all->slot[h]; h = (h + 1) & (all->nslot - 1))
		;
	all->slot[h] = i + 1;
}

static void grow(struct lines *all)
{
	all->room = all->room ? 2 * all->room : 64;
	all->line = must_realloc(all->line, all->room, sizeof(*all->line));
	all->last = must_realloc(all->last, all->room, sizeof(*all->last));
	free(all->slot);
	all->nslot = 2 * all->room;
	all->slot = must_calloc(all->nslot, sizeof(*all->slot));
	for (uint32_t i = 0; i < all->n; i++)
		enter(all, i);
}

static uint32_t line_of(struct lines *all, const struct line *new)
{
	uint64_t h = new->stack->event;

	for (unsigned int k = 0; k < all->r->nkey; k++)
		h = mix_key(h, all->r->key[k], new);
	if (all->n == all->room)
		grow(all);
	for (h &= all->nslot - 1; all->slot[h]; h = (h + 1) & (all->nslot - 1))
		if (!same_keys(&all->line[all->slot[h] - 1], new))
			return all->slot[h] - 1;
	all->line[all->n] = *new;
	all->last[all->n] = NULL;
	all->slot[h] = all->n + 1;
	return all->n++;
}

static bool is_like(const struct hwpmc_stack *a, const struct hwpmc_stack *b)
{
	return a && a->thread == b->thread && a->event == b->event && a->cpu == b->cpu &&
	       a->kind == b->kind;
}

static const struct hwpmc_stack *stack_like(struct lines *all, const struct hwpmc_stack *s)
{
	uint64_t h = mix(mix((uintptr_t)s->thread, s->event), (uint32_t)s->cpu);
	const struct hwpmc_stack **like = &all->like[h & ((1u << LIKE_BITS) - 1)];

	if (!is_like(*like, s))
		*like = s;
	return *like;
}

/* Most frames are those of stacks before. */
static inline uint32_t line_of_frame(struct lines *all, const struct hwpmc_stack *like,
				     const struct hwpmc_frame *frame)
{
	uint64_t h = (uintptr_t)frame * 0x9e3779b97f4a7c15ull;
	struct memo *m = &all->memo[h >> (64 - MEMO_BITS)];
	struct line new = { .stack = like, .frame = frame };

	if (m->frame == frame && m->like == like)
		return m->line;
	if (all->by_line)
		find_line(all->r, &new);
	*m = (struct memo){ frame, like, line_of(all, &new) };
	return m->line;
}

/* A recursion is several frames of one stack, whose samples count once. */
static void count_stack(struct lines *all, const struct hwpmc_stack *s)
{
	const struct hwpmc_stack *like = stack_like(all, s);
	uint32_t n = frames_of(all->r, s);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = line_of_frame(all, like, s->frame[i]);

		if (!i)
			all->line[at].self += s->count;
		if (all->last[at] == s)
			continue;
		all->last[at] = s;
		all->line[at].count += s->count;
	}
}

static struct line *make_lines(const struct report *r, uint32_t *n)
{
	struct lines all = { .r = r, .by_line = has_key(r, REPORT_LINE) };
	const struct hwpmc_stack *stack;
	uint32_t nstack;

	stack = hwpmc_profile_stacks(r->profile, &nstack);
	sorting = r;
	all.memo = must_calloc(1u << MEMO_BITS, sizeof(*all.memo));
	all.like = must_calloc(1u << LIKE_BITS, sizeof(*all.like));
	for (uint32_t i = 0; i < nstack; i++)
		count_stack(&all, &stack[i]);
	free(all.memo);
	free(all.like);
	free(all.last);
	free(all.slot);
	*n = all.n;
	if (*n)
		qsort(all.line, *n, sizeof(*all.line), most_first);
	return all.line;
}

/* ---- lines --------------------------------------------------------------- */

#define KEY_WIDTH	20		/* of all but the last */
#define KEY_TEXT	(4096 + 16)	/* a path and a line */

/* Whole, in buf or not: names of C++ are longer than one thinks. */
static const char *key_text(char buf[KEY_TEXT], enum report_key key,
			    const struct line *l)
{
	const struct hwpmc_frame *leaf = l->frame;

	switch (key) {
	case REPORT_PROCESS:
		return l->stack->thread->process;
	case REPORT_COMM:
		return l->stack->thread->comm;
	case REPORT_PID:
		snprintf(buf, KEY_TEXT, "%d", l->stack->thread->pid);
		return buf;
	case REPORT_THREAD:
		snprintf(buf, KEY_TEXT, "%d", l->stack->thread->tid);
		return buf;
	case REPORT_IMAGE:
		return leaf->image->name;
	case REPORT_LINE:
		if (!l->file)
			return "[unknown]";
		snprintf(buf, KEY_TEXT, "%s:%u", l->file, l->number);
		return buf;
	case REPORT_ADDRESS:
		snprintf(buf, KEY_TEXT, "0x%" PRIx64, leaf->addr);
		return buf;
	case REPORT_CPU:
		if (l->stack->cpu < 0)
			return "[unknown]";
		snprintf(buf, KEY_TEXT, "%d", l->stack->cpu);
		return buf;
	case REPORT_KIND:
		return hwpmc_name_of_kind(l->stack->kind) ?: "cpu";
	default:
		return leaf->symbol->name;
	}
}

/* The events that so many samples stand for, where perf's column is asked for. */
static void put_period(const struct report *r, const struct hwpmc_profile_event *ev,
		       uint64_t count)
{
	static const char *const formats[] = {
		[REPORT_TEXT] = " %14" PRIu64, [REPORT_JSON] = ",\"period\":%" PRIu64,
		[REPORT_CSV] = ",%" PRIu64,
	};

	if (r->events)
		fprintf(r->out.f, formats[r->format], count * ev->period);
}

/* Of a function's name what the columns before it, `used`, and after it leave. */
static const char *shown_text(const struct report *r, char buf[SYMNAME], unsigned int i,
			      const char *text, unsigned int used)
{
	unsigned int later = (KEY_WIDTH + 2) * (r->nkey - 1 - i);

	if (r->key[i] != REPORT_SYMBOL || !r->out.terminal)
		return text;
	return symname_show(buf, text, symname_room(r->out.columns, used + later));
}

static void print_text_keys(const struct report *r, const struct line *l, unsigned int used)
{
	char text[KEY_TEXT], name[SYMNAME];
	const char *shown;
	unsigned int len;

	for (unsigned int i = 0; i < r->nkey; i++) {
		used += 2;
		shown = shown_text(r, name, i, key_text(text, r->key[i], l), used);
		len = strlen(shown);
		fputs("  ", r->out.f);
		fmt_put_plain(r->out.f, shown, i + 1 < r->nkey ? KEY_WIDTH : 0);
		used += len > KEY_WIDTH ? len : KEY_WIDTH;
	}
}

static void print_text_line(const struct report *r, const struct hwpmc_profile_event *ev,
			    const struct line *l)
{
	unsigned int used = 19 + (r->children ? 21 : 0) + (r->events ? 15 : 0);
	FILE *f = r->out.f;

	pager_heat(&r->out, report_percent(l->count, ev->samples));
	fprintf(f, "%7.2f%% %10" PRIu64, report_percent(l->count, ev->samples), l->count);
	if (r->children)
		fprintf(f, "  %7.2f%% %10" PRIu64, report_percent(l->self, ev->samples),
			l->self);
	put_period(r, ev, l->count);
	pager_plain(&r->out);
	print_text_keys(r, l, used);
	fputc('\n', f);
}

static void print_text_head(const struct report *r, const struct hwpmc_profile_event *ev)
{
	FILE *f = r->out.f;

	fprintf(f, "# percent    %7s", logopts_unit(ev));
	if (r->children)
		fputs("     self%       self", f);
	if (r->events)
		fprintf(f, " %14s", "period");
	for (unsigned int i = 0; i < r->nkey; i++)
		fprintf(f, i + 1 < r->nkey ? "  %-20s" : "  %s",
			key_words[r->key[i]]);
	fputc('\n', f);
}

static void print_data_line(const struct report *r,
			    const struct hwpmc_profile_event *ev,
			    const struct line *l)
{
	FILE *f = r->out.f;
	bool json = r->format == REPORT_JSON;
	char text[KEY_TEXT];

	fputs(json ? "{\"event\":" : "", f);
	(json ? fmt_json_string : fmt_csv_field)(f, ev->name);
	fprintf(f, json ? ",\"samples\":%" PRIu64 ",\"percent\":%.4f" :
		",%" PRIu64 ",%.4f", l->count, report_percent(l->count, ev->samples));
	if (r->children)
		fprintf(f, json ? ",\"self\":%" PRIu64 : ",%" PRIu64, l->self);
	put_period(r, ev, l->count);
	for (unsigned int i = 0; i < r->nkey; i++) {
		if (json)
			fprintf(f, ",\"%s\":", key_words[r->key[i]]);
		else
			fputc(',', f);
		(json ? fmt_json_string : fmt_csv_field)
			(f, key_text(text, r->key[i], l));
		if (json && r->key[i] == REPORT_SYMBOL && l->frame->symbol->made_up)
			fputs(",\"made_up\":true", f);
	}
	fputs(json ? "" : "\n", f);
	if (json)
		fprintf(f, ",\"unit\":\"%s\"}\n", logopts_unit(ev));
}

/* With --children its self samples: others are counted by several lines. */
static void print_rest(const struct report *r,
		       const struct hwpmc_profile_event *ev, uint64_t rest)
{
	FILE *f = r->out.f;

	if (!rest)
		return;
	if (r->format == REPORT_TEXT) {
		fprintf(f, "%*s%7.2f%% %10" PRIu64, r->children ? 21 : 0, "",
			report_percent(rest, ev->samples), rest);
		put_period(r, ev, rest);
		fputs("  (lines below --limit)\n", f);
		return;
	}
	if (r->format == REPORT_JSON)
		fputs("{\"event\":", f);
	(r->format == REPORT_JSON ? fmt_json_string : fmt_csv_field)(f, ev->name);
	fprintf(f, r->format == REPORT_JSON ? ",\"samples\":%" PRIu64 ",\"percent\":%.4f" :
		",%" PRIu64 ",%.4f", rest, report_percent(rest, ev->samples));
	if (r->children)
		fprintf(f, r->format == REPORT_JSON ? ",\"self\":%" PRIu64 : ",%" PRIu64,
			rest);
	put_period(r, ev, rest);
	if (r->format == REPORT_JSON) {
		fprintf(f, ",\"unit\":\"%s\",\"below_limit\":true}\n", logopts_unit(ev));
		return;
	}
	fputs(",(below --limit)", f);
	for (unsigned int i = 1; i < r->nkey; i++)
		fputc(',', f);
	fputc('\n', f);
}

static void print_csv_head(const struct report *r)
{
	fputs(r->children ? "event,samples,percent,self" : "event,samples,percent",
	      r->out.f);
	fputs(r->events ? ",period" : "", r->out.f);
	for (unsigned int i = 0; i < r->nkey; i++)
		fprintf(r->out.f, ",%s", key_words[r->key[i]]);
	fputc('\n', r->out.f);
}

static void print_event(const struct report *r,
			const struct hwpmc_profile_event *ev,
			const struct line *line, uint32_t n)
{
	uint64_t rest = 0;

	if (r->format == REPORT_TEXT) {
		report_head(r, ev);
		print_text_head(r, ev);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (report_is_small(r, line[i].count, ev->samples))
			rest += r->children ? line[i].self : line[i].count;
		else if (r->format == REPORT_TEXT)
			print_text_line(r, ev, &line[i]);
		else
			print_data_line(r, ev, &line[i]);
	}
	print_rest(r, ev, rest);
}

void report_flat(const struct report *r)
{
	const struct hwpmc_profile_event *ev;
	uint32_t nev, n, at = 0;
	struct line *line;

	ev = hwpmc_profile_events(r->profile, &nev);
	line = make_lines(r, &n);
	if (r->format == REPORT_CSV)
		print_csv_head(r);
	if (!nev && r->format == REPORT_TEXT)
		fputs("# nothing was sampled in this log\n", r->out.f);
	for (uint32_t e = 0; e < nev; e++) {
		uint32_t first = at;

		while (at < n && line[at].stack->event == e)
			at++;
		if (e && r->format == REPORT_TEXT)
			fputc('\n', r->out.f);
		print_event(r, &ev[e], line + first, at - first);
	}
	if (r->format == REPORT_TEXT)
		report_problems(r->out.f, r->profile,
				r->log.o.symbols.inlines ||
				has_key(r, REPORT_LINE));
	free(line);
}
