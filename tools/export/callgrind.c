/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callgrind.c - callgrind's format, for callgrind_annotate and KCachegrind:
 * samples by function and address, and by call: a call's inclusive cost are the
 * samples with it on their stack. How often a function was called is not known:
 * "calls=" has the samples too. A column for each event.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/logopts.h"
#include "common/missing.h"
#include "common/msg.h"
#include "export.h"

/* Costs of things with a number: nevent values each. */
struct costs {
	struct ids ids;
	uint64_t *value;
	uint32_t room;
};

struct callgrind {
	const struct export *x;
	FILE *f;
	struct costs self;	/* by function and address */
	struct costs calls;	/* by number in self (where from), and callee */
	const struct hwpmc_frame **frame;	/* of each number in self */
	struct ids objects, functions;	/* names that were written once */
	struct strings files;
	uint32_t nobject, nfunction, nfile;
	const char *file;	/* of the lines that are being written */
};

static uint32_t cost_add(const struct callgrind *c, struct costs *costs,
			 uint64_t a, uint64_t b, uint32_t event, uint64_t count)
{
	uint32_t id = ids_get(&costs->ids, a, b), nevent = c->x->nevent;

	if (id >= costs->room) {
		uint32_t room = costs->room ? 2 * costs->room : 256;

		costs->value = must_realloc(costs->value, room,
					    nevent * sizeof(uint64_t));
		memset(costs->value + costs->room * nevent, 0,
		       (size_t)(room - costs->room) * nevent * sizeof(uint64_t));
		costs->room = room;
	}
	costs->value[(size_t)id * nevent + event] += count;
	return id;
}

/* The same call further out on the stack: recursion counts once. */
static bool is_repeated(const struct hwpmc_stack *s, uint32_t i)
{
	for (uint32_t j = 1; j < i; j++)
		if (s->frame[j]->symbol == s->frame[i]->symbol &&
		    s->frame[j]->addr == s->frame[i]->addr &&
		    s->frame[j - 1]->symbol == s->frame[i - 1]->symbol)
			return true;
	return false;
}

static uint32_t add_frame(struct callgrind *c, const struct hwpmc_frame *frame,
			  uint32_t event, uint64_t count)
{
	uint32_t n = c->self.ids.n;
	uint32_t id = cost_add(c, &c->self, (uintptr_t)frame->symbol,
			       frame->addr, event, count);

	if (id == n && !(n & (n - 1)))
		c->frame = must_realloc(c->frame, n ? 2 * n : 1,
					sizeof(*c->frame));
	if (id == n)
		c->frame[id] = frame;
	return id;
}

static void add_stack(struct callgrind *c, const struct hwpmc_stack *s)
{
	add_frame(c, s->frame[0], s->event, s->count);
	for (uint32_t i = 1; i < s->nframe; i++) {
		uint32_t from = add_frame(c, s->frame[i], s->event, 0);

		if (!is_repeated(s, i))
			cost_add(c, &c->calls, from,
				 (uintptr_t)s->frame[i - 1]->symbol, s->event,
				 s->count);
	}
}

/* ---- writing ------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* An event's name as one word that begins with a letter; n > 1: the n-th of this word. */
static const char *event_word(const char *name, unsigned int n)
{
	struct text word;

	text_open(&word);
	if (!is_letter(*name))
		fputs("event_", word.f);
	for (; *name; name++)
		fputc(is_letter(*name) || (*name >= '0' && *name <= '9') ? *name : '_', word.f);
	if (n > 1)
		fprintf(word.f, "_%u", n);
	return text_close(&word);
}

/* The next word of this base that is free; *n: the numbers that were tried. */
static char *free_word(const char *name, unsigned int *n, struct strings *taken)
{
	for (;;) {
		char *word = (char *)event_word(name, ++*n);
		uint32_t before = taken->n;

		if (strings_get(taken, word) == before)
			return word;
		free(word);
	}
}

/* Readers tell events apart by their words: each differs from those before it. */
static char **event_words(const struct export *x)
{
	char **words = must_calloc(x->nevent, sizeof(*words));
	unsigned int *tried = must_calloc(x->nevent, sizeof(*tried));
	struct strings bases = { 0 }, taken = { 0 };

	for (uint32_t e = 0; e < x->nevent; e++) {
		const char *base = event_word(x->event[e].name, 1);

		words[e] = free_word(x->event[e].name, &tried[strings_get(&bases, base)], &taken);
		free((char *)base);
	}
	strings_free(&bases);
	strings_free(&taken);
	free(tried);
	return words;
}

