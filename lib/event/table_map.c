/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_map.c - the maps that say which file has the events of which CPU: mapfile.csv, as
 * the vendor publishes it, and intel-models.tsv of data/events. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "tables.h"

#define CSV_COLUMNS	7

/* One character of a CPU's name against "x" or "[xyz]". The place behind, or NULL. */
static const char *match_one(const char *p, const char *end, char c)
{
	bool found = false;

	if (*p != '[')
		return *p == c ? p + 1 : NULL;
	for (p++; p < end && *p != ']'; p++)
		found |= *p == c;
	return found && p < end ? p + 1 : NULL;
}

/* "GenuineIntel-6-55-[01234]", the steppings with or without, against a CPU's name with
 * its stepping. */
static bool map_matches(const char *pattern, size_t n, const char *cpu)
{
	const char *p = pattern, *end = pattern + n;

	if (!*cpu)
		return false;
	while (p < end) {
		if (!*cpu)
			return false;
		p = match_one(p, end, *cpu++);
		if (!p)
			return false;
	}
	return !*cpu || *cpu == '-';
}

const char *event_map_kind(const char *role, size_t n)
{
	static const struct {
		const char *role, *kind;
	} kinds[] = {
		{ "Core", "cpu_core" }, { "Atom", "cpu_atom" },
		{ "LowPower_Atom", "cpu_lowpower" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].role) == n && !memcmp(kinds[i].role, role, n))
			return kinds[i].kind;
	return "cpu";
}

/* ------------------------------------------------------------------------ */

struct column {
	const char *s;
	size_t n;
};

static void columns_of(const char *line, size_t len, char separator,
		       struct column *c)
{
	for (unsigned int i = 0; i < CSV_COLUMNS; i++) {
		const char *stop = memchr(line, separator, len);
		size_t n = stop ? (size_t)(stop - line) : len;

		c[i] = (struct column){ line, n };
		line += n;
		len -= n;
		if (len) {
			line++;
			len--;
		}
	}
}

static void copy(const struct column *c, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", c->n < size ? (int)c->n : 0, c->s);
}

/* cpu, table, role */
static void line_of_models(const struct column *c, struct event_map_line *line)
{
	copy(&c[1], line->file, sizeof(line->file));
	line->type[0] = '\0';
	copy(&c[2], line->role, sizeof(line->role));
}

/* cpu, version, file, type, core type, native model, role */
static void line_of_csv(const struct column *c, struct event_map_line *line)
{
	copy(&c[2], line->file, sizeof(line->file));
	copy(&c[3], line->type, sizeof(line->type));
	copy(&c[6], line->role, sizeof(line->role));
}

bool event_map_next(const char **at, const char *end, char separator,
		    const char *cpu, struct event_map_line *line)
{
	struct column c[CSV_COLUMNS];
	const char *text;
	size_t n;

	while ((text = event_row_next(at, end, &n))) {
		if (text[n - 1] == '\r')
			n--;
		columns_of(text, n, separator, c);
		if (!map_matches(c[0].s, c[0].n, cpu))
			continue;
		if (separator == '\t')
			line_of_models(c, line);
		else
			line_of_csv(c, line);
		if (separator == ',' && strcmp(line->type, "core") != 0 &&
		    strcmp(line->type, "hybridcore") != 0)
			continue;
		line->kind = event_map_kind(line->role, strlen(line->role));
		if (line->file[0])
			return true;
	}
	return false;
}
