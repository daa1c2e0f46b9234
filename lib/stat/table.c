/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c - growing and clearing of hash tables (table.h). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "stat.h"

#define SLOTS_MIN	64
/*
 * Small tables are in the processor's cache, and what a look in them costs is a branch
 * that is not predictable at each further slot: three of four are empty. In large ones
 * it is the memory: a fourth is.
 */
#define SPARSE_MAX	8192
/* The slots of more items have no number of 32 bits. */
#define ITEMS_MAX	(1u << 30)
#define HUGE_PAGE	(2ul << 20)

/* Products have both halves in use: the factor is odd and has its top bit. */
#define FACTOR_BITS	(1ull << 63 | 1)

uint64_t table_seed, table_factor;

static void make_seed(void)
{
	uint64_t random[2];

	/* Without random bytes the addresses of this process are what is not known. */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random)) {
		random[0] = (uintptr_t)&table_seed ^ (uintptr_t)malloc;
		random[1] = ((uintptr_t)random ^ random[0] >> 12) *
			    0x9e3779b97f4a7c15ull;
	}
	table_seed = random[0];
	table_factor = random[1] | FACTOR_BITS;
}

void table_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_seed);
}

static void put_slot(struct table *t, struct table_slot new)
{
	uint32_t mask = t->nslot - 1, at = new.hash & mask;

	while (t->slot[at].item)
		at = (at + 1) & mask;
	t->slot[at] = new;
}

void table_put(struct table *t, uint64_t hash)
{
	put_slot(t, (struct table_slot){ table_fold(hash), ++t->n });
}

/*
 * Slots are read at random: with pages of 2 MB the processor finds their addresses in
 * its TLB. The C library maps a piece of this size by itself, and nothing of it has been
 * touched. It is never grown in place: mremap(2) fails where a part has other flags.
 */
static void want_huge_pages(struct table_slot *slot, size_t n)
{
	uintptr_t from = ((uintptr_t)slot + HUGE_PAGE - 1) & -HUGE_PAGE;
	uintptr_t to = (uintptr_t)(slot + n) & -HUGE_PAGE;

	if (n * sizeof(*slot) >= 2 * HUGE_PAGE)
		(void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

bool table_room(struct table *t)
{
	uint32_t n = t->nslot ? 2 * t->nslot : SLOTS_MIN;
	struct table new = { .n = t->n, .nslot = n };

	if (t->n < t->nslot / 4 * (t->nslot > SPARSE_MAX ? 3 : 1))
		return true;
	if (t->n >= ITEMS_MAX) {
		stat_nomem = true;
		return false;
	}
	new.slot = stat_alloc(n, sizeof(*new.slot));
	if (!new.slot)
		return false;
	want_huge_pages(new.slot, n);
	for (uint32_t at = 0; at < t->nslot; at++)
		if (t->slot[at].item)
			put_slot(&new, t->slot[at]);
	free(t->slot);
	*t = new;
	return true;
}

void table_clear(struct table *t)
{
	if (t->nslot > SLOTS_MIN && t->n < t->nslot / 8) {
		table_free(t);
		return;
	}
	if (t->n)
		memset(t->slot, 0, t->nslot * sizeof(*t->slot));
	t->n = 0;
}

void table_free(struct table *t)
{
	free(t->slot);
	*t = (struct table){ NULL, 0, 0 };
}

uint64_t table_hash_bytes(const void *bytes, size_t len)
{
	uint64_t h = table_seed ^ len, x;
	const char *at = bytes;

	for (; len >= sizeof(x); len -= sizeof(x), at += sizeof(x)) {
		memcpy(&x, at, sizeof(x));
		h = table_mix(h, x);
	}
	x = 0;
	if (len)
		memcpy(&x, at, len);
	return table_mix(h, x);
}
