/* SPDX-License-Identifier: BSD-2-Clause */
/* gmon.c - writes gmon.out, little-endian; see gmon.h. No state. */
#include <stdbool.h>
#include <stdlib.h>

#include "gmon.h"

enum { TAG_HISTOGRAM = 0, TAG_ARC = 1 };

#define BUCKET_MAX	UINT16_MAX
#define GAP		2048	/* empty buckets that end a histogram */

static void put_bytes(FILE *f, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		fputc(value >> 8 * i & 255, f);
}

/* What is left of these buckets, as far as it fits; true: there is more. */
static bool put_histogram(FILE *f, unsigned int word, uint32_t rate, struct gmon_bucket *b,
			  uint32_t n)
{
	static const char dimension[15] = "samples", abbreviation = 's';
	uint64_t at = b[0].at, end = b[n - 1].at + 1;
	bool more = false;

	fputc(TAG_HISTOGRAM, f);
	put_bytes(f, at * GMON_BUCKET, word);
	put_bytes(f, end * GMON_BUCKET, word);
	put_bytes(f, end - at, 4);
	put_bytes(f, rate, 4);	/* a "second" is a sample */
	fwrite(dimension, 1, sizeof(dimension), f);
	fputc(abbreviation, f);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t now = b[i].count > BUCKET_MAX ? BUCKET_MAX : b[i].count;

		for (; at < b[i].at; at++)
			put_bytes(f, 0, 2);
		put_bytes(f, now, 2);
		at++;
		b[i].count -= now;
		more |= b[i].count;
	}
	return more;
}

static int by_address(const void *a, const void *b)
{
	const struct gmon_bucket *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

uint32_t gmon_merge(struct gmon_bucket *b, uint32_t n)
{
	uint32_t out = 0;

	qsort(b, n, sizeof(*b), by_address);
	for (uint32_t i = 0; i < n; i++) {
		if (out && b[out - 1].at == b[i].at)
			b[out - 1].count += b[i].count;
		else
			b[out++] = b[i];
	}
	return out;
}

void gmon_put_buckets(FILE *f, unsigned int word, uint32_t rate, struct gmon_bucket *b,
		      uint32_t n)
{
	uint32_t first = 0;

	n = gmon_merge(b, n);
	for (uint32_t i = 1; i <= n; i++) {
		if (i < n && b[i].at - b[i - 1].at < GAP)
			continue;
		while (put_histogram(f, word, rate, b + first, i - first))
			;
		first = i;
	}
}

void gmon_put_arc(FILE *f, unsigned int word, uint64_t from, uint64_t to,
		  uint32_t count)
{
	fputc(TAG_ARC, f);
	put_bytes(f, from, word);
	put_bytes(f, to, word);
	put_bytes(f, count, 4);
}

void gmon_begin(FILE *f)
{
	fwrite("gmon", 1, 4, f);
	put_bytes(f, 1, 4);
	put_bytes(f, 0, 8);
	put_bytes(f, 0, 4);
}
