/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h - where samples are while they come: a store that takes what a profile
 * has counted, round by round, and a round as text.
 */
#ifndef TOOLS_VIEW_TOP_H
#define TOOLS_VIEW_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

/* A distinct stack of an event, in whatever thread. */
struct view_entry {
	struct hwpmc_stack stack;	/* its frames are the entry's own */
	uint64_t hash;
	uint64_t total, round;		/* samples; since the round before */
};

struct view_store {
	struct view_entry *entry;
	uint32_t n;
	uint32_t *slot;			/* entry + 1; 0: free */
	uint32_t nslot;
	uint64_t dropped;		/* declared in the log so far */
};

/* Resolve the profile, take its samples as a round, and clear it. */
void view_store_take(struct view_store *s, struct hwpmc_profile *p);
void view_store_free(struct view_store *s);

struct view_top {
	double threshold;	/* percent; less is in one sum */
	uint32_t depth;		/* levels of the call tree, 0: all */
	uint32_t event;
	bool merged;		/* all events as one */
	bool total;		/* since the beginning, not of the last round */
	bool calltree;		/* callees below callers; else functions */
	bool skip;		/* calltree: functions that were not hit are dots */
	bool addresses, offsets;	/* as in struct view_tree */
	const char *state;	/* " [paused]", or "" */
};

void view_top(FILE *f, const struct hwpmc_profile *p,
	      const struct view_store *s, const struct view_top *t);

#endif
