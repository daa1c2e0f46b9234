/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * table_json.c - files of events as Intel publishes them, to a table. Their fields have
 * texts of numbers, with commas between alternatives. Pure but for the JSON library.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

struct entry {
	const json_t *json;
	uint64_t code[ROW_CONFIGS], umask[ROW_CONFIGS], reg[ROW_CONFIGS];
	int ncode, numask, nreg;
};

/* Decimal, hexadecimal or empty, with commas; 0 for what is not there. -1: none. */
static int numbers(const json_t *field, uint64_t *n, int most)
{
	const char *s = json_string_value(field);
	int count = 0;

	n[0] = 0;
	if (json_is_integer(field)) {
		n[0] = (uint64_t)json_integer_value(field);
		return 1;
	}
	if (!field || json_is_null(field) || (s && (!*s || !strcmp(s, "null"))))
		return 1;
	if (!s)
		return -1;
	for (;;) {
		char *end;

		if (count == most || !strchr("0123456789 ", *s))
			return -1;
		errno = 0;
		n[count++] = strtoull(s, &end, 0);
		if (errno || end == s)
			return -1;
		end += strspn(end, " ");
		if (!*end)
			return count;
		if (*end != ',')
			return -1;
		s = end + 1;
	}
}

static bool one_number(const struct entry *e, const char *key, uint64_t most,
		       uint64_t *n)
{
	return numbers(json_object_get(e->json, key), n, 1) == 1 && *n <= most;
}

/* What all selects of the event have beside code and unit mask. */
static bool select_rest(const struct entry *e, uint64_t *rest)
{
	static const struct {
		const char *key;
		uint64_t most;
		unsigned int shift;
	} parts[] = {
		{ "EdgeDetect", 1, 18 },	{ "AnyThread", 1, 21 },
		{ "Invert", 1, 23 },		{ "CounterMask", 255, 24 },
		{ "Equal", 1, 36 },		{ "UMaskExt", 255, 40 },
	};
	uint64_t n;

	*rest = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!one_number(e, parts[i].key, parts[i].most, &n))
			return false;
		*rest |= n << parts[i].shift;
	}
	return true;
}

static bool put_selects(FILE *f, const struct entry *e)
{
	uint64_t rest;

	if (!select_rest(e, &rest) || e->ncode * e->numask > ROW_CONFIGS)
		return false;
	for (int i = 0; i < e->ncode; i++)
		for (int j = 0; j < e->numask; j++) {
			if (e->code[i] > 0xff || e->umask[j] > 0xff)
				return false;
			fprintf(f, "%s%llx", i || j ? "," : "",
				(unsigned long long)(e->code[i] | e->umask[j] << 8 | rest));
		}
	return true;
}

/* "0,1,2,3", "Fixed counter 1": the unit mask of event 0 is its number + 1; where there is
 * none, the texts count from 1. */
static bool put_counters(FILE *f, const struct entry *e)
{
	const char *ht = json_string_value(json_object_get(e->json, "CounterHTOff"));
	const char *s = ht && *ht ? ht :
			json_string_value(json_object_get(e->json, "Counter"));
	static const char fixed[] = "Fixed counter ";
	uint64_t n[64], bits = 0;
	json_t *list;
	int count;

	if (s && !strncmp(s, fixed, sizeof(fixed) - 1)) {
		unsigned long number = !e->code[0] && e->umask[0] ? e->umask[0] :
				       strtoul(s + sizeof(fixed) - 1, NULL, 10);

		if (number < 1 || number > 16)
			return false;
		fprintf(f, "\tF%lu", number - 1);
		return true;
	}
	list = json_string(s ? s : "");
	count = s && *s ? numbers(list, n, 64) : 0;
	json_decref(list);
	for (int i = 0; i < count; i++) {
		if (n[i] > 63)
			return false;
		bits |= 1ull << n[i];
	}
	fprintf(f, "\t%llx", (unsigned long long)bits);
	return count >= 0;
}

