/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.c - stacks of all rounds. Frames are copies of the profile's, which forgets its
 * own: one place, one pointer, so pointers are compared.
 */
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "top.h"

static uint64_t hash_of(const struct hwpmc_stack *s)
{
	uint64_t h = s->event + 1;

	for (uint32_t i = 0; i < s->nframe; i++) {
		h = (h ^ (uintptr_t)s->frame[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

static bool is_same(const struct view_entry *e, const struct hwpmc_stack *s,
		    uint64_t hash)
{
	return e->hash == hash && e->stack.event == s->event &&
	       e->stack.nframe == s->nframe &&
	       !memcmp(e->stack.frame, s->frame,
		       s->nframe * sizeof(struct hwpmc_frame *));
}

static uint32_t *find_slot(const struct view_store *s,
			   const struct hwpmc_stack *stack, uint64_t hash)
{
	uint32_t at = hash & (s->nslot - 1);

	while (s->slot[at] && !is_same(&s->entry[s->slot[at] - 1], stack, hash))
		at = (at + 1) & (s->nslot - 1);
	return &s->slot[at];
}

static void store_grow(struct view_store *s)
{
	s->nslot = s->nslot ? 2 * s->nslot : 1024;
	free(s->slot);
	s->slot = must_calloc(s->nslot, sizeof(*s->slot));
	s->entry = must_realloc(s->entry, s->nslot / 2, sizeof(*s->entry));
	for (uint32_t i = 0; i < s->n; i++)
		*find_slot(s, &s->entry[i].stack, s->entry[i].hash) = i + 1;
}

static void add_stack(struct view_store *s, const struct hwpmc_stack *stack)
{
	uint64_t hash = hash_of(stack);
	size_t size = sizeof(struct hwpmc_frame *);
	struct view_entry *e;
	uint32_t *slot;

	if (s->n == s->nslot / 2)
		store_grow(s);
	slot = find_slot(s, stack, hash);
	if (!*slot) {
		e = &s->entry[s->n];
		*e = (struct view_entry){ .hash = hash };
		/* Not its thread, which the profile forgets. */
		e->stack.event = stack->event;
		e->stack.nframe = stack->nframe;
		e->stack.frame = must_calloc(stack->nframe, size);
		memcpy(e->stack.frame, stack->frame, stack->nframe * size);
		*slot = ++s->n;
	}
	e = &s->entry[*slot - 1];
	e->next += stack->count;
	e->taken.next += stack->taken;
}

static void take_stack(struct view_store *s, const struct hwpmc_stack *stack)
{
	/* No record holds more frames, but inlined functions add to them. */
	struct hwpmc_frame **frame = must_calloc(stack->nframe, sizeof(*frame));
	struct hwpmc_stack mine = *stack;

	for (uint32_t i = 0; i < stack->nframe; i++)
		frame[i] = view_places_copy(&s->places, stack->frame[i]);
	mine.frame = frame;
	add_stack(s, &mine);
	free(frame);
}

static void store_reset(struct view_store *s)
{
	struct view_store empty = {
		.dropped = s->dropped, .most = s->most, .resets = s->resets + 1,
	};

	view_store_free(s);
	*s = empty;
}

void view_store_gather(struct view_store *s, struct hwpmc_profile *p)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	const struct hwpmc_stack *stack;
	uint32_t n;

	hwpmc_profile_resolve(p);
	stack = hwpmc_profile_stacks(p, &n);
	/* What is there may be shown as long as nothing else comes. */
	if (n && s->n > (s->most ? s->most : VIEW_STACKS_MAX))
		store_reset(s);
	for (uint32_t i = 0; i < n; i++)
		take_stack(s, &stack[i]);
	for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
		s->dropped += t->dropped[i];
	view_places_end_round(&s->places);
	hwpmc_profile_forget(p);
}

void view_store_take(struct view_store *s, struct hwpmc_profile *p)
{
	view_store_gather(s, p);
	for (uint32_t i = 0; i < s->n; i++) {
		struct view_entry *e = &s->entry[i];

		e->round = e->next;
		e->total += e->next;
		e->next = 0;
		e->taken.round = e->taken.next;
		e->taken.total += e->taken.next;
		e->taken.next = 0;
	}
}

void view_store_free(struct view_store *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->entry[i].stack.frame);
	free(s->entry);
	free(s->slot);
	view_places_free(&s->places);
}
