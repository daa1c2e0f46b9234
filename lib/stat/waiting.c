/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting.c - copies of records, in large pieces of memory: there may be many millions,
 * and all are freed at once.
 */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

#define PIECE_MIN	4096
#define PIECE_MAX	(1u << 20)

struct waiting_piece {
	struct waiting_piece *before;
	uint32_t size, used;
	_Alignas(8) char bytes[];
};

static void *waiting_room(struct waiting *w, uint32_t len)
{
	struct waiting_piece *p = w->piece;
	uint32_t size = PIECE_MIN;

	if (!p || p->size - p->used < len) {
		if (p && p->size >= PIECE_MIN)
			size = p->size < PIECE_MAX ? 2 * p->size : PIECE_MAX;
		if (size < len)
			size = len;
		p = malloc(sizeof(*p) + size);
		stat_nomem |= !p;
		if (!p)
			return NULL;
		*p = (struct waiting_piece){ w->piece, size, 0 };
		w->piece = p;
	}
	p->used += len;
	return p->bytes + p->used - len;
}

void waiting_keep(struct waiting *w, const struct hwpmc_record *r)
{
	void *copy;

	if (w->n == UINT32_MAX || !stat_room(&w->record, w->n, sizeof(*r))) {
		stat_nomem = true;
		return;
	}
	copy = waiting_room(w, r->hdr->len);
	if (!copy)
		return;
	memcpy(copy, r->hdr, r->hdr->len);
	w->record[w->n] = *r;
	w->record[w->n++].hdr = copy;
}

static int by_time(const void *a, const void *b)
{
	const struct hwpmc_record *x = a, *y = b;

	if (x->hdr->time != y->hdr->time)
		return x->hdr->time < y->hdr->time ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Logs of one CPU are in order. */
void waiting_sort(struct waiting *w)
{
	for (uint32_t i = 1; i < w->n; i++)
		if (by_time(&w->record[i - 1], &w->record[i]) > 0) {
			qsort(w->record, w->n, sizeof(*w->record), by_time);
			return;
		}
}

void waiting_free(struct waiting *w)
{
	struct waiting_piece *before;

	for (struct waiting_piece *p = w->piece; p; p = before) {
		before = p->before;
		free(p);
	}
	free(w->record);
	*w = (struct waiting){ NULL, 0, NULL };
}
