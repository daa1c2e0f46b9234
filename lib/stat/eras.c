/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eras.c - from when on something else lies where something lay: within an era an
 * address means one thing, so that its samples can be counted as one. What is mapped
 * where nothing was begins no era: it explains samples that came before it, too.
 */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/* A mapping of that much before is not looked at: generated code can have many. */
#define LOOK_BACK	4096

static void eras_add(struct eras *e, uint64_t time)
{
	uint32_t i = e->n;

	while (i && e->at[i - 1] > time)
		i--;
	if ((i && e->at[i - 1] == time) ||
	    !stat_room(&e->at, e->n, sizeof(*e->at)))
		return;
	memmove(e->at + i + 1, e->at + i, (e->n - i) * sizeof(*e->at));
	e->at[i] = time;
	e->n++;
}

/* The same bytes of the same file: reported twice. */
static bool is_same(const struct map *a, const struct map *b)
{
	return a->image == b->image &&
	       (a->start - a->offset == b->start - b->offset ||
		a->image->pub.kind == HWPMC_IMAGE_JIT);
}

static bool is_replaced(const struct map *map, const void *by)
{
	const struct map *new = by;

	return map->image && map->start < new->end && new->start < map->end &&
	       !is_same(map, new);
}

void eras_note(struct eras *e, const struct maps *maps, const struct map *new)
{
	if (maps_each_back(maps, LOOK_BACK, is_replaced, new))
		eras_add(e, new->from);
}

uint32_t eras_at(const struct eras *e, uint64_t time, uint64_t *from,
		 uint64_t *until)
{
	uint32_t lo = 0, hi = e->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (e->at[mid] <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && e->at[lo - 1] > *from)
		*from = e->at[lo - 1];
	if (lo < e->n && e->at[lo] < *until)
		*until = e->at[lo];
	return lo;
}

void eras_forget(struct eras *e, uint64_t before)
{
	uint32_t n = 0;

	while (n < e->n && e->at[n] < before)
		n++;
	if (!n)
		return;
	e->n -= n;
	memmove(e->at, e->at + n, e->n * sizeof(*e->at));
}

void eras_free(struct eras *e)
{
	free(e->at);
}
