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

/* ---- names --------------------------------------------------------------- */

/* Names are one pointer each, so that a hash can have them. */
static uint64_t info_hash(const struct hwpmc_thread_info *t)
{
	uint64_t h = table_mix(table_seed, (uint64_t)(uint32_t)t->pid << 32 |
					   (uint32_t)t->tid);

	h = table_mix(h, (uintptr_t)t->comm);
	return table_mix(table_mix(h, (uintptr_t)t->process), (uintptr_t)t->path);
}

static bool same_thread(const void *items, uint32_t i, const void *key)
{
	const struct hwpmc_thread_info *t, *of = key;

	t = ((const struct hwpmc_profile *)items)->thread[i];
	return t->pid == of->pid && t->tid == of->tid && t->comm == of->comm &&
	       t->process == of->process && t->path == of->path;
}

struct hwpmc_thread_info *
profile_find_thread(struct hwpmc_profile *p, const struct hwpmc_thread_info *info)
{
	uint64_t hash = info_hash(info);
	uint32_t i = table_find(&p->threads, hash, same_thread, p, info);
	struct hwpmc_thread_info *t;

	if (i != TABLE_NONE)
		return p->thread[i];
	t = stat_room(&p->thread, p->threads.n, sizeof(t)) &&
	    table_room(&p->threads) ?
	    stat_alloc(1, sizeof(*t)) : NULL;
	if (!t) {
		p->nobody = *info;
		return &p->nobody;
	}
	*t = *info;
	p->thread[p->threads.n] = t;
	table_put(&p->threads, hash);
	return t;
}

void profile_forget_threads(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->threads.n; i++)
		free(p->thread[i]);
	free(p->thread);
	p->thread = NULL;
	table_free(&p->threads);
}

struct hwpmc_thread_info *profile_thread(struct hwpmc_profile *p,
					 const struct entry *e)
{
	const char *process = model_process(e->space, e->pid);
	struct hwpmc_thread_info info = {
		e->pid, e->as, process, process, e->space->path,
	};

	if (profile_names_threads(p)) {
		info.tid = p->whom[e->as].tid;
		info.comm = p->whom[e->as].comm;
	}
	return profile_find_thread(p, &info);
}

void profile_push_frame(struct hwpmc_stack *s, struct hwpmc_frame *frame)
{
	if (stat_room(&s->frame, s->nframe, sizeof(frame)))
		s->frame[s->nframe++] = frame;
}

static void push_spot(struct hwpmc_stack *s, struct spot *spot)
{
	for (uint32_t i = 0; i < spot->ninner; i++)
		profile_push_frame(s, &spot->inner[i].frame);
	profile_push_frame(s, &spot->frame);
}

void profile_name_frames(struct hwpmc_profile *p, const struct entry *e,
			 struct hwpmc_stack *s)
{
	bool kernel = !(e->flags & HWPMC_SAMPLE_USER), after_mark = false;
	const uint64_t *pc = p->pcs + e->pc;

	for (uint32_t i = 0; i < e->npc; i++) {
		if (e->flags & HWPMC_SAMPLE_SPLIT && pc[i] == HWPMC_PC_USER) {
			kernel = false;
			after_mark = true;
			continue;
		}
		if (e->flags & HWPMC_SAMPLE_TABLES && pc[i] == HWPMC_PC_FP)
			continue;
		/* The first of the user's frames is where it entered the kernel. */
		push_spot(s, frames_get_again(&p->frames, &p->model, e->space,
					      spot_where(e->era, kernel,
							 s->nframe && !after_mark),
					      e->time, pc[i]));
		after_mark = false;
	}
	/* A chain of marks alone is a sample too. */
	if (!s->nframe)
		push_spot(s, frames_get(&p->frames, &p->model, e->space,
					 e->time, 0, false, false));
}

/* Is every address of this chain a frame, and the process's own? */
static bool is_plain(const struct entry *e, const uint64_t *pc)
{
	if (!e->npc || e->flags & HWPMC_SAMPLE_SPLIT)
		return false;
	for (uint32_t i = 0; e->flags & HWPMC_SAMPLE_TABLES && i < e->npc; i++)
		if (pc[i] == HWPMC_PC_FP)
			return false;
	return true;
}

/*
 * Frames in the place of their addresses, which they have too: chains of a large log are the
 * most of its memory. False: a place has inlined functions, which are more frames; the
 * addresses are there again.
 */
static bool name_in_place(struct hwpmc_profile *p, const struct entry *e,
			  struct hwpmc_stack *s)
{
	bool kernel = !(e->flags & HWPMC_SAMPLE_USER);
	uint64_t *pc = p->pcs + e->pc;
	struct hwpmc_frame **frame = (void *)pc;

	_Static_assert(sizeof(*frame) == sizeof(*pc), "an address has the size of a pointer");
	for (uint32_t i = 0; i < e->npc; i++) {
		struct spot *spot = frames_get_again(&p->frames, &p->model, e->space,
						     spot_where(e->era, kernel, i), e->time,
						     pc[i]);

		if (spot->ninner || spot == &p->frames.nowhere) {
			while (i--)
				pc[i] = frame[i]->pc;
			return false;
		}
		frame[i] = &spot->frame;
	}
	s->frame = frame;
	s->nframe = e->npc;
	return true;
}

static bool is_in_place(const struct hwpmc_profile *p, const struct hwpmc_stack *s)
{
	uintptr_t frame = (uintptr_t)s->frame, pcs = (uintptr_t)p->pcs;

	return frame >= pcs && frame < pcs + p->npcs * sizeof(*p->pcs);
}

/* The frames of a stack are no longer needed, the addresses are. */
static void forget_frames(struct hwpmc_profile *p, struct hwpmc_stack *s)
{
	uint64_t *pc = (void *)s->frame;

	if (!is_in_place(p, s)) {
		free(s->frame);
		return;
	}
	for (uint32_t i = 0; i < s->nframe; i++)
		pc[i] = s->frame[i]->pc;
}

static void name_stack(struct hwpmc_profile *p, const struct entry *e, bool in_place)
{
	struct hwpmc_stack *s;

	if (!stat_room(&p->stack, p->nstack, sizeof(*s)))
		return;
	s = &p->stack[p->nstack++];
	*s = (struct hwpmc_stack){
		.event = e->event, .count = e->count, .flags = e->flags,
		.kind = e->kind, .cpu = e->cpu == NO_CPU ? -1 : e->cpu,
		.thread = profile_thread(p, e),
	};
	if (!in_place || !is_plain(e, p->pcs + e->pc) || !name_in_place(p, e, s))
		profile_name_frames(p, e, s);
	if (!s->nframe)
		return;
	s->frame[0]->image->samples += e->count;
	p->model.images.unmapped.samples[s->frame[0]->unmapped] += e->count;
	if (s->frame[0]->symbol->unknown)
		p->totals.unknown += e->count;
}

void profile_name_stack(struct hwpmc_profile *p, const struct entry *e)
{
	name_stack(p, e, false);
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

void profile_forget_stacks(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nstack; i++)
		forget_frames(p, &p->stack[i]);
	free(p->stack);
	p->stack = NULL;
	p->nstack = 0;
	for (uint32_t i = 0; i < p->model.images.n; i++)
		p->model.images.all[i]->pub.samples = 0;
	memset(p->model.images.unmapped.samples, 0, sizeof(p->model.images.unmapped.samples));
	p->totals.unknown = 0;
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
	profile_forget_stacks(p);
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
				name_stack(p, &p->entry[i], true);
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
	return stat_null(!p || !key) ? NULL : profile_note(p, key, 0);
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
