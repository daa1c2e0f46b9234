/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maps.c - layers of mappings: adding, sharing and forgetting. A layer is a list of
 * records in the order of time. One process, its owner, adds to it; those that were
 * forked from it see the records that were there, and begin a layer of their own when
 * they map something. Lookups are in maps_find.c.
 */
#include <stdlib.h>
#include <string.h>

#include "layer.h"
#include "stat.h"

/* Lookups go from layer to layer: no more than this many. */
#define DEPTH_MAX	1024
/* Records of several CPUs are out of order by a few; a later time is given to others. */
#define SHIFT_MAX	64
/* Do not look at each mapping of each process each time. */
#define FORGET_MIN	64

/* ---- layers -------------------------------------------------------------- */

static void layer_put(struct layer *l)
{
	while (l && !--l->refs) {
		struct layer *below = l->below.layer;

		layer_forget_index(l);
		free(l->map);
		free(l);
		l = below;
	}
}

static struct layer *layer_new(struct maps *owner)
{
	struct layer *l = stat_alloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->refs = 1;
	l->owner = owner;
	return l;
}

void maps_free(struct maps *m)
{
	if (m->layer && m->layer->owner == m)
		m->layer->owner = NULL;
	layer_put(m->layer);
	*m = (struct maps){ NULL, 0 };
}

void maps_share(const struct maps *m, struct maps *child)
{
	*child = *m;
	if (!m->layer)
		return;
	m->layer->refs++;
	if (m->layer->shared < m->n)
		m->layer->shared = m->n;
}

/* ---- what is still there ------------------------------------------------- */

/* All records that m sees, the first ones first; NULL: no memory. */
static struct map *maps_copy(const struct maps *m, uint32_t *n)
{
	uint64_t all = 0;
	struct map *copy;

	for (struct maps at = *m; at.layer; at = at.layer->below)
		all += at.n;
	*n = all;
	if (all >= UINT32_MAX / 4)
		stat_nomem = true;
	copy = stat_nomem ? NULL : stat_alloc(all, sizeof(*copy));
	for (struct maps at = *m; copy && at.layer; at = at.layer->below) {
		all -= at.n;
		memcpy(copy + all, at.layer->map, at.n * sizeof(*copy));
	}
	return copy;
}

/* Pieces of memory between places where a record begins or ends. */
struct pieces {
	uint64_t *point;		/* piece i is from point i to the next */
	uint32_t n;			/* of points */
	uint32_t *owner;		/* the latest record there + 1 */
	uint32_t *next;			/* the next piece without an owner */
	int32_t *covers;		/* kept mappings that cover it */
};

static void pieces_free(struct pieces *p)
{
	free(p->point);
	free(p->owner);
	free(p->next);
	free(p->covers);
}

static bool pieces_init(struct pieces *p, const struct map *map, uint32_t n)
{
	*p = (struct pieces){ .n = 0 };
	p->point = layer_points(map, n, &p->n);
	p->owner = stat_alloc(p->n + 1, sizeof(*p->owner));
	p->next = stat_alloc(p->n + 1, sizeof(*p->next));
	p->covers = stat_alloc(p->n + 1, sizeof(*p->covers));
	if (!p->point || !p->owner || !p->next || !p->covers) {
		pieces_free(p);
		return false;
	}
	for (uint32_t i = 0; i <= p->n; i++)
		p->next[i] = i;
	return true;
}

/* The first unowned piece from i on; paths to it become shorter. */
static uint32_t piece_free_from(struct pieces *p, uint32_t i)
{
	while (p->next[i] != i) {
		p->next[i] = p->next[p->next[i]];
		i = p->next[i];
	}
	return i;
}

/* The latest records take their pieces first. */
static void pieces_take(struct pieces *p, const struct map *map, uint32_t n)
{
	for (uint32_t i = n; i-- > 0; ) {
		uint32_t at = layer_point(p->point, p->n, map[i].start);
		uint32_t end = layer_point(p->point, p->n, map[i].end);
		bool has = false;

		while ((at = piece_free_from(p, at)) < end) {
			p->owner[at] = i + 1;
			p->next[at] = at + 1;
			has = true;
		}
		if (!has || !map[i].image)
			continue;
		p->covers[layer_point(p->point, p->n, map[i].start)]++;
		p->covers[end]--;
	}
}

