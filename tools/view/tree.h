/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.h - the stacks of a profile as a tree: under each function those that
 * called it, or those that it called. Every sample that is added is somewhere in
 * it: a node's count is what its children count and what ends in itself.
 */
#ifndef TOOLS_VIEW_TREE_H
#define TOOLS_VIEW_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

struct view_node {
	const struct hwpmc_symbol *symbol;	/* NULL: the root */
	uint64_t addr;			/* where places are kept apart; else 0 */
	uint64_t count;			/* samples in it and below */
	uint64_t self;			/* stacks that end here */
	struct view_node *parent, *child, *next;
	struct view_node *same;		/* of the same hash */
};

struct view_tree {
	bool callees;			/* outermost first; else innermost first */
	bool offsets;			/* places of the function that was hit apart */
	bool addresses;			/* all places apart, and by their address */
	bool images;			/* names say where something unknown is */
	uint32_t depth;			/* levels; 0: all */
	struct view_node root;
	struct view_node **hash;
	uint32_t nhash, nnode;
};

/* Add a stack `count` times. The profile must live as long as the tree. */
void view_tree_add(struct view_tree *t, const struct hwpmc_stack *s,
		   uint64_t count);
/* Children with the most samples first, by name where they have as many. */
void view_tree_sort(struct view_tree *t);
/* Back to an empty tree. */
void view_tree_clear(struct view_tree *t);

/* The fewest samples that are so many percent of all. */
uint64_t view_least(double percent, uint64_t all);

/*
 * A name as one word, as the programs that read such files want it: no blanks,
 * nothing that ends a line. Returns its bytes.
 */
int view_put_word(FILE *f, const char *name);
/* What a node is called: "function", "function+0x1c" or "0x4711", as one word. */
int view_put_node(FILE *f, const struct view_tree *t, const struct view_node *n);

#endif
