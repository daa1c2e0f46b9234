/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top.h - what the files of "hwpmc top" share: data.c makes lines of the samples
 * of a round, text.c prints them, screen.c shows them; cmd_top.c has the
 * options and the loop.
 */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include <libhwpmcstat.h>

#include "common/logopts.h"
#include "record/sampler.h"
#include "gaps.h"

enum top_key { TOP_SYMBOL, TOP_IMAGE, TOP_PROCESS, TOP_COMM, TOP_THREAD, TOP_KIND, TOP_KEYS };

/* Samples that have the same key; `stack` is one of them. */
struct top_line {
	const struct hwpmc_stack *stack;
	uint64_t count;
	uint64_t most;			/* of the process that `stack` is of */
	unsigned int nprocess;		/* with different names */
};

/* Where cores are of several kinds: samples of the event on each, by bit of HWPMC_KIND_*;
 * and of an event of one kind, what it did not count while threads were on others. */
struct top_kinds {
	uint64_t samples[8];
	uint32_t bound;			/* HWPMC_KIND_*; 0: it counts on all */
	uint64_t ns, slices;		/* in the round */
};

/* What a PMC had not counted when the round began, and when it ended. */
struct top_uncounted {
	uint32_t kinds;
	uint64_t began_ns, began_slices, ns, slices;
};

struct top {
	struct sampler sampler;
	struct logopts log;		/* symbols */
	uint64_t interval_ns;
	uint64_t rounds;		/* end after so many; 0: never */
	uint64_t limit;			/* lines in text */
	int columns;			/* of the screen; 0: text, nothing is cut */

	struct hwpmc_parser *parser;
	struct hwpmc_profile *profile;
	const char *broken;		/* the rings gave what is no log: why */

	/* How the user wants it. */
	enum top_key key;
	uint32_t event;
	char filter[64];		/* part of a line's names */
	bool accumulate;		/* all since then, not the last round */
	bool paused;
	bool over;			/* the command or the processes are gone */

	/* The round that is shown. */
	uint64_t round;			/* how many there were */
	uint64_t began, ended;		/* watch_now() of its samples */
	double seconds;
	uint64_t taken;			/* samples of the event */
	uint64_t samples, unknown;	/* the same, events if it has a frequency */
	uint64_t doubtful;		/* samples whose names may be another file's */
	uint64_t hidden;		/* of these, excluded by the filter */
	uint64_t dropped;		/* records, by then and before it */
	uint64_t dropped_began, dropped_ended;
	uint64_t skipped;		/* came while it was paused */
	struct gaps gaps;
	struct top_kinds kinds;
	struct top_uncounted *uncounted; /* by event; nuncounted of them */
	uint32_t nuncounted;
	struct top_line *line;		/* most first: they add up to the samples
					 * that are not hidden */
	uint32_t nline;
};

/* data.c */
void top_init(struct top *t);
int top_begin(struct top *t);
void top_free(struct top *t);
/* The next round: takes what has come since the last one. */
void top_next_round(struct top *t);
/* The lines again, after a change of how they are wanted. */
void top_make_lines(struct top *t);
/* Of the round that is shown: do its samples say kinds of core? */
bool top_has_kinds(const struct top *t);
const char *top_key_name(enum top_key key);
const struct hwpmc_profile_event *top_event(const struct top *t, uint32_t *n);
/* A part of the samples in percent. */
double top_percent(const struct top *t, uint64_t part);
/* What a line is about, without percent and samples; and the names of columns. */
void top_line_text(const struct top *t, const struct top_line *l, char *buf,
		   size_t size);
void top_columns_text(const struct top *t, char *buf, size_t size);
/* Sentence i about samples of the event that the round lacks; false: there are not so many. */
bool top_gap_text(const struct top *t, uint32_t i, char *buf, size_t size);
/* "12345 samples, 6172/s, …". */
void top_sums_text(const struct top *t, char *buf, size_t size);

/* text.c */
void top_print_round(struct top *t);

/* screen.c: 0, or -1 after a message. */
int top_screen_open(struct top *t);
void top_screen_draw(struct top *t);
/* Take keys. true: the user wants the end. */
bool top_screen_keys(struct top *t);
void top_screen_close(void);

#endif
