/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph.c - call graphs as text, in the form that stackcollapse-pmc.pl reads:
 * blanks as many as the level, the percentage of the line above, two blanks, the
 * samples in brackets, one word. Folding adds up lines that nothing is below: so
 * chains that end where others go on have a line of their own.
 */
#include <inttypes.h>

#include "common/byevent.h"
#include "common/fmt.h"
#include "common/logopts.h"
#include "tree.h"
#include "view.h"

static void put_image(FILE *f, const struct hwpmc_image *image)
{
	fputs(" @ ", f);
	fmt_put_plain(f, image->path, 0);
}

static void put_figures(FILE *f, unsigned int level, uint64_t count, uint64_t of)
{
	double percent = 100.0 * count / of;
	char text[32];

	snprintf(text, sizeof(text), "[%" PRIu64 "]", count);
	fprintf(f, percent >= 99.995 ? "%*s%.1f%%  %-8s " : "%*s%05.2f%%  %-8s ",
		level, "", percent, text);
}

static void put_rest(FILE *f, unsigned int level, uint64_t count, uint64_t of,
		     const char *what)
{
	if (!count)
		return;
	put_figures(f, level, count, of);
	fprintf(f, "%s\n", what);
}

static void put_children(FILE *f, const struct view_tree *t,
			 const struct view_node *parent, unsigned int level,
			 uint64_t least)
{
	uint64_t below = 0;

	for (const struct view_node *c = parent->child; c; c = c->next) {
		if (c->count < least) {
			below += c->count;
			continue;
		}
		put_figures(f, level, c->count, parent->count);
		view_put_node(f, t, c);
		put_image(f, c->symbol->image);
		fputc('\n', f);
		put_children(f, t, c, level + 1, least);
	}
	put_rest(f, level, below, parent->count, VIEW_BELOW);
	if (parent->child)
		put_rest(f, level, parent->self, parent->count, VIEW_CHAIN_ENDS);
}

static void put_event(FILE *f, const struct by_event *stacks, uint32_t event,
		      const struct view_options *o)
{
	struct view_tree tree = { .offsets = o->offsets, .depth = o->depth };

	for (uint32_t i = 0; i < by_event_count(stacks, event); i++) {
		const struct hwpmc_stack *s = by_event_get(stacks, event, i);

		view_tree_add(&tree, s, s->count);
	}
	view_tree_sort(&tree);
	put_children(f, &tree, &tree.root, 0,
		     view_least(o->threshold, tree.root.count));
	view_tree_clear(&tree);
}

void view_graph(FILE *f, const struct hwpmc_profile *p,
		const struct view_options *o)
{
	const struct hwpmc_profile_event *ev;
	struct by_event stacks;
	uint32_t n;

	ev = hwpmc_profile_events(p, &n);
	by_event_of(&stacks, p);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? "\n@ " : "@ ", f);
		fmt_put_plain(f, ev[i].name, 0);
		fprintf(f, " [%" PRIu64 " %s]\n\n", ev[i].samples, logopts_unit(&ev[i]));
		put_event(f, &stacks, i, o);
	}
	by_event_free(&stacks);
}
