/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * diff.h - the samples of two profiles side by side: what has the same names in both
 * is one line. Pure: of libhwpmcstat only what it has read.
 */
#ifndef TOOLS_DIFF_H
#define TOOLS_DIFF_H

#include <stdint.h>

#include <libhwpmcstat.h>

#include "common/byevent.h"

enum diff_key { DIFF_SYMBOL, DIFF_IMAGE, DIFF_PROCESS, DIFF_KEYS };
enum diff_sort { DIFF_BY_DELTA, DIFF_BY_RATIO, DIFF_BY_OLD, DIFF_BY_NEW,
		 DIFF_BY_NAME, DIFF_SORTS };

/* One side of an event: NULL, 0: the log does not have it. */
struct diff_side {
	struct hwpmc_profile *profile;
	const struct by_event *stacks;	/* of .profile */
	const struct hwpmc_profile_event *event;
};

struct diff_line {
	const char *image, *name;	/* image "": of a process */
	uint64_t count[2];		/* old, new */
};

struct diff {
	struct diff_side side[2];
	enum diff_key key;
	struct diff_line *line;		/* each side adds up to its event's samples */
	uint32_t n;
};

void diff_make(struct diff *d, const struct diff_side side[2],
	       enum diff_key key, enum diff_sort sort);
void diff_free(struct diff *d);

/* Share of a side's samples, in percent. */
double diff_percent(const struct diff *d, int side, uint64_t count);
/*
 * How many times as many events as before: samples times period. Infinite where
 * there were none, 1 where there are none at all.
 */
double diff_ratio(const struct diff *d, const uint64_t count[2]);

#endif
