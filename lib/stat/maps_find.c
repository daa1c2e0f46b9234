/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maps_find.c - which mapping an address belongs to at a time. A list with many records
 * gets an index as soon as looking through it has cost as much as making one: a segment
 * tree over the pieces of memory between all starts and ends, each record in the nodes
 * that it covers whole. The nodes from a piece to the root have all records of the piece.
 */
#include <stdlib.h>
#include <string.h>

#include "layer.h"
#include "stat.h"

/* Fewer are looked through. */
#define INDEX_MIN	32

struct map_index {
	uint32_t n;			/* records that it has: the first ones */
	uint32_t npoint, nleaf;
	uint64_t *point;
	uint32_t *first;		/* by node: where its records are; one more */
	uint32_t *record;		/* numbers, in order */
	uint32_t *mapping;		/* by node: the first that is no hole */
};

/* ---- points -------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t *layer_points(const struct map *map, uint32_t n, uint32_t *npoint)
{
	uint64_t *point = stat_alloc(2 * (size_t)n, sizeof(*point));
	uint32_t out = 0;

	*npoint = 0;
	if (!point || !n)
		return point;
	for (uint32_t i = 0; i < n; i++) {
		point[2 * i] = map[i].start;
		point[2 * i + 1] = map[i].end;
	}
	qsort(point, 2 * (size_t)n, sizeof(*point), by_value);
	for (uint32_t i = 1; i < 2 * n; i++)
		if (point[i] != point[out])
			point[++out] = point[i];
	*npoint = out + 1;
	return point;
}

uint32_t layer_point(const uint64_t *point, uint32_t n, uint64_t addr)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (point[mid] < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct map *layer_trim(struct map *map, uint32_t n)
{
	uint32_t room = 1;
	struct map *trimmed;

	while (room < n)
		room *= 2;
	trimmed = stat_alloc(room, sizeof(*map));
	if (!trimmed)
		return NULL;
	memcpy(trimmed, map, n * sizeof(*map));
	free(map);
	return trimmed;
}

/* ---- making the index ---------------------------------------------------- */

static void index_free(struct map_index *x)
{
	if (!x)
		return;
	free(x->point);
	free(x->first);
	free(x->record);
	free(x->mapping);
	free(x);
}

void layer_forget_index(struct layer *l)
{
	index_free(l->index);
	l->index = NULL;
}

void layer_changed(struct layer *l, uint32_t at)
{
	if (l->index && at < l->index->n)
		layer_forget_index(l);
}

typedef void node_fn(struct map_index *x, uint32_t node, uint32_t i,
		     const struct map *map);

static void each_node(struct map_index *x, const struct map *map, uint32_t i,
		      node_fn *fn)
{
	uint32_t lo = layer_point(x->point, x->npoint, map[i].start) + x->nleaf;
	uint32_t hi = layer_point(x->point, x->npoint, map[i].end) + x->nleaf;

	for (; lo < hi; lo /= 2, hi /= 2) {
		if (lo & 1)
			fn(x, lo++, i, map);
		if (hi & 1)
			fn(x, --hi, i, map);
	}
}

static void count_record(struct map_index *x, uint32_t node, uint32_t i,
			 const struct map *map)
{
	x->first[node]++;
}

/* first[node] is where the one before was put. */
static void put_record(struct map_index *x, uint32_t node, uint32_t i,
		       const struct map *map)
{
	x->record[--x->first[node]] = i;
	if (map[i].image)
		x->mapping[node] = i;
}

