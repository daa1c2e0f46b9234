/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.c - two profiles, joined by names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "diff.h"

static struct diff_line line_of(const struct hwpmc_stack *s, enum diff_key key)
{
	const struct hwpmc_frame *leaf = s->frame[0];

	switch (key) {
	case DIFF_SYMBOL:
		return (struct diff_line){ .image = leaf->image->name,
					   .name = leaf->symbol->name };
	case DIFF_IMAGE:
		return (struct diff_line){ .image = leaf->image->name,
					   .name = "" };
	default:
		return (struct diff_line){ .image = "",
					   .name = s->thread->process };
	}
}

static int by_names(const void *a, const void *b)
{
	const struct diff_line *x = a, *y = b;
	int d = strcmp(x->image, y->image);

	return d ? d : strcmp(x->name, y->name);
}

static uint32_t add_side(struct diff *d, int which, uint32_t n)
{
	const struct diff_side *side = &d->side[which];
	uint32_t nevent, event, more;

	if (!side->event)
		return n;
	event = side->event - hwpmc_profile_events(side->profile, &nevent);
	more = by_event_count(side->stacks, event);
	d->line = must_realloc(d->line, n + more, sizeof(*d->line));
	for (uint32_t i = 0; i < more; i++) {
		const struct hwpmc_stack *s = by_event_get(side->stacks, event, i);

		d->line[n] = line_of(s, d->key);
		d->line[n++].count[which] = s->count;
	}
	return n;
}

static uint32_t merge_lines(struct diff_line *l, uint32_t n)
{
	uint32_t out = 0;

	qsort(l, n, sizeof(*l), by_names);
	for (uint32_t i = 1; i < n; i++) {
		if (by_names(&l[out], &l[i])) {
			l[++out] = l[i];
			continue;
		}
		l[out].count[0] += l[i].count[0];
		l[out].count[1] += l[i].count[1];
	}
	return n ? out + 1 : 0;
}

double diff_percent(const struct diff *d, int side, uint64_t count)
{
	const struct hwpmc_profile_event *ev = d->side[side].event;

	return ev && ev->samples ? 100.0 * count / ev->samples : 0;
}

static double events_of_samples(const struct diff *d, int side, uint64_t count)
{
	const struct hwpmc_profile_event *ev = d->side[side].event;

	/* The log may not have the event's period: then samples are compared. */
	return ev ? (double)count * (ev->period ? ev->period : 1) : 0;
}

double diff_ratio(const struct diff *d, const uint64_t count[2])
{
	double old = events_of_samples(d, 0, count[0]), new = events_of_samples(d, 1, count[1]);

	if (old == 0)
		return new == 0 ? 1 : INFINITY;
	return new / old;
}

/* ---- order --------------------------------------------------------------- */

static const struct diff *sorting;	/* for qsort() */
static enum diff_sort sorting_by;

static double line_weight(const struct diff_line *l)
{
	double old = diff_percent(sorting, 0, l->count[0]);
	double new = diff_percent(sorting, 1, l->count[1]);
	double ratio;

	switch (sorting_by) {
	case DIFF_BY_DELTA:
		return fabs(new - old);
	case DIFF_BY_RATIO:
		ratio = diff_ratio(sorting, l->count);
		return ratio > 0 ? fabs(log(ratio)) : INFINITY;
	case DIFF_BY_OLD:
		return old;
	case DIFF_BY_NEW:
		return new;
	default:
		return 0;
	}
}

static int most_first(const void *a, const void *b)
{
	double x = line_weight(a), y = line_weight(b);

	return x > y ? -1 : x < y ? 1 : by_names(a, b);
}

void diff_make(struct diff *d, const struct diff_side side[2],
	       enum diff_key key, enum diff_sort sort)
{
	uint32_t n;

	*d = (struct diff){ .side = { side[0], side[1] }, .key = key };
	n = add_side(d, 1, add_side(d, 0, 0));
	d->n = merge_lines(d->line, n);
	sorting = d;
	sorting_by = sort;
	qsort(d->line, d->n, sizeof(*d->line), most_first);
}

void diff_free(struct diff *d)
{
	free(d->line);
}
