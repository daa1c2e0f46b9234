/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_tree.c - call trees: callers above callees, or, upside down, under each
 * function who called it. Recursion shows as it is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "report.h"

struct node {
	const struct hwpmc_symbol *symbol;
	uint64_t count;			/* samples in it and below */
	uint64_t self;			/* that end here */
	struct node *child, *next;
};

static struct node *get_child(struct node *parent,
			      const struct hwpmc_symbol *symbol)
{
	struct node **at = &parent->child;

	while (*at && (*at)->symbol != symbol)
		at = &(*at)->next;
	if (!*at) {
		*at = must_calloc(1, sizeof(**at));
		(*at)->symbol = symbol;
	}
	return *at;
}

static void add_stack(struct node *root, const struct hwpmc_stack *s, bool down)
{
	struct node *at = root;

	root->count += s->count;
	for (uint32_t i = 0; i < s->nframe; i++) {
		at = get_child(at, s->frame[down ? s->nframe - 1 - i : i]->symbol);
		at->count += s->count;
	}
	at->self += s->count;
}

static struct node *merge(struct node *a, struct node *b)
{
	struct node head, *at = &head;

	while (a && b) {
		struct node **most = a->count >= b->count ? &a : &b;

		at->next = *most;
		at = *most;
		*most = (*most)->next;
	}
	at->next = a ? a : b;
	return head.next;
}

static struct node *sort(struct node *list)
{
	struct node *slow = list, *fast, *half;

	if (!list || !list->next)
		return list;
	for (fast = list->next; fast && fast->next; fast = fast->next->next)
		slow = slow->next;
	half = slow->next;
	slow->next = NULL;
	return merge(sort(list), sort(half));
}

static void print_node(const struct report *r, FILE *f, struct node *n,
		       uint64_t all, unsigned int depth)
{
	if (100.0 * n->count < r->limit * all)
		return;
	fprintf(f, "%7.2f%% %10" PRIu64 " %10" PRIu64 "  %*s%s  %s\n",
		100.0 * n->count / all, n->count, n->self, 2 * depth, "",
		n->symbol->name, n->symbol->image->name);
	n->child = sort(n->child);
	for (struct node *c = n->child; c; c = c->next)
		print_node(r, f, c, all, depth + 1);
}

static void free_nodes(struct node *n)
{
	while (n) {
		struct node *next = n->next;

		free_nodes(n->child);
		free(n);
		n = next;
	}
}

static void print_event(const struct report *r, FILE *f, uint32_t e,
			const struct hwpmc_profile_event *ev)
{
	const struct hwpmc_stack *stack;
	struct node root = { .count = 0 };
	uint32_t n;

	stack = hwpmc_profile_stacks(r->profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (stack[i].event == e)
			add_stack(&root, &stack[i], r->view == REPORT_TREE);
	report_head(r, ev, f);
	fputs("# percent    samples  ends here  function\n", f);
	root.child = sort(root.child);
	for (struct node *c = root.child; c; c = c->next)
		print_node(r, f, c, root.count, 0);
	free_nodes(root.child);
}

void report_tree(const struct report *r, FILE *f)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	ev = hwpmc_profile_events(r->profile, &n);
	for (uint32_t e = 0; e < n; e++) {
		if (e)
			fputc('\n', f);
		print_event(r, f, e, &ev[e]);
	}
}