/*
 * Leaves those of the first n that an address still belongs to, and holes in what is
 * left; returns how many.
 */
static uint32_t maps_settle(struct map *map, uint32_t n)
{
	struct pieces p;
	uint32_t kept = 0;
	int32_t covers = 0;
	bool *keep;

	if (!pieces_init(&p, map, n))
		return n;
	keep = stat_alloc(n, sizeof(*keep));
	if (!keep) {
		pieces_free(&p);
		return n;
	}
	pieces_take(&p, map, n);
	for (uint32_t i = 0; i < p.n; i++) {
		covers += p.covers[i];
		/* A hole in nothing is nothing. */
		if (p.owner[i] && (map[p.owner[i] - 1].image || covers))
			keep[p.owner[i] - 1] = true;
	}
	for (uint32_t i = 0; i < n; i++)
		if (keep[i])
			map[kept++] = map[i];
	free(keep);
	pieces_free(&p);
	return kept;
}

/* m gets a layer of its own that has no other below it. */
static void maps_flatten(struct maps *m, uint64_t before)
{
	struct layer *l = layer_new(m), *old = m->layer;
	uint32_t n, past = 0, kept;
	struct map *map = l ? maps_copy(m, &n) : NULL;

	if (!map) {
		free(l);
		return;
	}
	while (past < n && map[past].from < before)
		past++;
	kept = maps_settle(map, past);
	memmove(map + kept, map + past, (n - past) * sizeof(*map));
	l->n = l->settled = kept + (n - past);
	/* Room as stat_room() has it. */
	l->map = layer_trim(map, l->n);
	if (!l->map) {
		free(map);
		free(l);
		return;
	}
	if (old->owner == m)
		old->owner = NULL;
	layer_put(old);
	m->layer = l;
	m->n = l->n;
}

void maps_forget(struct maps *m, uint64_t before)
{
	struct layer *l = m->layer;

	if (l && l->owner == m && l->n >= 2 * l->settled && l->n >= FORGET_MIN)
		maps_flatten(m, before);
}

void maps_mark_images(const struct maps *m, uint32_t round)
{
	for (struct layer *l = m->layer; l && l->round != round;
	     l = l->below.layer) {
		l->round = round;
		for (uint32_t i = 0; i < l->n; i++)
			if (l->map[i].image)
				l->map[i].image->used = true;
	}
}

/* ---- adding -------------------------------------------------------------- */

/* A layer that m can add to, on what it sees. */
static struct layer *own_layer(struct maps *m)
{
	struct layer *l;

	if (m->layer && m->layer->owner == m)
		return m->layer;
	if (m->layer && m->layer->depth >= DEPTH_MAX) {
		maps_flatten(m, UINT64_MAX);
		return m->layer->owner == m ? m->layer : NULL;
	}
	l = layer_new(m);
	if (!l)
		return NULL;
	l->below = *m;
	l->depth = m->layer ? m->layer->depth + 1 : 0;
	*m = (struct maps){ l, 0 };
	return l;
}

void maps_add(struct maps *m, struct map new)
{
	struct layer *l = own_layer(m);
	uint32_t at, least;

	if (!l || l->n >= UINT32_MAX / 4 ||
	    !stat_room(&l->map, l->n, sizeof(new))) {
		stat_nomem = true;
		return;
	}
	at = l->n;
	least = at > SHIFT_MAX ? at - SHIFT_MAX : 0;
	if (least < l->shared)
		least = l->shared;
	while (at > least && l->map[at - 1].from > new.from)
		at--;
	if (at && l->map[at - 1].from > new.from)
		new.from = l->map[at - 1].from;
	memmove(l->map + at + 1, l->map + at, (l->n - at) * sizeof(new));
	l->map[at] = new;
	m->n = ++l->n;
	layer_changed(l, at);
}

bool maps_each_back(const struct maps *m, uint32_t n,
		    bool (*fn)(const struct map *map, const void *arg),
		    const void *arg)
{
	for (struct maps at = *m; at.layer; at = at.layer->below)
		for (uint32_t i = at.n; i-- > 0; ) {
			if (!n--)
				return false;
			if (fn(&at.layer->map[i], arg))
				return true;
		}
	return false;
}
