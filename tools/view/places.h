/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * places.h - copies of the frames of profiles: they stay when a profile forgets its
 * processes and files. Equal places of different profiles, or of different rounds of one,
 * are one copy, so that pointers can be compared.
 */
#ifndef TOOLS_VIEW_PLACES_H
#define TOOLS_VIEW_PLACES_H

#include <stdint.h>

#include <libhwpmcstat.h>

struct view_place;

struct view_places_table {
	struct view_place **slot;
	uint32_t nslot, n;
};

struct view_places {
	struct view_places_table symbols, frames;
	struct view_places_table known;	/* frames of the profile, until it forgets them */
};

/* The copy: symbol, names of its image, and the address in it; nothing else is set. */
struct hwpmc_frame *view_places_copy(struct view_places *p,
				     const struct hwpmc_frame *frame);
/* Before the profile forgets its frames: others may be at their addresses then. */
void view_places_end_round(struct view_places *p);
void view_places_free(struct view_places *p);

#endif
