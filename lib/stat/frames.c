/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - places of stacks, each once: image, function, and those that are
 * inlined there; and their source lines on request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

static uint64_t frame_hash(const struct hwpmc_frame *f)
{
	uint64_t h = table_mix(table_seed ^ (uintptr_t)f->image, f->addr);

	h = table_mix(h, f->pc * 4 + f->kernel * 2 + f->caller);
	return f->unmapped ? table_mix(h, f->unmapped) : h;
}

static bool frame_is_same(const struct hwpmc_frame *a, const struct hwpmc_frame *b)
{
	return a->image == b->image && a->addr == b->addr && a->pc == b->pc &&
	       a->kernel == b->kernel && a->caller == b->caller &&
	       a->unmapped == b->unmapped;
}

static bool same_spot(const void *items, uint32_t i, const void *key)
{
	const struct frames *set = items;

	return frame_is_same(&set->spot[i]->frame, key);
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
	uint64_t look = caller ? caller_pc(pc) : pc;
	struct image *img = model_find(m, space, kernel, look, time, &f.addr);
	struct spot *s;
	uint64_t hash;
	uint32_t i;

	f.image = &img->pub;
	if (img == m->images.unknown)
		f.unmapped = model_unmapped(space, look, time);
	hash = frame_hash(&f);
	i = table_find(&set->table, hash, same_spot, set, &f);
	if (i != TABLE_NONE)
		return spot_refresh(&m->images, img, set->spot[i]);
	f.symbol = image_symbol(&m->images, img, f.addr);
	if (!table_room(&set->table) ||
	    !stat_room(&set->spot, set->table.n, sizeof(s)))
		return spot_nowhere(set, m);
	s = stat_alloc(1, sizeof(*s));
	if (!s)
		return spot_nowhere(set, m);
	s->frame = f;
	s->pub.serial = set->table.n;
	s->generation = img->generation;
	if (m->images.options.inlines)
		add_inlined(&m->images, img, s);
	set->spot[set->table.n] = s;
	table_put(&set->table, hash);
	return s;
}

struct spot *frames_get_first(struct frames *set, struct model *m, struct space *space,
			      uint64_t where, uint64_t time, uint64_t pc)
{
	struct spot *s = frames_get(set, m, space, time, pc, where & 2, where & 1);

	/* Generated code is replaced too often for eras. */
	if (set->memo && s != &set->nowhere && s->frame.image->kind != HWPMC_IMAGE_JIT)
		set->memo[pc * SPOT_FACTOR >> (64 - SPOT_BITS)] =
			(struct spot_memo){ pc, space, where, s };
	return s;
}

void frames_begin(struct frames *set)
{
	frames_end(set);
	set->memo = calloc(1u << SPOT_BITS, sizeof(*set->memo));
}

void frames_end(struct frames *set)
{
	free(set->memo);
	set->memo = NULL;
}

void frames_free(struct frames *set)
{
	frames_end(set);
	for (uint32_t i = 0; i < set->table.n; i++) {
		free(set->spot[i]->inner);
		free(set->spot[i]);
	}
	free(set->spot);
	table_free(&set->table);
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
