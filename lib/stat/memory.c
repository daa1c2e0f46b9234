/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c - memory for what is kept of a log. A failed allocation sets a flag of the
 * thread. Exported functions clear it on entry and fail if it is set on return; in
 * between, callers go on without the memory or with a placeholder, and such a result is
 * never returned.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

_Thread_local bool stat_nomem;

void *stat_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	stat_nomem |= !p;
	return p;
}

bool stat_room(void *array, size_t n, size_t size)
{
	void *old, *new;

	/* Twice as large at each power of two. */
	if (n & (n - 1))
		return true;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, (n ? 2 * n : 1) * size);
	if (new)
		memcpy(array, &new, sizeof(new));
	stat_nomem |= !new;
	return new;
}

char *stat_join(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	char *s = stat_alloc(1, na + nb + 1);

	if (!s)
		return NULL;
	memcpy(s, a, na);
	memcpy(s + na, b, nb + 1);
	return s;
}

char *stat_strdup(const char *text)
{
	return stat_join(text, "");
}

int stat_end(bool *broken)
{
	*broken |= stat_nomem;
	if (!*broken)
		return 0;
	errno = ENOMEM;
	return -1;
}

/* ---- strings, each once -------------------------------------------------- */

static uint32_t hash_text(const char *text)
{
	uint32_t h = 5381;

	while (*text)
		h = h * 33 + (unsigned char)*text++;
	return h;
}

static bool grow_strings(struct stat_strings *set)
{
	uint32_t n = set->nslot ? 2 * set->nslot : 64;
	char **slot = stat_alloc(n, sizeof(*slot));

	if (!slot)
		return false;
	for (uint32_t i = 0; i < set->nslot; i++) {
		uint32_t at;

		if (!set->slot[i])
			continue;
		for (at = hash_text(set->slot[i]) & (n - 1); slot[at];
		     at = (at + 1) & (n - 1))
			;
		slot[at] = set->slot[i];
	}
	free(set->slot);
	set->slot = slot;
	set->nslot = n;
	return true;
}

const char *stat_string(struct stat_strings *set, const char *text)
{
	uint32_t at;

	if (set->n * 2 >= set->nslot && !grow_strings(set))
		return NULL;
	for (at = hash_text(text) & (set->nslot - 1); set->slot[at];
	     at = (at + 1) & (set->nslot - 1))
		if (strcmp(set->slot[at], text) == 0)
			return set->slot[at];
	set->slot[at] = stat_strdup(text);
	set->n += set->slot[at] != NULL;
	return set->slot[at];
}

void stat_strings_free(struct stat_strings *set)
{
	for (uint32_t i = 0; i < set->nslot; i++)
		free(set->slot[i]);
	free(set->slot);
}