static bool index_fill(struct map_index *x, const struct map *map)
{
	uint32_t node, nodes = 2 * x->nleaf;
	uint64_t all = 0;

	x->first = stat_alloc(nodes + 1, sizeof(*x->first));
	x->mapping = stat_alloc(nodes, sizeof(*x->mapping));
	if (!x->first || !x->mapping)
		return false;
	memset(x->mapping, 0xff, nodes * sizeof(*x->mapping));
	for (uint32_t i = 0; i < x->n; i++)
		each_node(x, map, i, count_record);
	/* Each to the end of its records; they are put from the last on. */
	for (node = 0; node <= nodes; node++) {
		all += x->first[node];
		x->first[node] = all;
	}
	if (all > UINT32_MAX)
		return false;
	x->record = stat_alloc(all, sizeof(*x->record));
	if (!x->record)
		return false;
	for (uint32_t i = x->n; i-- > 0; )
		each_node(x, map, i, put_record);
	return true;
}

static void index_make(struct layer *l)
{
	struct map_index *x = stat_alloc(1, sizeof(*x));

	layer_forget_index(l);
	l->looked = 0;
	if (!x)
		return;
	x->n = l->n;
	x->point = layer_points(l->map, l->n, &x->npoint);
	/* A piece behind the last point: so that there is one. */
	x->nleaf = x->npoint;
	if (x->point && index_fill(x, l->map))
		l->index = x;
	else
		index_free(x);
}

/* ---- looking ------------------------------------------------------------- */

/* Records numbered from..n-1, the latest first; *early: the first that came later. */
static const struct map *scan(const struct layer *l, uint32_t from, uint32_t n,
			      uint64_t pc, uint64_t time,
			      const struct map **early)
{
	const struct map *map = l->map;

	for (uint32_t i = n; i-- > from; ) {
		if (pc < map[i].start || pc >= map[i].end)
			continue;
		if (map[i].from <= time)
			return &map[i];
		if (map[i].image)
			*early = &map[i];
	}
	return NULL;
}

/* How many of the first n were there at that time. */
static uint32_t count_until(const struct layer *l, uint32_t n, uint64_t time)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->map[mid].from <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* How many of a node's records have a number below n. */
static uint32_t count_below(const struct map_index *x, uint32_t node, uint32_t n)
{
	uint32_t lo = x->first[node], hi = x->first[node + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (x->record[mid] < n)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - x->first[node];
}

/* Of the first n records. */
static const struct map *index_find(const struct layer *l, uint32_t n, uint64_t pc,
				    uint64_t time, const struct map **early)
{
	const struct map_index *x = l->index;
	uint32_t past = count_until(l, n, time), latest = 0, later = UINT32_MAX;
	uint32_t piece = layer_point(x->point, x->npoint, pc);

	if (piece == x->npoint || x->point[piece] > pc)
		piece--;
	if (piece >= x->npoint)
		return NULL;
	for (uint32_t node = piece + x->nleaf; node; node /= 2) {
		uint32_t had = count_below(x, node, past);
		uint32_t last = had ? x->record[x->first[node] + had - 1] + 1 : 0;

		if (last > latest)
			latest = last;
		/* Only of use if none was there before. */
		if (x->mapping[node] < later)
			later = x->mapping[node];
	}
	if (latest)
		return &l->map[latest - 1];
	if (later < n)
		*early = &l->map[later];
	return NULL;
}

static const struct map *layer_find(struct layer *l, uint32_t n, uint64_t pc,
				    uint64_t time, const struct map **early)
{
	uint32_t known = l->index ? l->index->n : 0;
	const struct map *found;

	if (n <= INDEX_MIN)
		return scan(l, 0, n, pc, time, early);
	if (known > n)
		known = n;
	l->looked += n - known;
	if (l->looked > 2 * (uint64_t)l->n) {
		index_make(l);
		known = l->index ? n : 0;
	}
	found = scan(l, known, n, pc, time, early);
	return found || !known ? found :
	       index_find(l, known, pc, time, early);
}

const struct map *maps_find(const struct maps *m, uint64_t pc, uint64_t time)
{
	const struct map *early = NULL, *found;

	for (struct maps at = *m; at.layer; at = at.layer->below) {
		found = layer_find(at.layer, at.n, pc, time, &early);
		if (found)
			return found;
	}
	return early;
}
