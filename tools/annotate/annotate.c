/* SPDX-License-Identifier: BSD-2-Clause */
/* annotate.c - samples to instructions and lines of the source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "code.h"
#include "common/msg.h"
#include "insn.h"

/* ---- functions ----------------------------------------------------------- */

/* By event, then by what was hit. */
static int compare_hits(const struct hwpmc_stack *a, uint32_t event,
			const struct hwpmc_symbol *symbol)
{
	if (a->event != event)
		return a->event < event ? -1 : 1;
	return (a->frame[0]->symbol > symbol) - (a->frame[0]->symbol < symbol);
}

static int by_hit(const void *a, const void *b)
{
	const struct hwpmc_stack *const *x = a, *const *y = b;

	return compare_hits(*x, (*y)->event, (*y)->frame[0]->symbol);
}

void annotate_hits_make(struct annotate_hits *h, const struct hwpmc_profile *profile)
{
	const struct hwpmc_stack *stack = hwpmc_profile_stacks(profile, &h->n);

	h->hit = must_calloc(h->n + (size_t)1, sizeof(*h->hit));
	for (uint32_t i = 0; i < h->n; i++)
		h->hit[i] = &stack[i];
	qsort(h->hit, h->n, sizeof(*h->hit), by_hit);
}

void annotate_hits_free(struct annotate_hits *h)
{
	free(h->hit);
}

/* The first of that event and symbol, or behind where it would be; NULL: of the event. */
static uint32_t first_hit(const struct annotate_hits *h, uint32_t event,
			  const struct hwpmc_symbol *symbol)
{
	uint32_t lo = 0, hi = h->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (compare_hits(h->hit[mid], event, symbol) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int most_first(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->symbol->name, y->symbol->name);
}

struct annotate_function *
annotate_functions(const struct annotate_hits *h, uint32_t event, uint32_t *n)
{
	uint32_t first = first_hit(h, event, NULL), end = first_hit(h, event + 1, NULL);
	struct annotate_function *f = must_calloc(end - first + (size_t)1, sizeof(*f));
	uint32_t out = 0;

	for (uint32_t i = first; i < end; i++) {
		const struct hwpmc_symbol *symbol = h->hit[i]->frame[0]->symbol;

		if (!out || f[out - 1].symbol != symbol)
			f[out++].symbol = symbol;
		f[out - 1].samples += h->hit[i]->count;
	}
	*n = out;
	qsort(f, *n, sizeof(*f), most_first);
	return f;
}

/* ---- instructions -------------------------------------------------------- */

struct building {
	struct annotate *a;
	struct hwpmc_profile *profile;
};

/* " <name+0x10>" of where a jump goes. */
static void name_target(const struct building *b, uint64_t target, char *buf,
			size_t size)
{
	const struct hwpmc_symbol *s;

	*buf = '\0';
	if (!target)
		return;
	s = hwpmc_profile_symbol(b->profile, b->a->symbol->image, target);
	if (s->unknown)
		return;
	if (target == s->start)
		snprintf(buf, size, " <%s>", s->name);
	else
		snprintf(buf, size, " <%s+0x%" PRIx64 ">", s->name,
			 target - s->start);
}

static void add_insn(const struct insn *insn, void *arg)
{
	struct building *b = arg;
	struct annotate *a = b->a;
	char text[512], target[256];

	name_target(b, insn->target, target, sizeof(target));
	snprintf(text, sizeof(text), *insn->operands ? "%-7s %s%s" : "%s",
		 insn->mnemonic, insn->operands, target);
	if (!(a->n & (a->n - 1)))
		a->insn = must_realloc(a->insn, a->n ? 2 * a->n : 1,
				       sizeof(*a->insn));
	a->insn[a->n++] = (struct annotate_insn){
		.addr = insn->addr, .size = insn->size,
		.text = must_strdup(text),
	};
}

static struct annotate_insn *find_insn(struct annotate *a, uint64_t addr)
{
	uint32_t lo = 0, hi = a->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (a->insn[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && addr - a->insn[lo - 1].addr < a->insn[lo - 1].size)
		return &a->insn[lo - 1];
	return NULL;
}

static void count_samples(struct annotate *a, const struct annotate_hits *h,
			  uint32_t event)
{
	for (uint32_t i = first_hit(h, event, a->symbol);
	     i < h->n && compare_hits(h->hit[i], event, a->symbol) == 0; i++) {
		struct annotate_insn *insn = find_insn(a, h->hit[i]->frame[0]->addr);

		*(insn ? &insn->samples : &a->outside) += h->hit[i]->count;
		a->samples += h->hit[i]->count;
	}
}

/* ---- lines of the source ------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
	const struct annotate_line *x = a, *y = b;
	int d;

	if (!x->file != !y->file)
		return x->file ? -1 : 1;
	d = x->file ? strcmp(x->file, y->file) : 0;
	return d ? d : (x->line > y->line) - (x->line < y->line);
}

static void merge_lines(struct annotate *a)
{
	uint32_t out = 0;

	qsort(a->line, a->n, sizeof(*a->line), by_line);
	for (uint32_t i = 1; i < a->n; i++) {
		if (by_line(&a->line[out], &a->line[i]) == 0)
			a->line[out].samples += a->line[i].samples;
		else
			a->line[++out] = a->line[i];
	}
	/* All without a line are no lines. */
	a->nline = a->n && a->line[0].file ? out + 1 : 0;
}

static void find_lines(struct annotate *a, struct hwpmc_profile *profile)
{
	a->line = must_calloc(a->n, sizeof(*a->line));
	for (uint32_t i = 0; i < a->n; i++) {
		struct annotate_insn *insn = &a->insn[i];

		if (hwpmc_image_line(profile, a->symbol->image, insn->addr,
				     &insn->file, &insn->line) <= 0)
			insn->file = NULL;
		a->line[i] = (struct annotate_line){
			insn->file, insn->file ? insn->line : 0, insn->samples,
		};
	}
	merge_lines(a);
}

/* ---- all of it ----------------------------------------------------------- */

static int refuse_unknown(const struct hwpmc_image *image, char *err,
			  size_t size)
{
	snprintf(err, size, "%s: no function found%s%s", image->path,
		 image->problem ? ": " : "", image->problem ? image->problem :
		 "");
	return -1;
}

static int read_insns(struct building *b, const struct annotate_options *o,
		      char *err, size_t size)
{
	const struct hwpmc_symbol *s = b->a->symbol;
	char why[300];
	struct code code;
	int rc;

	if (s->unknown)
		return refuse_unknown(s->image, err, size);
	if (code_read(&code, s, o->root, err, size) < 0)
		return -1;
	rc = insn_each(&code, o->intel, add_insn, b, why, sizeof(why));
	if (rc < 0)
		snprintf(err, size, "%s: %s", s->image->path, why);
	b->a->from = must_strdup(code.from);
	code_free(&code);
	return rc;
}

struct annotate *annotate_new(struct hwpmc_profile *profile, uint32_t event,
			      const struct hwpmc_symbol *symbol,
			      const struct annotate_options *options,
			      char *err, size_t size)
{
	struct annotate *a = must_calloc(1, sizeof(*a));
	struct building b = { a, profile };

	a->symbol = symbol;
	if (read_insns(&b, options, err, size) < 0) {
		annotate_free(a);
		return NULL;
	}
	count_samples(a, &options->hits, event);
	if (!options->no_lines)
		find_lines(a, profile);
	return a;
}

void annotate_free(struct annotate *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		free(a->insn[i].text);
	free(a->insn);
	free(a->line);
	free(a->from);
	free(a);
}
