/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_row.c - a line of a table of events to an event. Pure. Lines are searched as
 * they are, and only the one that is wanted is parsed.
 */
#include <string.h>

#include "tables.h"

#define COLUMNS	7

struct field {
	const char *s, *end;
};

char event_row_plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == ' ' || c == '.' || c == '-' || c == ':' ? '_' : c;
}

bool event_row_is(const char *line, size_t n, const char *normal)
{
	size_t i;

	for (i = 0; i < n && line[i] != '\t'; i++)
		if (!normal[i] || event_row_plain(line[i]) != normal[i])
			return false;
	return i && !normal[i];
}

const char *event_row_next(const char **at, const char *end, size_t *n)
{
	while (*at < end) {
		const char *line = *at;
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		if (!stop)
			stop = end;
		*at = stop < end ? stop + 1 : end;
		*n = (size_t)(stop - line);
		if (*n && line[0] != '#')
			return line;
	}
	return NULL;
}

/* ------------------------------------------------------------------------ */

static struct field next_field(const char **s, const char *end)
{
	const char *stop = memchr(*s, '\t', (size_t)(end - *s));
	struct field f = { *s, stop ? stop : end };

	*s = stop ? stop + 1 : end;
	return f;
}

static bool is_name(const struct field *f)
{
	const char *p;

	if (f->s == f->end || f->end - f->s >= ROW_NAME)
		return false;
	for (p = f->s; p < f->end; p++)
		if (*p <= ' ' || *p > '~' || *p == ',' || *p == '/')
			return false;
	return true;
}

/* Hexadecimal numbers with commas between them. -1: it is something else. */
static int numbers(const struct field *f, uint64_t *n, int most)
{
	const char *s = f->s;
	int count = 0;

	while (s < f->end) {
		const char *stop = memchr(s, ',', (size_t)(f->end - s));

		if (!stop)
			stop = f->end;
		if (count == most || !event_number_hex(s, stop, UINT64_MAX, &n[count]))
			return -1;
		count++;
		s = stop < f->end ? stop + 1 : f->end;
	}
	return count;
}

static bool parse_counters(const struct field *f, struct event_row *row)
{
	uint64_t n;

	row->fixed = -1;
	if (f->s < f->end && *f->s == 'F') {
		if (!event_number(f->s + 1, f->end, 15, &n))
			return false;
		row->fixed = (int)n;
		return true;
	}
	return numbers(f, &row->counters, 1) == 1;
}

/* Of as many registers as configs each config has its own; else one register goes with
 * the config at its place among OFFCORE_RSP's two. */
static bool parse_registers(const struct field *f, const struct field *value,
			    struct event_row *row)
{
	uint64_t reg[ROW_CONFIGS] = { 0 };
	int n = numbers(f, reg, ROW_CONFIGS);

	if (n < 0 || (n && numbers(value, &row->extra, 1) != 1))
		return false;
	for (int i = 0; i < n; i++)
		if (reg[i] > UINT32_MAX)
			return false;
	if (!n)
		return value->s == value->end;
	row->reg = (uint32_t)reg[0];
	if (n == 1 && row->nconfig == 2) {
		row->config[0] = row->config[reg[0] == 0x1a7];
		row->nconfig = 1;
	} else if ((unsigned int)n < row->nconfig) {
		row->nconfig = (unsigned int)n;
	}
	return true;
}

bool event_row_parse(const char *line, size_t n, struct event_row *row)
{
	const char *s = line, *end = line + n;
	struct field f[COLUMNS];
	int nconfig;

	memset(row, 0, sizeof(*row));
	for (unsigned int i = 0; i + 1 < COLUMNS; i++)
		f[i] = next_field(&s, end);
	f[COLUMNS - 1] = (struct field){ s, end };
	if (!is_name(&f[0]))
		return false;
	memcpy(row->name, f[0].s, (size_t)(f[0].end - f[0].s));
	nconfig = numbers(&f[1], row->config, ROW_CONFIGS);
	if (nconfig < 1 || !parse_counters(&f[2], row))
		return false;
	row->nconfig = (unsigned int)nconfig;
	if (!parse_registers(&f[3], &f[4], row))
		return false;
	for (const char *p = f[5].s; p < f[5].end; p++) {
		row->deprecated |= *p == 'd';
		row->precise |= *p == 'p';
	}
	row->desc = f[6].s;
	row->ndesc = (size_t)(f[6].end - f[6].s);
	return true;
}
