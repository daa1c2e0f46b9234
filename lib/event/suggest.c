/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suggest.c - the known name that is nearest to a wrong one, by the number of
 * letters to change. Pure but for libpfm4's list of names.
 */
#include <stdio.h>
#include <string.h>

#include "event.h"

#define LONGEST	96

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Letters to insert, delete or change to make a of b. Both < LONGEST. */
static size_t distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], la = strlen(a), lb = strlen(b), i, j, diagonal;

	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= lb; j++) {
			size_t above = row[j];

			row[j] = min3(row[j - 1] + 1, above + 1,
				      diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

struct nearest {
	char want[LONGEST];
	char name[160];
	size_t distance;
};

static void consider(struct nearest *n, const char *name)
{
	char normal[LONGEST];
	size_t d;

	event_normal(name, normal, sizeof(normal));
	d = distance(n->want, normal);
	if (d < n->distance) {
		n->distance = d;
		snprintf(n->name, sizeof(n->name), "%s", name);
	}
}

static int consider_line(const struct event_pfm_line *line, void *arg)
{
	consider(arg, line->name);
	return 0;
}

/* Up to a third of the letters may be wrong. */
static void start(struct nearest *n, const char *name)
{
	event_normal(name, n->want, sizeof(n->want));
	n->name[0] = '\0';
	n->distance = strlen(n->want) / 3 + 1;
}

static bool finish(const struct nearest *n, char *buf, size_t size)
{
	snprintf(buf, size, "%s", n->name);
	return n->name[0];
}

bool event_suggest(const struct event_machine *m, const char *name, char *buf,
		   size_t size)
{
	struct nearest n;
	unsigned int i;

	start(&n, name);
	for (i = 0; event_generic_at(i); i++)
		consider(&n, event_generic_at(i)->name);
	for (i = 0; event_alias_at(i); i++)
		consider(&n, event_alias_at(i));
	if (m->vendor == VENDOR_AMD)
		for (i = 0; event_k8_at(i); i++)
			consider(&n, event_k8_at(i)->name);
	event_pfm_each(consider_line, &n);
	return finish(&n, buf, size);
}

bool event_suggest_qualifier(const char *name, char *buf, size_t size)
{
	struct nearest n;
	unsigned int i;

	start(&n, name);
	for (i = 0; event_qualifier(i); i++)
		consider(&n, event_qualifier(i));
	return finish(&n, buf, size);
}