static void put_line_of(FILE *f, const char *text)
{
	fmt_put_utf8(f, text);
	fputc('\n', f);
}

/* Names are written once, and then their numbers. Those of files are what readers open. */
static void put_name(struct callgrind *c, const char *key, struct ids *seen,
		     uint32_t *known, const void *what, const char *name, bool is_file)
{
	uint32_t id = ids_ptr(seen, what);

	if (id < *known) {
		fprintf(c->f, "%s=(%" PRIu32 ")\n", key, id + 1);
		return;
	}
	*known = seen->n;
	fprintf(c->f, "%s=(%" PRIu32 ") ", key, id + 1);
	/* A number without a name is one that has come before. */
	if (!name[strspn(name, " \t")])
		name = "[unnamed]";
	if (is_file)
		fmt_put_plain(c->f, name, 0);
	else
		fmt_put_utf8(c->f, name);
	fputc('\n', c->f);
}

static void put_file(struct callgrind *c, const char *key, const char *file)
{
	uint32_t id = strings_get(&c->files, file);

	if (id >= c->nfile) {
		fprintf(c->f, "%s=(%" PRIu32 ") ", key, id + 1);
		fmt_put_plain(c->f, file, 0);
		fputc('\n', c->f);
		c->nfile = c->files.n;
	} else {
		fprintf(c->f, "%s=(%" PRIu32 ")\n", key, id + 1);
	}
}

/* Where a function begins. "???" is what callgrind calls what is not known. */
static const char *file_of(const struct callgrind *c,
			   const struct hwpmc_symbol *s, unsigned int *line)
{
	const char *file;

	if (!s->unknown && !s->inlined &&
	    hwpmc_image_line(c->x->profile, s->image, s->start, &file, line) == 1)
		return file;
	*line = 0;
	return "???";
}

static unsigned int put_function(struct callgrind *c, const char *prefix,
				 const struct hwpmc_symbol *s)
{
	char name[EXPORT_NAME], key[8];
	unsigned int line;

	snprintf(key, sizeof(key), "%sob", prefix);
	put_name(c, key, &c->objects, &c->nobject, s->image, s->image->path, true);
	snprintf(key, sizeof(key), "%sfl", prefix);
	put_file(c, key, file_of(c, s, &line));
	snprintf(key, sizeof(key), "%sfn", prefix);
	put_name(c, key, &c->functions, &c->nfunction, s,
		 export_function(name, s), false);
	return line;
}

/* The line of a place; before it "fi=" if that is of another file. */
static unsigned int enter_place(struct callgrind *c, uint32_t id)
{
	unsigned int line;
	const char *file;

	if (!export_line(c->x, c->frame[id], &file, &line))
		return 0;
	if (strcmp(file, c->file))
		put_file(c, "fi", file);
	c->file = file;
	return line;
}

static void put_place(struct callgrind *c, uint32_t id, unsigned int line)
{
	fprintf(c->f, "0x%" PRIx64 " %u", c->self.ids.key[id].b, line);
}

static void put_values(struct callgrind *c, const uint64_t *value)
{
	uint32_t last = c->x->nevent;

	/* Zeros at the end may be left out, but not all. */
	while (last > 1 && !value[last - 1])
		last--;
	for (uint32_t e = 0; e < last; e++)
		fprintf(c->f, " %" PRIu64, value[e]);
	fputc('\n', c->f);
}

static bool any_value(const uint64_t *value, uint32_t n)
{
	while (n && !value[n - 1])
		n--;
	return n;
}

static void put_self(struct callgrind *c, uint32_t id)
{
	const uint64_t *value = c->self.value + (size_t)id * c->x->nevent;

	if (!any_value(value, c->x->nevent))
		return;
	put_place(c, id, enter_place(c, id));
	put_values(c, value);
}

static void put_call(struct callgrind *c, uint32_t id)
{
	const uint64_t *value = c->calls.value + (size_t)id * c->x->nevent;
	const struct ids_key *call = &c->calls.ids.key[id];
	const struct hwpmc_symbol *callee = (void *)(uintptr_t)call->b;
	unsigned int line = enter_place(c, call->a), there;
	uint64_t calls = 0;

	for (uint32_t e = 0; e < c->x->nevent; e++)
		calls += value[e];
	there = put_function(c, "c", callee);
	fprintf(c->f, "calls=%" PRIu64 " 0x%" PRIx64 " %u\n", calls,
		callee->start, there);
	put_place(c, call->a, line);
	put_values(c, value);
}

