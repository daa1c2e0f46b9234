/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spread.h - how values are spread: least, middle, most, and their sum. Pure;
 * adding takes no memory beyond the structure. The median is exact up to
 * SPREAD_KEPT values; beyond, it is the middle of a bucket that is at most 1/128
 * of its values wide (values below 256 have buckets of their own).
 */
#ifndef HWPMC_LIB_SPREAD_H
#define HWPMC_LIB_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define SPREAD_KEPT	4096
#define SPREAD_BITS	7		/* a power of two has 2^7 buckets */
#define SPREAD_BUCKETS	((65 - SPREAD_BITS) << SPREAD_BITS)

struct spread {				/* zeroes: no values */
	uint64_t count;
	uint64_t min, max;
	uint64_t sum;			/* UINT64_MAX: that or more */
	uint64_t kept[SPREAD_KEPT];	/* the first ones, in no order */
	uint64_t bucket[SPREAD_BUCKETS];
};

void spread_add(struct spread *s, uint64_t value);
/* Add all values of another one. */
void spread_merge(struct spread *s, const struct spread *from);
/* The lower of the two in the middle, where there are two; 0 without values. */
uint64_t spread_median(struct spread *s);
/* False: the median is that of the buckets. */
bool spread_is_exact(const struct spread *s);

#endif /* HWPMC_LIB_SPREAD_H */