static bool put_registers(FILE *f, const struct entry *e)
{
	uint64_t value;
	int n = 0;

	if (!one_number(e, "MSRValue", UINT64_MAX, &value))
		return false;
	fputc('\t', f);
	for (int i = 0; i < e->nreg; i++)
		if (e->reg[i])
			fprintf(f, "%s%llx", n++ ? "," : "", (unsigned long long)e->reg[i]);
	fputc('\t', f);
	if (n)
		fprintf(f, "%llx", (unsigned long long)value);
	return true;
}

static void put_flags(FILE *f, const struct entry *e)
{
	uint64_t deprecated = 0, precise = 0, pebs = 0;

	one_number(e, "Deprecated", 1, &deprecated);
	one_number(e, "Precise", 1, &precise);
	one_number(e, "PEBS", 2, &pebs);
	fprintf(f, "\t%s%s", deprecated ? "d" : "", precise || pebs ? "p" : "");
}

/* In one line of printable characters. */
static void put_description(FILE *f, const struct entry *e)
{
	const char *s = json_string_value(json_object_get(e->json, "BriefDescription"));

	if (!s)
		s = json_string_value(json_object_get(e->json, "PublicDescription"));
	if (!s)
		return;
	fputc('\t', f);
	for (; *s; s++)
		fputc(*s < ' ' || *s > '~' ? ' ' : *s, f);
}

static bool put_name(FILE *f, const struct entry *e)
{
	const char *s = json_string_value(json_object_get(e->json, "EventName"));
	size_t n;

	if (!s)
		return false;
	s += strspn(s, " ");
	for (n = 0; s[n] && s[n] != ' '; n++)
		if (s[n] < ' ' || s[n] > '~')
			return false;
	if (!n || n >= ROW_NAME || s[n + strspn(s + n, " ")] || s[0] == '#')
		return false;
	fprintf(f, "%.*s\t", (int)n, s);
	return true;
}

static bool put_entry(FILE *f, const json_t *json)
{
	struct entry e = { .json = json };

	e.ncode = numbers(json_object_get(json, "EventCode"), e.code, ROW_CONFIGS);
	e.numask = numbers(json_object_get(json, "UMask"), e.umask, ROW_CONFIGS);
	e.nreg = numbers(json_object_get(json, "MSRIndex"), e.reg, ROW_CONFIGS);
	if (e.ncode < 1 || e.numask < 1 || e.nreg < 1 || !put_name(f, &e) ||
	    !put_selects(f, &e) || !put_counters(f, &e) || !put_registers(f, &e))
		return false;
	put_flags(f, &e);
	put_description(f, &e);
	fputc('\n', f);
	return true;
}

/* The place of the first entry that is no event, or the number of all. */
static size_t put_all(FILE *f, const json_t *list)
{
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++)
		if (!put_entry(f, json_array_get(list, i)))
			break;
	return i;
}

static int table_of(const json_t *list, char **text, size_t *len, char *why,
		    size_t size)
{
	size_t done, n = json_array_size(list);
	FILE *f = open_memstream(text, len);

	if (!f) {
		snprintf(why, size, "out of memory");
		return -1;
	}
	done = put_all(f, list);
	if (fclose(f) == 0 && done == n)
		return 0;
	free(*text);
	*text = NULL;
	snprintf(why, size, "entry %zu is not an event", done + 1);
	return -1;
}

int event_json_table(const char *json, size_t n, char **text, size_t *len,
		     char *why, size_t size)
{
	json_error_t error;
	json_t *root = json_loadb(json, n, 0, &error);
	const json_t *list = json_is_object(root) ?
			     json_object_get(root, "Events") : root;
	int rc = -1;

	/* The library's own words would show a part of the file. */
	if (!root)
		snprintf(why, size, "invalid JSON at line %d", error.line);
	else if (!json_is_array(list))
		snprintf(why, size, "it has no list of events");
	else
		rc = table_of(list, text, len, why, size);
	json_decref(root);
	return rc;
}
