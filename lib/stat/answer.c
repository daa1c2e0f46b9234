/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer.c - what a profile says: stacks whose addresses have become functions, and
 * the sums of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

static uint64_t to_ns(const struct hwpmc_profile *p, uint64_t tick)
{
	return p->clock.real0 + clock_ns(&p->clock, tick);
}

/* Room for all of a view, which is rebuilt by each call. */
static bool view_room(void *view, size_t n, size_t size)
{
	void *new = stat_alloc(n, size), *old;

	if (!new)
		return false;
	memcpy(&old, view, sizeof(old));
	free(old);
	memcpy(view, &new, sizeof(new));
	return true;
}

static void view_events(struct hwpmc_profile *p)
{
	if (!view_room(&p->event_view, p->nevent, sizeof(*p->event_view)))
		return;
	for (uint32_t i = 0; i < p->nevent; i++) {
		p->event_view[i] = p->event[i].pub;
		p->event_view[i].name = p->event[i].name;
	}
}

void profile_view_images(struct hwpmc_profile *p)
{
	const struct images *set = &p->model.images;

	if (!view_room(&p->image_view, set->n, sizeof(*p->image_view)))
		return;
	for (uint32_t i = 0; i < set->n; i++)
		p->image_view[i] = &set->all[i]->pub;
	p->nimage_view = set->n;
}

static int point_by_time(const void *a, const void *b)
{
	const struct hwpmc_sample_point *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Which stack each entry has become: those that are left out have none. */
static uint32_t *number_stacks(const struct hwpmc_profile *p)
{
	uint32_t *number = stat_alloc(p->nentry, sizeof(*number)), n = 0;

	for (uint32_t i = 0; number && i < p->nentry; i++)
		number[i] = p->entry[i].out ? UINT32_MAX : n++;
	return number;
}

static void view_points(struct hwpmc_profile *p)
{
	uint32_t *number;

	p->npoint_view = 0;
	if (!p->npoint ||
	    !view_room(&p->point_view, p->npoint, sizeof(*p->point_view)))
		return;
	number = number_stacks(p);
	for (uint32_t i = 0; number && i < p->npoint; i++) {
		struct hwpmc_sample_point *to = &p->point_view[p->npoint_view];

		*to = p->point[i];
		to->stack = number[to->stack];
		to->time = to_ns(p, to->time) - to_ns(p, p->first);
		p->npoint_view += to->stack != UINT32_MAX;
	}
	free(number);
	qsort(p->point_view, p->npoint_view, sizeof(*p->point_view), point_by_time);
}

static void explain_unmapped(struct hwpmc_profile *p)
{
	struct images *set = &p->model.images;
	uint64_t lost = 0;

	for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
		lost += p->totals.others_dropped[i];
	set->unknown->pub.problem = unmapped_text(&set->unmapped, lost);
}

void profile_name_all(struct hwpmc_profile *p)
{
	uint64_t end = p->end > p->last ? p->end : p->last;

	clock_bound(&p->clock, end, &p->model.images);
	stacks_forget(p);
	frames_begin(&p->frames);
	profile_choose(p);
	profile_count_ends(p);
	stops_count(p);
	/* The timeline counts on a stack for each entry. */
	if (p->o.min_share > 0 && !p->o.timeline)
		fold_name_all(p);
	else
		for (uint32_t i = 0; i < p->nentry; i++)
			if (!p->entry[i].out)
				stacks_add(p, &p->entry[i], true);
	frames_end(&p->frames);
	explain_unmapped(p);
	p->totals.first = to_ns(p, p->first);
	p->totals.last = to_ns(p, p->last);
	p->totals.duration = p->totals.last - p->totals.first;
	p->totals.pauses = p->pauses.times;
	p->totals.paused = clock_ns(&p->clock, p->clock.tick0 + pauses_until(&p->pauses, end));
	p->totals.paused_cpus = p->pauses.n;
	p->totals.paused_percent = p->pauses.percent;
	losses_view(&p->losses, p);
	view_events(p);
	profile_view_images(p);
	view_points(p);
}

/* ---- the answer ---------------------------------------------------------- */

EXPORT const struct hwpmc_profile_totals *
hwpmc_profile_totals(const struct hwpmc_profile *p)
{
	return stat_null(!p) ? NULL : &p->totals;
}

/* An array of no profile has no entries. */
static bool has_answer(const struct hwpmc_profile *p, uint32_t *n)
{
	if (n)
		*n = 0;
	return !stat_null(!p || !n);
}

EXPORT const struct hwpmc_profile_event *
hwpmc_profile_events(const struct hwpmc_profile *p, uint32_t *n)
{
	if (!has_answer(p, n))
		return NULL;
	*n = p->nevent;
	return p->event_view;
}

EXPORT const struct hwpmc_stack *
hwpmc_profile_stacks(const struct hwpmc_profile *p, uint32_t *n)
{
	if (!has_answer(p, n))
		return NULL;
	*n = p->nstack;
	return p->stack;
}

EXPORT const struct hwpmc_sample_point *
hwpmc_profile_timeline(const struct hwpmc_profile *p, uint32_t *n)
{
	if (!has_answer(p, n))
		return NULL;
	*n = p->npoint_view;
	return p->point_view;
}

EXPORT struct hwpmc_image *const *
hwpmc_profile_images(const struct hwpmc_profile *p, uint32_t *n)
{
	if (!has_answer(p, n))
		return NULL;
	*n = p->nimage_view;
	return p->image_view;
}

EXPORT const struct hwpmc_symbol *
hwpmc_profile_symbol(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr)
{
	const struct hwpmc_symbol *s;

	if (stat_null(!p || !image))
		return NULL;
	stat_nomem = false;
	s = image_symbol(&p->model.images, (struct image *)image, addr);
	stat_end(&p->broken);
	return s;
}

EXPORT const char *hwpmc_profile_note(const struct hwpmc_profile *p,
				      const char *key)
{
	return stat_null(!p || !key) ? NULL : notes_get(p, key, 0);
}

EXPORT int hwpmc_frame_line(struct hwpmc_profile *p,
			    const struct hwpmc_frame *frame, const char **file,
			    unsigned int *line)
{
	int found;

	if (stat_null(!p || !frame || !file || !line))
		return -1;
	stat_nomem = false;
	/* The one of all branches that are not shown is no place in a program. */
	if (frame == &p->other.frame) {
		*file = NULL;
		return 0;
	}
	found = frame_line(&p->model.images, frame, file, line);
	return stat_end(&p->broken) < 0 ? -1 : found;
}

EXPORT int hwpmc_image_line(struct hwpmc_profile *p,
			    const struct hwpmc_image *image, uint64_t addr,
			    const char **file, unsigned int *line)
{
	int found;

	if (stat_null(!p || !image || !file || !line))
		return -1;
	stat_nomem = false;
	found = image_line(&p->model.images, image, addr, file, line);
	return stat_end(&p->broken) < 0 ? -1 : found;
}
