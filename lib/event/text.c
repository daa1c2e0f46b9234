/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c - names and numbers of event specifications, and refusals. Pure: no
 * allocation, no state.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

int event_refuse(struct event_error *e, int err, size_t at,
		 const char *format, ...)
{
	va_list args;

	e->err = err;
	e->at = at;
	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	return -1;
}

/* Of any locale: names of events are ASCII. */
static char normal_of(char c)
{
	if (c == ' ' || c == '.' || c == '-')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void event_normal(const char *name, char *buf, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		buf[i] = normal_of(name[i]);
	buf[i] = '\0';
}

const char *event_rest(const char *name, const char *normal)
{
	while (*name && normal_of(*name) == *normal) {
		name++;
		normal++;
	}
	return *name ? NULL : normal;
}

bool event_is(const char *name, const char *normal)
{
	const char *rest = event_rest(name, normal);

	return rest && !*rest;
}

bool event_number_hex(const char *s, const char *end, uint64_t max, uint64_t *n)
{
	uint64_t value = 0;
	int digit;

	if (s == end)
		return false;
	for (; s < end; s++) {
		if (!isxdigit((unsigned char)*s) || value >> 60)
			return false;
		digit = isdigit((unsigned char)*s) ? *s - '0' :
			tolower((unsigned char)*s) - 'a' + 10;
		value = value << 4 | (unsigned int)digit;
	}
	*n = value;
	return value <= max;
}

/* A leading 0 means octal to some tools and decimal to others: refused. */
bool event_number(const char *s, const char *end, uint64_t max, uint64_t *n)
{
	uint64_t value = 0;

	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return event_number_hex(s + 2, end, max, n);
	if (s == end || (s[0] == '0' && end - s > 1))
		return false;
	for (; s < end; s++) {
		if (!isdigit((unsigned char)*s) || value > UINT64_MAX / 10 - 1)
			return false;
		value = value * 10 + (unsigned int)(*s - '0');
	}
	*n = value;
	return value <= max;
}
