/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maps.h - what was mapped where, over time. A forked process sees the mappings that
 * its parent had without a copy of them: the lists are layers on each other.
 */
#ifndef HWPMC_LIB_MAPS_H
#define HWPMC_LIB_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct layer;

/* Memory, and what was mapped there from then on. */
struct map {
	uint64_t start, end, offset, from;
	struct image *image;		/* NULL: nothing is any more */
};

/* The first n records of a layer, and those of the layers below it. */
struct maps {
	struct layer *layer;		/* NULL: none */
	uint32_t n;
};

/* In the order of time. */
void maps_add(struct maps *m, struct map new);
/* child is empty, and sees what is in m now. */
void maps_share(const struct maps *m, struct maps *child);
/* What was there last at that time; else the first that came later. NULL: none. */
const struct map *maps_find(const struct maps *m, uint64_t pc, uint64_t time);
/* For at most n of them, the latest first, until fn says true. */
bool maps_each_back(const struct maps *m, uint32_t n,
		    bool (*fn)(const struct map *map, const void *arg),
		    const void *arg);
/* Removes what was replaced before that time, if that pays. */
void maps_forget(struct maps *m, uint64_t before);
/* image->used of each; round: another number for each time. */
void maps_mark_images(const struct maps *m, uint32_t round);
void maps_free(struct maps *m);

#endif /* HWPMC_LIB_MAPS_H */
