/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - memory for what is kept of a log. */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

void *stat_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

void *stat_grow(void *p, size_t n, size_t size)
{
	/* Twice as large at each power of two. */
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

char *stat_strdup(const char *text)
{
	return stat_join(text, "");
}

char *stat_join(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	char *s = stat_alloc(1, na + nb + 1);

	memcpy(s, a, na);
	memcpy(s + na, b, nb + 1);
	return s;
}
