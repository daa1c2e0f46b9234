/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c - stacks of a profile: the addresses of an entry become frames, and its process
 * and thread a name.
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

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
stacks_find_thread(struct hwpmc_profile *p, const struct hwpmc_thread_info *info)
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

void stacks_forget_threads(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->threads.n; i++)
		free(p->thread[i]);
	free(p->thread);
	p->thread = NULL;
	table_free(&p->threads);
}

struct hwpmc_thread_info *stacks_thread(struct hwpmc_profile *p,
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
	return stacks_find_thread(p, &info);
}

void stacks_push_frame(struct hwpmc_stack *s, struct hwpmc_frame *frame)
{
	if (stat_room(&s->frame, s->nframe, sizeof(frame)))
		s->frame[s->nframe++] = frame;
}

static void push_spot(struct hwpmc_stack *s, struct spot *spot)
{
	for (uint32_t i = 0; i < spot->ninner; i++)
		stacks_push_frame(s, &spot->inner[i].frame);
	stacks_push_frame(s, &spot->frame);
}

void stacks_name_frames(struct hwpmc_profile *p, const struct entry *e,
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

void stacks_add(struct hwpmc_profile *p, const struct entry *e, bool in_place)
{
	struct hwpmc_stack *s;

	if (!stat_room(&p->stack, p->nstack, sizeof(*s)))
		return;
	s = &p->stack[p->nstack++];
	*s = (struct hwpmc_stack){
		.event = e->event, .count = e->count, .taken = profile_taken(p, e),
		.flags = e->flags,
		.kind = e->kind, .cpu = e->cpu == NO_CPU ? -1 : e->cpu,
		.thread = stacks_thread(p, e),
	};
	if (!in_place || !is_plain(e, p->pcs + e->pc) || !name_in_place(p, e, s))
		stacks_name_frames(p, e, s);
	if (!s->nframe)
		return;
	s->frame[0]->image->samples += s->taken;
	p->model.images.unmapped.samples[s->frame[0]->unmapped] += s->taken;
	if (s->frame[0]->symbol->unknown)
		p->totals.unknown += s->taken;
}

void stacks_forget(struct hwpmc_profile *p)
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