/* ---- order: by function, then address; calls behind where they are ------- */

static const struct callgrind *sorting;	/* for qsort() */

static int compare_words(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_self(uint32_t x, uint32_t y)
{
	const struct ids_key *a = &sorting->self.ids.key[x];
	const struct ids_key *b = &sorting->self.ids.key[y];

	return compare_words(a->a, b->a) ?: compare_words(a->b, b->b);
}

static int by_function(const void *a, const void *b)
{
	return compare_self(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int by_caller(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return compare_self(sorting->calls.ids.key[x].a,
			    sorting->calls.ids.key[y].a) ?:
	       compare_words(sorting->calls.ids.key[x].b,
			     sorting->calls.ids.key[y].b);
}

static uint32_t *sorted_order(const struct callgrind *c, uint32_t n,
			      int (*compare)(const void *, const void *))
{
	uint32_t *order = must_calloc(n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	sorting = c;
	qsort(order, n, sizeof(*order), compare);
	return order;
}

static void put_functions(struct callgrind *c)
{
	uint32_t *self = sorted_order(c, c->self.ids.n, by_function);
	uint32_t *call = sorted_order(c, c->calls.ids.n, by_caller);
	uint64_t function = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->self.ids.n; i++) {
		const struct ids_key *key = &c->self.ids.key[self[i]];

		if (key->a != function) {
			unsigned int line;

			fputc('\n', c->f);
			put_function(c, "", (void *)(uintptr_t)key->a);
			c->file = file_of(c, (void *)(uintptr_t)key->a, &line);
		}
		function = key->a;
		put_self(c, self[i]);
		for (; at < c->calls.ids.n &&
		     c->calls.ids.key[call[at]].a == self[i]; at++)
			put_call(c, call[at]);
	}
	free(self);
	free(call);
}

/* ---- head ---------------------------------------------------------------- */

static void put_descriptions(const struct export *x, FILE *f)
{
	char rate[LOGOPTS_RATE];

	for (uint32_t e = 0; e < x->nevent; e++) {
		fputs("desc: Event: ", f);
		fmt_put_utf8(f, x->event[e].name);
		fprintf(f, ", %s\n", logopts_rate(&x->event[e], rate));
		if (!x->event[e].filtered)
			continue;
		fprintf(f, "desc: Kept out: %" PRIu64 " samples of ",
			x->event[e].filtered);
		put_line_of(f, x->event[e].name);
	}
}

static void put_events(const struct export *x, FILE *f)
{
	char **words = event_words(x);

	for (uint32_t e = 0; e < x->nevent; e++) {
		fprintf(f, "event: %s : %s of ", words[e], logopts_unit(&x->event[e]));
		put_line_of(f, x->event[e].name);
	}
	fputs("events:", f);
	for (uint32_t e = 0; e < x->nevent; e++) {
		fprintf(f, " %s", words[e]);
		free(words[e]);
	}
	fputs(x->nevent ? "\n" : " samples\n", f);
	free(words);
}

static void put_totals(const struct export *x, FILE *f, const char *key)
{
	fprintf(f, "%s:", key);
	for (uint32_t e = 0; e < x->nevent; e++)
		fprintf(f, " %" PRIu64, x->event[e].samples);
	fputs(x->nevent ? "\n" : " 0\n", f);
}

static void put_head(const struct export *x, FILE *f)
{
	fprintf(f, "# callgrind format\nversion: 1\ncreator: %s " VERSION "\n"
		"cmd: ", program_invocation_short_name);
	put_line_of(f, export_title(x));
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (missing_is_loss(i) && x->totals->dropped[i])
			fprintf(f, "desc: Lost: %s%" PRIu64 " samples, %s\n",
				missing_bound(i), x->totals->dropped[i], hwpmc_name_of_drop(i));
	put_descriptions(x, f);
	fputs("positions: instr line\n", f);
	put_events(x, f);
	put_totals(x, f, "summary");
}

void export_callgrind(const struct export *x, FILE *f)
{
	struct callgrind c = { .x = x, .f = f };

	for (uint32_t i = 0; i < x->nstack; i++)
		add_stack(&c, &x->stack[i]);
	put_head(x, f);
	put_functions(&c);
	fputc('\n', f);
	put_totals(x, f, "totals");
	ids_free(&c.self.ids);
	ids_free(&c.calls.ids);
	ids_free(&c.objects);
	ids_free(&c.functions);
	strings_free(&c.files);
	free(c.frame);
	free(c.self.value);
	free(c.calls.value);
}
