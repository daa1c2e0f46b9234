/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - places of stacks, each once: image, function, and those that are
 * inlined there; and their source lines on request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t frame_hash(const struct hwpmc_frame *f)
{
	return hash_mix(hash_mix((uintptr_t)f->image, f->addr), f->pc * 4 + f->kernel * 2 +
			f->caller);
}

static bool same_frame(const struct hwpmc_frame *a, const struct hwpmc_frame *b)
{
	return a->image == b->image && a->addr == b->addr && a->pc == b->pc &&
	       a->kernel == b->kernel && a->caller == b->caller;
}

static bool grow_slots(struct frames *set)
{
	uint32_t n = set->nslot ? 2 * set->nslot : 1024;
	struct spot **old = set->slot, **new = stat_alloc(n, sizeof(*new));

	if (!new)
		return false;
	set->slot = new;
	for (uint32_t i = 0; i < set->nslot; i++) {
		uint32_t at;

		if (!old[i])
			continue;
		for (at = frame_hash(&old[i]->frame) & (n - 1); set->slot[at];
		     at = (at + 1) & (n - 1))
			;
		set->slot[at] = old[i];
	}
	free(old);
	set->nslot = n;
	return true;
}

/* Frames of what is inlined there, innermost first. */
static void add_inlined(struct images *images, struct image *img,
			struct spot *s)
{
	struct place at[PLACES_MAX];
	uint32_t n = lines_inlined(images, img, s->frame.addr, at, PLACES_MAX);

	s->place = at[0];
	s->placed = true;
	if (!n)
		return;
	s->inner = stat_alloc(n, sizeof(*s->inner));
	if (!s->inner)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct spot *in = &s->inner[i];

		in->frame = s->frame;
		in->frame.symbol = image_inlined(img, at[n - i].name);
		in->frame.inlined = true;
		in->place = at[n - i];
		in->placed = true;
	}
	s->ninner = n;
}

/* Its image may have got more symbols since. */
static struct spot *spot_refresh(struct images *images, struct image *img,
				 struct spot *s)
{
	if (s->generation != img->generation) {
		s->frame.symbol = image_symbol(images, img, s->frame.addr);
		s->generation = img->generation;
	}
	return s;
}

static struct spot *spot_nowhere(struct frames *set, struct model *m)
{
	struct image *img = m->images.unknown;

	set->nowhere.frame.image = &img->pub;
	set->nowhere.frame.symbol = &img->unknown;
	return &set->nowhere;
}

struct spot *frames_get(struct frames *set, struct model *m,
			struct space *space, uint64_t time, uint64_t pc,
			bool kernel, bool caller)
{
	struct hwpmc_frame f = { .pc = pc, .kernel = kernel, .caller = caller };
	/* The call, not what comes after it. */
	uint64_t look = caller && pc != HWPMC_PC_HIDDEN ? pc - 1 : pc;
	struct image *img = model_find(m, space, kernel, look, time, &f.addr);
	struct spot *s;
	uint32_t at;

	f.image = &img->pub;
	if (set->n * 2 >= set->nslot && !grow_slots(set))
		return spot_nowhere(set, m);
	for (at = frame_hash(&f) & (set->nslot - 1); (s = set->slot[at]);
	     at = (at + 1) & (set->nslot - 1))
		if (same_frame(&s->frame, &f))
			return spot_refresh(&m->images, img, s);
	f.symbol = image_symbol(&m->images, img, f.addr);
	s = stat_alloc(1, sizeof(*s));
	if (!s)
		return spot_nowhere(set, m);
	s->frame = f;
	s->generation = img->generation;
	if (m->images.options.inlines)
		add_inlined(&m->images, img, s);
	set->slot[at] = s;
	set->n++;
	return s;
}

void frames_free(struct frames *set)
{
	for (uint32_t i = 0; i < set->nslot; i++) {
		if (set->slot[i])
			free(set->slot[i]->inner);
		free(set->slot[i]);
	}
	free(set->slot);
}

/* ---- source lines -------------------------------------------------------- */

static int place_tell(const struct place *place, const char **file,
		      unsigned int *line)
{
	*file = place->file;
	*line = place->line;
	return place->file != NULL;
}

int frame_line(struct images *images, const struct hwpmc_frame *frame,
	       const char **file, unsigned int *line)
{
	struct spot *s = (struct spot *)frame;

	if (!s->placed)
		lines_find(images, (struct image *)frame->image, frame->addr,
			   &s->place);
	s->placed = true;
	return place_tell(&s->place, file, line);
}

int image_line(struct images *images, const struct hwpmc_image *image,
	       uint64_t addr, const char **file, unsigned int *line)
{
	struct place place = { .file = NULL };

	lines_find(images, (struct image *)image, addr, &place);
	return place_tell(&place, file, line);
}
