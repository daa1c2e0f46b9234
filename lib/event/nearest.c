/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nearest.c - which of many names is nearest to a wrong one, by the number of letters
 * to change. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "event.h"

static size_t least_of_3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Letters to insert, delete or change to make a of b. Both < EVENT_NEAREST_MAX. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[EVENT_NEAREST_MAX + 1], la = strlen(a), lb = strlen(b), i, j, diagonal;

	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= lb; j++) {
			size_t above = row[j];

			row[j] = least_of_3(row[j - 1] + 1, above + 1,
					    diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

/* Letters that may be wrong in a name of which the first is: BR_INST_RETIRED is no mistake
 * for INST_RETIRED. */
#define FIRST_TOO	2

/* Up to a third of the letters may be wrong. */
void event_nearest_start(struct event_nearest *n, const char *name)
{
	event_normal(name, n->want, sizeof(n->want));
	n->name[0] = '\0';
	n->distance = strlen(n->want) / 3 + 1;
}

void event_nearest_consider(struct event_nearest *n, const char *name)
{
	char normal[EVENT_NEAREST_MAX];
	size_t d;

	event_normal(name, normal, sizeof(normal));
	d = edit_distance(n->want, normal);
	if (normal[0] != n->want[0] && d > FIRST_TOO)
		return;
	if (d < n->distance) {
		n->distance = d;
		snprintf(n->name, sizeof(n->name), "%s", name);
	}
}

bool event_nearest_name(const struct event_nearest *n, char *buf, size_t size)
{
	snprintf(buf, size, "%s", n->name);
	return n->name[0];
}
