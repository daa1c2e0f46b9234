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

static int by_symbol(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static int most_first(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->symbol->name, y->symbol->name);
}

struct annotate_function *
annotate_functions(struct hwpmc_profile *profile, uint32_t event, uint32_t *n)
{
	const struct hwpmc_stack *stack;
	struct annotate_function *f;
	uint32_t nstack, all = 0, out = 0;

	stack = hwpmc_profile_stacks(profile, &nstack);
	f = must_calloc(nstack, sizeof(*f));
	for (uint32_t i = 0; i < nstack; i++)
		if (stack[i].event == event)
			f[all++] = (struct annotate_function){
				stack[i].frame[0]->symbol, stack[i].count,
			};
	qsort(f, all, sizeof(*f), by_symbol);
	for (uint32_t i = 1; i < all; i++) {
		if (f[out].symbol == f[i].symbol)
			f[out].samples += f[i].samples;
		else
			f[++out] = f[i];
	}
	*n = all ? out + 1 : 0;
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

static void count_samples(struct annotate *a, struct hwpmc_profile *profile,
			  uint32_t event)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct hwpmc_frame *leaf = stack[i].frame[0];
		struct annotate_insn *insn;

		if (stack[i].event != event || leaf->symbol != a->symbol)
			continue;
		insn = find_insn(a, leaf->addr);
		*(insn ? &insn->samples : &a->outside) += stack[i].count;
		a->samples += stack[i].count;
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
	snprintf(err, size, "%s: no function is known there%s%s", image->path,
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
	count_samples(a, profile, event);
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
