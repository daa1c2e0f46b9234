/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gmon.h - the file that gprof reads: histograms of addresses, and calls. A bucket of
 * the file holds 16 bits; what is more goes to another histogram of the same
 * addresses, which gprof adds up.
 */
#ifndef TOOLS_GMON_H
#define TOOLS_GMON_H

#include <stdint.h>
#include <stdio.h>

#define GMON_BUCKET	2	/* bytes of code: gprof's own unit */

struct gmon_bucket {
	uint64_t at;		/* address / GMON_BUCKET */
	uint64_t count;
};

void gmon_begin(FILE *f);
/* Sorts buckets and adds up those of one address; returns the number that is left. */
uint32_t gmon_merge(struct gmon_bucket *b, uint32_t n);
/* In any order, several of one address added up; b is used up. word: bytes of an
 * address. rate: counts of a bucket for one sample, the same in all of a file. */
void gmon_put_buckets(FILE *f, unsigned int word, uint32_t rate, struct gmon_bucket *b,
		      uint32_t n);
void gmon_put_arc(FILE *f, unsigned int word, uint64_t from, uint64_t to,
		  uint32_t count);

#endif
