// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * space.c - the table of address spaces, see space.h. Pure.
 */
#include <stdlib.h>

#include "space.h"

uint64_t space_key(uint64_t cr3, bool pti)
{
	cr3 &= ((1ULL << 52) - 1) & ~0xfffULL;
	return pti ? cr3 & ~0x1000ULL : cr3;
}

static unsigned int place(const struct space_table *t, uint64_t key)
{
	unsigned int i = (key >> 12) * 0x9e3779b97f4a7c15ULL >> 40;

	for (;; i++) {
		const struct space *s = t->slot[i & (t->size - 1)];

		if (!s || s->key == key)
			return i & (t->size - 1);
	}
}

struct space *space_find(const struct space_table *t, uint64_t key)
{
	return t->size ? t->slot[place(t, key)] : NULL;
}

static void *must_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

static void grow(struct space_table *t)
{
	struct space_table old = *t;

	t->size = old.size ? 2 * old.size : 64;
	t->slot = must_calloc(t->size, sizeof(*t->slot));
	for (unsigned int i = 0; i < old.size; i++)
		if (old.slot[i])
			t->slot[place(t, old.slot[i]->key)] = old.slot[i];
	free(old.slot);
}

struct space *space_get(struct space_table *t, uint64_t key)
{
	struct space *s = space_find(t, key);

	if (s)
		return s;
	if (2 * (t->used + 1) > t->size)
		grow(t);
	s = must_calloc(1, sizeof(*s));
	s->key = key;
	t->slot[place(t, key)] = s;
	t->used++;
	return s;
}

void space_free(struct space_table *t)
{
	for (unsigned int i = 0; i < t->size; i++)
		free(t->slot[i]);
	free(t->slot);
	*t = (struct space_table){ 0 };
}
