/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * branches.h - the stacks of a profile as a tree, of which only places where stacks part have
 * nodes: the rest of a stack that no other has is a tail, the stack's own frames.
 */
#ifndef TOOLS_BRANCHES_H
#define TOOLS_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <libhwpmcstat.h>

struct branch {
	const struct hwpmc_symbol *symbol;	/* NULL: the root */
	uint64_t count;			/* samples in it and below */
	uint64_t self;			/* stacks that end here */
	struct branch *parent, *child, *next;
	struct branch *same;		/* next with the same hash */
	struct hwpmc_frame **tail;	/* the first frame below it, without a node */
	uint32_t ntail;			/* 0: its children are nodes; else it has none */
};

struct branch_chunk;

struct branches {
	bool callees;			/* outermost first; else innermost first */
	struct branch root;		/* its children are nodes */
	struct branch **hash;
	uint32_t nhash, n;
	struct branch_chunk *chunk;
};

/* The profile must live as long as the tree. */
void branches_add(struct branches *t, const struct hwpmc_stack *s);
/* Children with the most samples first, by name where they have as many. */
void branches_sort(struct branches *t);
/* Back to an empty tree. */
void branches_clear(struct branches *t);

/* The i-th frame below a branch with a tail. */
static inline const struct hwpmc_frame *branches_tail(const struct branches *t,
						      const struct branch *b, uint32_t i)
{
	return t->callees ? b->tail[-(int64_t)i] : b->tail[i];
}

#endif
