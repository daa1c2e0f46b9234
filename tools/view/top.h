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

#include "places.h"

/* More distinct stacks than this, and what was gathered is forgotten: memory is bounded.
 * Of pmcstat -T, and of hwpmc top where it accumulates. */
#define VIEW_STACKS_MAX	500000

/* A distinct stack of an event, in whatever thread. */
struct view_entry {
	struct hwpmc_stack stack;	/* its frames are the entry's own */
	uint64_t hash;
	/* Samples, or events if the event has a frequency; since the round before; of the
	 * round to come. */
	uint64_t total, round, next;
	struct {
		uint64_t total, round, next;
	} taken;			/* the same, always samples */
};

struct view_store {
	struct view_entry *entry;
	uint32_t n;
	uint32_t *slot;			/* entry + 1; 0: free */
	uint32_t nslot;
	uint64_t dropped;		/* declared in the log so far */
	uint32_t most;			/* stacks; 0: VIEW_STACKS_MAX */
	uint32_t resets;		/* how often there were more */
	struct view_places places;
};

/*
 * Resolve the profile, and take its samples for the round to come. The profile forgets
 * them, and what has ended, as hwpmc top has it do.
 */
void view_store_gather(struct view_store *s, struct hwpmc_profile *p);
/* The same, and the round to come becomes the last one. */
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
	const char *waiting;	/* instead of an empty page; NULL: nothing */
};

void view_top(FILE *f, const struct hwpmc_profile *p,
	      const struct view_store *s, const struct view_top *t);

#endif
