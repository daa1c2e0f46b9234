/* SPDX-License-Identifier: BSD-2-Clause */
/* branches.c - trees of stacks. A hash finds the child of a branch. */
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "common/msg.h"

#define CHUNK	1024

struct branch_chunk {
	struct branch_chunk *next;
	uint32_t n;
	struct branch branch[CHUNK];
};

static uint32_t hash_of(const struct branches *t, const struct branch *parent,
			const struct hwpmc_symbol *symbol)
{
	uint64_t h = (uintptr_t)parent * 0x9e3779b97f4a7c15ull;

	h = (h ^ (uintptr_t)symbol ^ h >> 31) * 0x9e3779b97f4a7c15ull;
	return (h >> 32) & (t->nhash - 1);
}

static void enter(struct branches *t, struct branch *b)
{
	uint32_t at = hash_of(t, b->parent, b->symbol);

	b->same = t->hash[at];
	t->hash[at] = b;
}

static void grow(struct branches *t)
{
	free(t->hash);
	t->nhash = t->nhash ? 4 * t->nhash : 1024;
	t->hash = must_calloc(t->nhash, sizeof(*t->hash));
	for (struct branch_chunk *c = t->chunk; c; c = c->next)
		for (uint32_t i = 0; i < c->n; i++)
			enter(t, &c->branch[i]);
}

static struct branch *find_child(const struct branches *t, const struct branch *parent,
				 const struct hwpmc_symbol *symbol)
{
	struct branch *b;

	if (!parent->child)
		return NULL;
	for (b = t->hash[hash_of(t, parent, symbol)]; b; b = b->same)
		if (b->parent == parent && b->symbol == symbol)
			break;
	return b;
}

/* A child that so many samples of one stack have, whose first frame is f. */
static void new_child(struct branches *t, struct branch *parent, struct hwpmc_frame **f,
		      uint32_t n, uint64_t count)
{
	struct branch *b;

	if (t->n >= t->nhash)
		grow(t);
	if (!t->chunk || t->chunk->n == CHUNK) {
		struct branch_chunk *c = must_realloc(NULL, 1, sizeof(*c));

		c->next = t->chunk;
		c->n = 0;
		t->chunk = c;
	}
	b = &t->chunk->branch[t->chunk->n++];
	*b = (struct branch){
		.symbol = (*f)->symbol, .count = count, .self = n > 1 ? 0 : count,
		.parent = parent, .next = parent->child,
		.tail = t->callees ? f - 1 : f + 1, .ntail = n - 1,
	};
	parent->child = b;
	t->n++;
	enter(t, b);
}

/* The first frame of a tail becomes a node. */
static void unfold(struct branches *t, struct branch *b)
{
	uint32_t n = b->ntail;

	b->ntail = 0;
	new_child(t, b, b->tail, n, b->count - b->self);
}

/* Stacks part at their far end more often. */
static bool is_tail(const struct branches *t, const struct branch *b,
		    struct hwpmc_frame **f, uint32_t n)
{
	if (n != b->ntail)
		return false;
	while (n--)
		if (branches_tail(t, b, n)->symbol != f[t->callees ? -(int64_t)n : n]->symbol)
			return false;
	return true;
}

void branches_add(struct branches *t, const struct hwpmc_stack *s)
{
	struct hwpmc_frame **f = t->callees ? s->frame + s->nframe - 1 : s->frame;
	struct branch *at = &t->root, *child;

	for (uint32_t n = s->nframe; ; n--) {
		if (at->ntail && !is_tail(t, at, f, n))
			unfold(t, at);
		at->count += s->count;
		if (at->ntail)
			return;
		if (!n) {
			at->self += s->count;
			return;
		}
		child = find_child(t, at, (*f)->symbol);
		if (!child) {
			new_child(t, at, f, n, s->count);
			return;
		}
		at = child;
		f = t->callees ? f - 1 : f + 1;
	}
}

static int most_first(const void *a, const void *b)
{
	const struct branch *x = *(struct branch *const *)a;
	const struct branch *y = *(struct branch *const *)b;
	int d;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	d = strcmp(x->symbol->name, y->symbol->name);
	return d ? d : strcmp(x->symbol->image->path, y->symbol->image->path);
}

static void sort_children(struct branch *parent)
{
	struct branch **list;
	uint32_t n = 0;

	for (struct branch *c = parent->child; c; c = c->next)
		n++;
	if (n < 2)
		return;
	list = must_calloc(n, sizeof(struct branch *));
	n = 0;
	for (struct branch *c = parent->child; c; c = c->next)
		list[n++] = c;
	qsort(list, n, sizeof(struct branch *), most_first);
	parent->child = list[0];
	for (uint32_t i = 0; i < n; i++)
		list[i]->next = i + 1 < n ? list[i + 1] : NULL;
	free(list);
}

void branches_sort(struct branches *t)
{
	sort_children(&t->root);
	for (struct branch_chunk *c = t->chunk; c; c = c->next)
		for (uint32_t i = 0; i < c->n; i++)
			sort_children(&c->branch[i]);
}

void branches_clear(struct branches *t)
{
	while (t->chunk) {
		struct branch_chunk *next = t->chunk->next;

		free(t->chunk);
		t->chunk = next;
	}
	free(t->hash);
	*t = (struct branches){ .callees = t->callees };
}
