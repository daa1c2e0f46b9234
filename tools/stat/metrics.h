/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics.h - the metrics of one "hwpmc stat" (-M): chosen by name, their events among
 * those that are counted, their values.
 */
#ifndef TOOLS_STAT_METRICS_H
#define TOOLS_STAT_METRICS_H

#include "define.h"
#include "stat.h"

struct chosen {
	const struct define *def;
	struct formula f;
	unsigned int event[FORMULA_EVENTS];	/* of the set, by the formula's */
};

struct metrics {
	struct defines defines;
	struct chosen *chosen;
	unsigned int n;
};

/* What o->metric names; its events go to the end of o->events, each once. 0, or -1
 * after a message. */
int metrics_open(struct metrics *m, struct hwpmc *h, struct stat_options *o);
void metrics_close(struct metrics *m);

/* Of the whole, or of one row (an index of stat_rows()); -1: the whole. False: it has no
 * value, for the formula divides by 0 or an event of it was not counted. */
bool metrics_value(const struct stat_report *r, const struct chosen *c, int row,
		   double *value);

#endif
