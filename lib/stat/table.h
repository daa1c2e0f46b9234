/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table.h - the hash table of this library. The caller keeps the items in an array; the
 * table has their numbers, 0, 1, 2 ..., in the order in which they were put, and of each
 * a part of its hash, so that mostly no item but the right one is looked at. It doubles
 * when it is three quarters full: a lookup looks at few slots however many items there
 * are. Hashes depend on two random numbers, so that a log cannot be made whose items all
 * have the same one. No item is removed: the table is cleared and filled again.
 */
#ifndef HWPMC_LIB_TABLE_H
#define HWPMC_LIB_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct table_slot {
	uint32_t hash;
	uint32_t item;			/* its number + 1; 0: free */
};

struct table {
	struct table_slot *slot;
	uint32_t n, nslot;
};

#define TABLE_NONE	UINT32_MAX

/* Set once, before any table has an item. */
extern uint64_t table_seed, table_factor;

void table_init(void);
/* There is a slot for one item more. false: no memory. */
bool table_room(struct table *t);
/* Its cost is bounded by the items that were in it, however large it once was. */
void table_clear(struct table *t);
void table_free(struct table *t);
uint64_t table_hash_bytes(const void *bytes, size_t len);

/*
 * Both halves of the product: in one of 64 bits the top bit of x changes only the top
 * bit, whatever the factor is, and the next x can change it back.
 */
static inline uint64_t table_mix(uint64_t h, uint64_t x)
{
	__extension__ unsigned __int128 product = h ^ x;

	product *= table_factor;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Four products at a time: a single one would wait for the one before it at each number. */
static inline uint64_t table_mix_all(uint64_t hash, const uint64_t *x, uint32_t n)
{
	uint64_t second = ~hash, third = hash + table_seed, fourth = hash ^ table_factor;

	if (n >= 4) {
		for (; n >= 4; n -= 4, x += 4) {
			hash = table_mix(hash, x[0]);
			second = table_mix(second, x[1]);
			third = table_mix(third, x[2]);
			fourth = table_mix(fourth, x[3]);
		}
		hash = table_mix(table_mix(table_mix(hash, second), third), fourth);
	}
	while (n--)
		hash = table_mix(hash, *x++);
	return hash;
}

static inline uint64_t table_hash(uint64_t x)
{
	return table_mix(table_seed, x);
}

static inline uint64_t table_hash_text(const char *text)
{
	return table_hash_bytes(text, strlen(text));
}

/*
 * Neither half will do alone: of numbers that follow each other, or multiples, one half
 * of the products has few different values with one factor of thirty.
 */
static inline uint32_t table_fold(uint64_t hash)
{
	return hash ^ hash >> 32;
}

/* The item with this key; TABLE_NONE: there is none. `same` is inlined. */
__attribute__((always_inline))
static inline uint32_t
table_find(const struct table *t, uint64_t hash,
	   bool (*same)(const void *items, uint32_t i, const void *key),
	   const void *items, const void *key)
{
	uint32_t mask = t->nslot - 1, folded = table_fold(hash), at;

	if (!t->nslot)
		return TABLE_NONE;
	for (at = folded & mask; t->slot[at].item; at = (at + 1) & mask)
		if (t->slot[at].hash == folded &&
		    same(items, t->slot[at].item - 1, key))
			return t->slot[at].item - 1;
	return TABLE_NONE;
}

/* The next item: there is room for it, and none with its key. */
void table_put(struct table *t, uint64_t hash);

#endif /* HWPMC_LIB_TABLE_H */
