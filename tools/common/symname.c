/* SPDX-License-Identifier: BSD-2-Clause */
/* symname.c - names of functions on a terminal. Pure. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <libhwpmcstat.h>

#include "fmt.h"
#include "symname.h"

#define DOTS		"..."
#define CUT_LEAST	8

static unsigned int count_characters(const char *text)
{
	unsigned int n = 0;
	bool control;

	for (; *text; text += fmt_unit(text, &control))
		n++;
	return n;
}

static const char *skip_characters(const char *text, unsigned int n)
{
	bool control;

	while (n--)
		text += fmt_unit(text, &control);
	return text;
}

char *symname_column(char *buf, size_t size, const char *text, unsigned int width, bool cut)
{
	unsigned int n = count_characters(text);
	size_t len = cut && n > width ? (size_t)(skip_characters(text, width) - text) :
					strlen(text);
	unsigned int blanks = n < width ? width - n : 0;

	snprintf(buf, size, "%.*s%*s", (int)len, text, (int)blanks, "");
	return buf;
}

const char *symname_cut(char buf[SYMNAME], const char *text, unsigned int room)
{
	unsigned int n, head;
	size_t begin, end;
	const char *tail;

	/* A character has a byte or more. */
	if (!room || strlen(text) <= room)
		return text;
	n = count_characters(text);
	if (room < CUT_LEAST)
		room = CUT_LEAST;
	if (n <= room)
		return text;
	head = (room - strlen(DOTS)) / 2;
	tail = skip_characters(text, n - (room - strlen(DOTS) - head));
	begin = skip_characters(text, head) - text;
	end = strlen(tail);
	if (begin + strlen(DOTS) + end >= SYMNAME)
		return text;
	memcpy(buf, text, begin);
	memcpy(buf + begin, DOTS, strlen(DOTS));
	memcpy(buf + begin + strlen(DOTS), tail, end + 1);
	return buf;
}

const char *symname_show(char buf[SYMNAME], const char *name, unsigned int room)
{
	char text[SYMNAME];
	const char *shown = hwpmc_shorten_name(name, text, sizeof(text));

	shown = symname_cut(buf, shown, room);
	if (shown == text)
		return strcpy(buf, text);
	return shown;
}

unsigned int symname_room(unsigned int columns, unsigned int used)
{
	if (!columns)
		return 0;
	return columns > used + SYMNAME_LEAST ? columns - used : SYMNAME_LEAST;
}
