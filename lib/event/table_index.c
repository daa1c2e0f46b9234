/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_index.c - a hash of the names of a table: lists look up thousands of names, of
 * which most are in no table. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define FREE_SLOT	UINT32_MAX

static uint32_t hash_more(uint32_t hash, char c)
{
	return (hash ^ (unsigned char)c) * 16777619u;
}

static uint32_t hash_of_line(const char *line, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n && line[i] != '\t'; i++)
		hash = hash_more(hash, event_row_plain(line[i]));
	return hash;
}

static uint32_t hash_of_name(const char *normal)
{
	uint32_t hash = 2166136261u;

	while (*normal)
		hash = hash_more(hash, *normal++);
	return hash;
}

/* Twice as many slots as lines at least. */
static bool index_room(struct event_index *x, const char *text, size_t len)
{
	const char *at = text;
	uint32_t lines = 0, slots = 16;
	size_t n;

	while (event_row_next(&at, text + len, &n))
		lines++;
	while (slots / 2 < lines)
		slots *= 2;
	x->slot = malloc(slots * sizeof(*x->slot));
	if (!x->slot)
		return false;
	memset(x->slot, 0xff, slots * sizeof(*x->slot));
	x->mask = slots - 1;
	return true;
}

bool event_index_make(struct event_index *x, const char *text, size_t len)
{
	const char *at = text, *line;
	size_t n;

	if (len >= FREE_SLOT || !index_room(x, text, len))
		return false;
	while ((line = event_row_next(&at, text + len, &n))) {
		uint32_t i = hash_of_line(line, n) & x->mask;

		while (x->slot[i] != FREE_SLOT)
			i = (i + 1) & x->mask;
		x->slot[i] = (uint32_t)(line - text);
	}
	return true;
}

bool event_index_find(const struct event_index *x, const char *text, size_t len,
		      const char *normal, const char **line, size_t *n)
{
	for (uint32_t i = hash_of_name(normal) & x->mask; x->slot[i] != FREE_SLOT;
	     i = (i + 1) & x->mask) {
		const char *at = text + x->slot[i];

		*line = event_row_next(&at, text + len, n);
		if (event_row_is(*line, *n, normal))
			return true;
	}
	return false;
}

void event_index_free(struct event_index *x)
{
	free(x->slot);
	*x = (struct event_index){ .slot = NULL };
}
