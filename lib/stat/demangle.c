/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.c - names of C++ and Rust as people write them, as far as they are in
 * proportion to what they are written from. A name can refer to parts of itself: 300 bytes
 * in which each part has the one before it twice are gigabytes.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

#define LENGTH_MIN	(1u << 20)
#define LENGTH_RATIO	16
#define REFERENCES_MAX	16

struct nice {
	char *text;
	size_t len, room, limit;
	jmp_buf too_long;
};

/* libiberty has nothing allocated while it calls this, and cannot be told to end. */
static void put(const char *part, size_t len, void *arg)
{
	struct nice *n = arg;
	char *text;

	if (len >= n->limit - n->len)
		longjmp(n->too_long, 1);
	if (n->len + len >= n->room) {
		text = realloc(n->text, 2 * (n->len + len) + 1);
		if (!text)
			longjmp(n->too_long, 1);
		n->room = 2 * (n->len + len) + 1;
		n->text = text;
	}
	memcpy(n->text + n->len, part, len);
	n->len += len;
	n->text[n->len] = 0;
}

/* What a pack is expanded by is looked for along each reference, without any output. */
static bool takes_long(const char *raw)
{
	unsigned int references = 0;

	if (!strstr(raw, "Dp") && !strstr(raw, "sp"))
		return false;
	for (const char *at = raw; (at = strchr(at, 'S')); at++)
		references += at[1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
	return references > REFERENCES_MAX;
}

/* In the order of libiberty, where it is asked for any language. */
static bool write_nice(struct nice *n, const char *raw)
{
	if (setjmp(n->too_long))
		return false;
	if (rust_demangle_callback(raw, DMGL_AUTO, put, n) > 0 && n->len)
		return true;
	n->len = 0;
	return !takes_long(raw) &&
	       cplus_demangle_v3_callback(raw, DMGL_AUTO, put, n) > 0 && n->len;
}

char *demangle(struct demangled *all, const char *raw)
{
	struct nice n = { .len = 0 };

	all->raw += strlen(raw);
	n.limit = LENGTH_MIN + all->raw * LENGTH_RATIO - all->nice;
	if (!write_nice(&n, raw)) {
		free(n.text);
		return NULL;
	}
	all->nice += n.len;
	return n.text;
}
