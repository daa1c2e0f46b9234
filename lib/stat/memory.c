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

/* How many an array of n has room for. */
static size_t room_of(size_t n)
{
	return n < 2 ? n : 2ul << (63 - __builtin_clzl(n - 1));
}

bool stat_room_for(void *array, size_t n, size_t more, size_t size)
{
	void *old, *new;

	if (room_of(n + more) == room_of(n))
		return true;
	memcpy(&old, array, sizeof(old));
	new = realloc(old, room_of(n + more) * size);
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

static bool same_string(const void *items, uint32_t i, const void *key)
{
	const struct stat_strings *set = items;

	return strcmp(set->text[i], key) == 0;
}

const char *stat_string(struct stat_strings *set, const char *text)
{
	uint64_t hash = table_hash_text(text);
	uint32_t i = table_find(&set->table, hash, same_string, set, text);
	uint32_t n = set->table.n;

	if (i != TABLE_NONE)
		return set->text[i];
	if (!table_room(&set->table) ||
	    !stat_room(&set->text, n, sizeof(*set->text)))
		return NULL;
	set->text[n] = stat_strdup(text);
	if (!set->text[n])
		return NULL;
	table_put(&set->table, hash);
	return set->text[n];
}

void stat_strings_free(struct stat_strings *set)
{
	for (uint32_t i = 0; i < set->table.n; i++)
		free(set->text[i]);
	free(set->text);
	table_free(&set->table);
}
