/* SPDX-License-Identifier: BSD-2-Clause */
/* layer.h - what maps.c and maps_find.c share. */
#ifndef HWPMC_LIB_LAYER_H
#define HWPMC_LIB_LAYER_H

#include "maps.h"

struct layer {
	uint32_t refs;			/* of processes, and of layers on it */
	uint32_t depth;			/* layers below it */
	struct map *map;		/* by time */
	uint32_t n;
	uint32_t shared;		/* of them, seen by others than the owner */
	struct maps below;
	const struct maps *owner;	/* adds records; NULL: it is gone */
	uint32_t settled;		/* maps_forget(): records that were left */
	uint32_t round;			/* maps_mark_images() */
	uint64_t looked;		/* at records without an index, since the last */
	struct map_index *index;	/* NULL: none yet */
};

/* Where the records begin and end, each once, in order; NULL: no memory. */
uint64_t *layer_points(const struct map *map, uint32_t n, uint32_t *npoint);
/* The number of the first point at addr or after it. */
uint32_t layer_point(const uint64_t *point, uint32_t n, uint64_t addr);
/* A copy with the room that stat_room() expects, which replaces it; NULL: no memory. */
struct map *layer_trim(struct map *map, uint32_t n);
/* From record `at` on it is another list. */
void layer_changed(struct layer *l, uint32_t at);
void layer_forget_index(struct layer *l);

#endif /* HWPMC_LIB_LAYER_H */
