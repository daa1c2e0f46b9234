/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spread.c - how values are spread (spread.h). Pure. Both ways to the median are
 * fed from the first value on, so that no call has to convert one to the other.
 */
#include <stdlib.h>

#include "spread.h"

#define SUB	(1u << SPREAD_BITS)

/* Power of two and the bits below the highest one: the order of the values. */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return value;
	shift = 63 - SPREAD_BITS - __builtin_clzll(value);
	return ((shift + 1) << SPREAD_BITS) + (value >> shift) - SUB;
}

static uint64_t middle_of(unsigned int bucket)
{
	unsigned int shift;
	uint64_t low;

	if (bucket < SUB)
		return bucket;
	shift = (bucket >> SPREAD_BITS) - 1;
	low = (uint64_t)(bucket % SUB + SUB) << shift;
	return low + (((1ull << shift) - 1) >> 1);
}

void spread_add(struct spread *s, uint64_t value)
{
	if (!s->count || value < s->min)
		s->min = value;
	if (value > s->max)
		s->max = value;
	if (__builtin_add_overflow(s->sum, value, &s->sum))
		s->sum = UINT64_MAX;
	if (s->count < SPREAD_KEPT)
		s->kept[s->count] = value;
	s->bucket[bucket_of(value)]++;
	s->count++;
}

void spread_merge(struct spread *s, const struct spread *from)
{
	if (from->count && (!s->count || from->min < s->min))
		s->min = from->min;
	if (from->max > s->max)
		s->max = from->max;
	s->sum = from->sum > UINT64_MAX - s->sum ? UINT64_MAX : s->sum + from->sum;
	for (uint64_t i = 0; i < from->count && i < SPREAD_KEPT && s->count + i < SPREAD_KEPT; i++)
		s->kept[s->count + i] = from->kept[i];
	for (unsigned int i = 0; i < SPREAD_BUCKETS; i++)
		s->bucket[i] += from->bucket[i];
	s->count += from->count;
}

bool spread_is_exact(const struct spread *s)
{
	return s->count <= SPREAD_KEPT;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median_of_buckets(const struct spread *s)
{
	uint64_t before = 0, value;
	unsigned int i;

	for (i = 0; i < SPREAD_BUCKETS - 1; i++) {
		before += s->bucket[i];
		if (before > (s->count - 1) / 2)
			break;
	}
	value = middle_of(i);
	if (value < s->min)
		return s->min;
	return value > s->max ? s->max : value;
}

uint64_t spread_median(struct spread *s)
{
	if (!s->count)
		return 0;
	if (!spread_is_exact(s))
		return median_of_buckets(s);
	qsort(s->kept, s->count, sizeof(s->kept[0]), by_value);
	return s->kept[(s->count - 1) / 2];
}
