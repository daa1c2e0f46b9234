/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.c - a round as text: functions with their callers, or the call tree. Percentages are those of the event's samples; what has less than the
 * threshold is one line.
 */
#include <inttypes.h>
#include <string.h>

#include "common/fmt.h"
#include "top.h"
#include "tree.h"
#include "view.h"

struct page {
	FILE *f;
	const struct view_top *t;
	const struct view_tree *tree;
	uint64_t least;
};

static uint64_t count_of(const struct view_top *t, const struct view_entry *e)
{
	return t->total ? e->total : e->round;
}

/* ---- the first line ------------------------------------------------------ */

static void put_head(FILE *f, const struct hwpmc_profile *p,
		     const struct view_store *s, const struct view_top *t)
{
	uint64_t all = 0, mine = 0, unknown = 0;
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	ev = hwpmc_profile_events(p, &n);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct view_entry *e = &s->entry[i];
		uint64_t count = t->total ? e->taken.total : e->taken.round;

		all += count;
		if (!t->merged && e->stack.event != t->event)
			continue;
		mine += count;
		unknown += e->stack.frame[0]->symbol->unknown ? count : 0;
	}
	fputs("PMC: [", f);
	fmt_put_plain(f, t->merged ? "all" : t->event < n ? ev[t->event].name :
		      "none yet", 0);
	fprintf(f, "] Samples: %" PRIu64 " (%.1f%%) , %" PRIu64 " unresolved", mine,
		all ? 100.0 * mine / all : 0, unknown);
	if (s->dropped)
		fprintf(f, ", %" PRIu64 " dropped so far", s->dropped);
	fprintf(f, "\n%s%s%s\n", t->total ? "[accumulative]" : "[since the last]",
		t->total && s->resets ? " [restarted: too many stacks]" : "",
		t->state);
}

/* ---- functions and their callers ----------------------------------------- */

static void put_share(const struct page *p, uint64_t count, uint64_t of)
{
	if (count < of)
		fprintf(p->f, ":%.1f", 100.0 * count / of);
}

static void put_rest(const struct page *p, const char *what, uint64_t count,
		     uint64_t of)
{
	if (!count)
		return;
	fprintf(p->f, " %s", what);
	put_share(p, count, of);
}

static void put_callers(const struct page *p, const struct view_node *n)
{
	uint64_t below = 0, least = view_least(p->t->threshold, n->count);

	for (const struct view_node *c = n->child; c; c = c->next) {
		if (c->count < least) {
			below += c->count;
			continue;
		}
		fputc(' ', p->f);
		view_put_node(p->f, p->tree, c);
		put_share(p, c->count, n->count);
	}
	put_rest(p, VIEW_BELOW, below, n->count);
	if (n->child)
		put_rest(p, VIEW_CHAIN_ENDS, n->self, n->count);
}

static void put_functions(const struct page *p)
{
	const struct view_node *root = &p->tree->root;
	uint64_t below = 0;

	fprintf(p->f, "%%SAMP %-20s %-30s CALLERS\n", "IMAGE", "FUNCTION");
	for (const struct view_node *c = root->child; c; c = c->next) {
		int len;

		if (c->count < p->least) {
			below += c->count;
			continue;
		}
		fprintf(p->f, "%5.1f ", 100.0 * c->count / root->count);
		len = view_put_word(p->f, c->symbol->image->name);
		fprintf(p->f, "%*s", len < 20 ? 21 - len : 1, "");
		len = view_put_node(p->f, p->tree, c);
		fprintf(p->f, "%*s", len < 30 && c->child ? 30 - len : 0, "");
		put_callers(p, c);
		fputc('\n', p->f);
	}
	if (below)
		fprintf(p->f, "%5.1f %s\n", 100.0 * below / root->count,
			VIEW_BELOW);
}

/* ---- the call tree ------------------------------------------------------- */

static bool has_line_below(const struct page *p, const struct view_node *n)
{
	return n->child && n->child->count >= p->least;
}

static void put_nodes(const struct page *p, const struct view_node *parent,
		      char *indent, size_t len)
{
	uint64_t all = p->tree->root.count, below = 0;

	for (const struct view_node *c = parent->child; c; c = c->next) {
		bool dot = p->t->skip && c->self < p->least &&
			   has_line_below(p, c);

		if (c->count < p->least) {
			below += c->count;
			continue;
		}
		if (!dot) {
			fprintf(p->f, "%5.1f %s", 100.0 * c->count / all,
				indent);
			view_put_node(p->f, p->tree, c);
			fputc('\n', p->f);
		}
		indent[len] = dot ? '.' : ' ';
		indent[len + 1] = '\0';
		put_nodes(p, c, indent, len + 1);
		indent[len] = '\0';
	}
	if (below && 100.0 * below >= 0.05 * all)
		fprintf(p->f, "%5.1f %s%s\n", 100.0 * below / all, indent,
			VIEW_BELOW);
}

static void put_calltree(const struct page *p)
{
	/* No record holds more frames. */
	char indent[HWPMC_LOG_MAX / 8] = "";

	fputs("%SAMP CALLTREE\n", p->f);
	put_nodes(p, &p->tree->root, indent, 0);
}

void view_top(FILE *f, const struct hwpmc_profile *p,
	      const struct view_store *s, const struct view_top *t)
{
	struct view_tree tree = {
		.callees = t->calltree, .offsets = t->offsets,
		.addresses = t->addresses, .images = true,
		.depth = t->calltree ? t->depth : 2,
	};
	struct page page = { .f = f, .t = t, .tree = &tree };

	put_head(f, p, s, t);
	for (uint32_t i = 0; i < s->n; i++)
		if (count_of(t, &s->entry[i]) &&
		    (t->merged || s->entry[i].stack.event == t->event))
			view_tree_add(&tree, &s->entry[i].stack,
				      count_of(t, &s->entry[i]));
	view_tree_sort(&tree);
	page.least = view_least(t->threshold, tree.root.count);
	if (t->waiting && !tree.root.count)
		fprintf(f, "%s\n", t->waiting);
	else if (t->calltree)
		put_calltree(&page);
	else
		put_functions(&page);
	view_tree_clear(&tree);
}
