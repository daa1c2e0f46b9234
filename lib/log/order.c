/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c - records in the order of their time.
 *
 * In a log with SYNC records what has come before one is complete. In others (a tool
 * drained the rings itself) the CPU records show the rounds over the rings: a CPU whose
 * number is not greater than the last one's begins another. A record that one round left
 * in its ring, while it took a younger one of another, is in the next round: so at the end
 * of a round all that the round before it had is complete.
 */
#include <stdlib.h>
#include <string.h>

#include "order.h"

/* More is not kept: a log that tells of no round must not take all memory. */
#define BYTES_MAX	((size_t)256 << 20)

struct order_entry {
	uint64_t key;
	struct hwpmc_record r;		/* .hdr: a copy, or NULL */
};

static int by_key(const void *a, const void *b)
{
	const struct order_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->r.serial < y->r.serial ? -1 : x->r.serial > y->r.serial;
}

/* Those of one CPU are in order already. */
static void order_sort(struct order *o)
{
	for (size_t i = o->given + 1; i < o->n; i++)
		if (by_key(&o->entry[i - 1], &o->entry[i]) > 0) {
			qsort(o->entry + o->given, o->n - o->given,
			      sizeof(*o->entry), by_key);
			return;
		}
}

void order_all(struct order *o)
{
	order_sort(o);
	o->ready = o->n;
}

static void order_until(struct order *o, uint64_t key)
{
	order_sort(o);
	o->ready = o->given;
	while (o->ready < o->n && o->entry[o->ready].key <= key)
		o->ready++;
}

static void order_see_cpu(struct order *o, uint32_t cpu)
{
	if (cpu <= o->cpu && !o->sync) {
		order_until(o, o->before);
		o->before = o->newest;
	}
	o->cpu = cpu;
}

/* Tools write notes without a time. */
static uint64_t key_of(const struct order *o, const struct hwpmc_log_hdr *h)
{
	if (h->type == HWPMC_LOG_INITIALIZE)
		return 0;
	if (h->type == HWPMC_LOG_CLOSELOG)
		return UINT64_MAX;
	return h->time ? h->time : o->key;
}

static bool order_keep(struct order *o, const struct hwpmc_record *r)
{
	struct order_entry *e;

	if (o->n == o->room) {
		size_t room = o->room ? 2 * o->room : 64;

		e = realloc(o->entry, room * sizeof(*e));
		if (!e)
			return false;
		o->entry = e;
		o->room = room;
	}
	e = &o->entry[o->n];
	e->r = *r;
	e->r.hdr = malloc(r->hdr->len);
	if (!e->r.hdr)
		return false;
	memcpy((void *)e->r.hdr, r->hdr, r->hdr->len);
	e->key = key_of(o, r->hdr);
	if (r->hdr->type != HWPMC_LOG_CLOSELOG) {
		o->key = e->key;
		if (e->key > o->newest)
			o->newest = e->key;
	}
	o->bytes += r->hdr->len + sizeof(*e);
	o->n++;
	return true;
}

bool order_add(struct order *o, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_CPU:
		order_see_cpu(o, r->hdr->id);
		return true;
	case HWPMC_LOG_SYNC:
		order_all(o);
		return true;
	case HWPMC_LOG_INITIALIZE:
		o->sync = r->initialize->flags & HWPMC_LOG_INIT_SYNC;
		o->cpu = 0;
		break;
	}
	if (!order_keep(o, r))
		return false;
	if (r->hdr->type == HWPMC_LOG_CLOSELOG || o->bytes > BYTES_MAX)
		order_all(o);
	return true;
}

/* Give the memory of what was given back. */
static void order_drop_given(struct order *o)
{
	struct order_entry *last = o->given ? &o->entry[o->given - 1] : NULL;

	if (!last || !last->r.hdr)
		return;
	o->bytes -= last->r.hdr->len + sizeof(*last);
	free((void *)last->r.hdr);
	last->r.hdr = NULL;
	if (o->given < o->ready)
		return;
	o->n -= o->given;
	memmove(o->entry, o->entry + o->given, o->n * sizeof(*o->entry));
	o->given = o->ready = 0;
}

bool order_next(struct order *o, struct hwpmc_record *r)
{
	order_drop_given(o);
	if (o->given >= o->ready)
		return false;
	*r = o->entry[o->given++].r;
	return true;
}

void order_free(struct order *o)
{
	for (size_t i = 0; i < o->n; i++)
		free((void *)o->entry[i].r.hdr);
	free(o->entry);
	*o = ORDER_NEW;
}
