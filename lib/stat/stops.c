/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stops.c - in which images chains end early that were walked by unwind tables: where a
 * file has no table, or none yet, or no rule. They are counted by page when samples are read, for a
 * profile of leaves has no other address of them; the images come when all is read.
 */
#include <stdlib.h>

#include "profile.h"

#define PAGE_SHIFT	12

static bool same_stop(const void *items, uint32_t i, const void *key)
{
	const struct chain_stop *a = (const struct chain_stop *)items + i, *b = key;

	return a->space == b->space && a->end == b->end && a->era == b->era &&
	       a->pc >> PAGE_SHIFT == b->pc >> PAGE_SHIFT;
}

/* The address where the tables ended: the last one, or that before the last frames by frame
 * pointers. */
static uint64_t stop_of(const struct hwpmc_record *r)
{
	const uint64_t *pc = (const uint64_t *)r->sample->pc;
	uint32_t n = r->npc - 1;

	for (uint32_t i = n - 1; i; i--)
		if (pc[i] == HWPMC_PC_FP)
			return pc[i - 1];
	return pc[n - 1];
}

void stops_add(struct hwpmc_profile *p, const struct hwpmc_record *r, int end)
{
	struct chain_stop stop = {
		.space = p->run->space, .time = r->hdr->time, .era = p->run->era,
		.end = end, .count = 1,
	};
	uint64_t hash;
	uint32_t at;

	if ((end != HWPMC_CHAIN_NO_TABLE && end != HWPMC_CHAIN_NO_RULE &&
	     end != HWPMC_CHAIN_NOT_READY) || r->npc < 2)
		return;
	stop.pc = stop_of(r);
	hash = table_mix(table_hash((uintptr_t)stop.space), stop.pc >> PAGE_SHIFT);
	hash = table_mix(hash, (uint64_t)stop.era << 8 | stop.end);
	at = table_find(&p->stops, hash, same_stop, p->stop, &stop);
	if (at != TABLE_NONE) {
		p->stop[at].count++;
		return;
	}
	if (!table_room(&p->stops) || !stat_room(&p->stop, p->stops.n, sizeof(stop)))
		return;
	p->stop[p->stops.n] = stop;
	table_put(&p->stops, hash);
}

void stops_clear(struct hwpmc_profile *p)
{
	table_clear(&p->stops);
	free(p->stop);
	p->stop = NULL;
}

void stops_count(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->model.images.n; i++) {
		p->model.images.all[i]->pub.no_table = 0;
		p->model.images.all[i]->pub.no_rule = 0;
		p->model.images.all[i]->pub.not_ready = 0;
	}
	for (uint32_t i = 0; i < p->stops.n; i++) {
		const struct chain_stop *s = &p->stop[i];
		struct image *image;
		uint64_t addr;

		image = model_find(&p->model, s->space, false, s->pc, s->time, &addr);
		if (!image)
			continue;
		if (s->end == HWPMC_CHAIN_NO_TABLE)
			image->pub.no_table += s->count;
		else if (s->end == HWPMC_CHAIN_NOT_READY)
			image->pub.not_ready += s->count;
		else
			image->pub.no_rule += s->count;
	}
}
