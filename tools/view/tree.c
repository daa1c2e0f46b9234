/* SPDX-License-Identifier: BSD-2-Clause */
/* tree.c - trees of stacks. A hash finds the child of a node. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "tree.h"

static uint32_t hash_of(const struct view_tree *t,
			const struct view_node *parent,
			const struct hwpmc_symbol *symbol, uint64_t addr)
{
	uint64_t h = (uintptr_t)parent * 0x9e3779b97f4a7c15ull;

	h = (h ^ (uintptr_t)symbol ^ h >> 31) * 0x9e3779b97f4a7c15ull;
	h = (h ^ addr ^ h >> 29) * 0x9e3779b97f4a7c15ull;
	return (h >> 32) & (t->nhash - 1);
}

static void tree_enter(struct view_tree *t, struct view_node *n)
{
	uint32_t at = hash_of(t, n->parent, n->symbol, n->addr);

	n->same = t->hash[at];
	t->hash[at] = n;
}

static void enter_all(struct view_tree *t, struct view_node *list)
{
	for (struct view_node *n = list; n; n = n->next) {
		tree_enter(t, n);
		enter_all(t, n->child);
	}
}

static void tree_grow(struct view_tree *t)
{
	free(t->hash);
	t->nhash = t->nhash ? 4 * t->nhash : 16;
	t->hash = must_calloc(t->nhash, sizeof(*t->hash));
	enter_all(t, t->root.child);
}

static struct view_node *get_child(struct view_tree *t,
				   struct view_node *parent,
				   const struct hwpmc_symbol *symbol,
				   uint64_t addr)
{
	struct view_node *n;

	if (t->nnode >= t->nhash)
		tree_grow(t);
	for (n = t->hash[hash_of(t, parent, symbol, addr)]; n; n = n->same)
		if (n->parent == parent && n->symbol == symbol &&
		    n->addr == addr)
			return n;
	n = must_calloc(1, sizeof(*n));
	n->symbol = symbol;
	n->addr = addr;
	n->parent = parent;
	n->next = parent->child;
	parent->child = n;
	t->nnode++;
	tree_enter(t, n);
	return n;
}

void view_tree_add(struct view_tree *t, const struct hwpmc_stack *s,
		   uint64_t count)
{
	uint32_t n = t->depth && t->depth < s->nframe ? t->depth : s->nframe;
	struct view_node *at = &t->root;

	at->count += count;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t which = t->callees ? s->nframe - 1 - i : i;
		const struct hwpmc_frame *f = s->frame[which];
		bool apart = t->addresses || (t->offsets && !which);

		at = get_child(t, at, f->symbol, apart ? f->addr : 0);
		at->count += count;
	}
	at->self += count;
}

static int most_first(const void *a, const void *b)
{
	const struct view_node *x = *(struct view_node *const *)a;
	const struct view_node *y = *(struct view_node *const *)b;
	int d;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	d = strcmp(x->symbol->name, y->symbol->name);
	if (!d)
		d = strcmp(x->symbol->image->path, y->symbol->image->path);
	return d ? d : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void sort_children(struct view_node *parent)
{
	struct view_node **list;
	uint32_t n = 0;

	for (struct view_node *c = parent->child; c; c = c->next)
		n++;
	if (!n)
		return;
	list = must_calloc(n, sizeof(struct view_node *));
	n = 0;
	for (struct view_node *c = parent->child; c; c = c->next) {
		list[n++] = c;
		sort_children(c);
	}
	qsort(list, n, sizeof(struct view_node *), most_first);
	parent->child = list[0];
	for (uint32_t i = 0; i < n; i++)
		list[i]->next = i + 1 < n ? list[i + 1] : NULL;
	free(list);
}

void view_tree_sort(struct view_tree *t)
{
	sort_children(&t->root);
}

static void free_nodes(struct view_node *n)
{
	while (n) {
		struct view_node *next = n->next;

		free_nodes(n->child);
		free(n);
		n = next;
	}
}

void view_tree_clear(struct view_tree *t)
{
	free_nodes(t->root.child);
	free(t->hash);
	t->root = (struct view_node){ .symbol = NULL };
	t->hash = NULL;
	t->nhash = t->nnode = 0;
}

uint64_t view_least(double percent, uint64_t all)
{
	double least = percent * all / 100;

	return (uint64_t)least + ((uint64_t)least < least);
}

int view_put_word(FILE *f, const char *name)
{
	int n = 0;

	char before = 0;
	bool control;

	for (int len; *name; name += len) {
		len = fmt_unit(name, &control);
		if (*name != ' ' || before != ',')
			n += fwrite(*name == ' ' ? "_" : control ? "??" : name, 1,
				    len, f);
		before = *name;
	}
	return n;
}

static int put_unknown(FILE *f, const struct hwpmc_image *image)
{
	int len;

	fputs("[unknown:", f);
	len = view_put_word(f, image->name);
	fputc(']', f);
	return len + 10;
}

int view_put_node(FILE *f, const struct view_tree *t, const struct view_node *n)
{
	const struct hwpmc_symbol *s = n->symbol;
	int len;

	if (t->addresses || (n->addr && s->unknown))
		return fprintf(f, "0x%" PRIx64, n->addr);
	if (s->unknown && t->images && s->image->kind != HWPMC_IMAGE_UNKNOWN)
		return put_unknown(f, s->image);
	len = view_put_word(f, s->name);
	if (n->addr)
		len += fprintf(f, "+0x%" PRIx64, n->addr - s->start);
	return len;
}
