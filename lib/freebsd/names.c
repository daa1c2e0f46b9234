/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - pmc(3)'s calls that turn numbers into names, and list the events of
 * a class. Any thread; no state.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../pmc/internal.h"
#include "pmc.h"

static const char *known_name(const char *name)
{
	if (!name)
		errno = EINVAL;
	return name;
}

EXPORT const char *pmc_name_of_capability(enum pmc_caps c)
{
	return known_name(hwpmc_name_of_capability(c));
}

EXPORT const char *pmc_name_of_class(enum pmc_class pc)
{
	return known_name(hwpmc_name_of_class(pc));
}

EXPORT const char *pmc_name_of_cputype(enum pmc_cputype cp)
{
	return known_name(hwpmc_name_of_cputype(cp));
}

EXPORT const char *pmc_name_of_disposition(enum pmc_disp pd)
{
	return known_name(hwpmc_name_of_disposition(pd));
}

EXPORT const char *pmc_name_of_mode(enum pmc_mode pm)
{
	return known_name(hwpmc_name_of_mode(pm));
}

EXPORT const char *pmc_name_of_state(enum pmc_state ps)
{
	return known_name(hwpmc_name_of_state(ps));
}

/* Other events than the TSC have codes, not numbers. */
EXPORT const char *pmc_name_of_event(enum pmc_event pe)
{
	return known_name(pe == PMC_EV_TSC_TSC ? "TSC" : NULL);
}

/* ------------------------------------------------------------------------ */

/* Names one after another, each with its zero. */
struct pool {
	char *text;
	size_t used, room;
	int n;
};

/*
 * FreeBSD's names of events of the kernel are capitals, and without their class; those of
 * tracepoints need it.
 */
static const char *name_of(const struct hwpmc_event_info *info)
{
	static const char class[] = "SOFT-";
	const char *name = info->name;

	if (strncmp(name, class, strlen(class)))
		return name;
	name += strlen(class);
	return strpbrk(name, "abcdefghijklmnopqrstuvwxyz") ? info->name : name;
}

static int pool_add(const struct hwpmc_event_info *info, void *arg)
{
	struct pool *p = arg;
	const char *name = name_of(info);
	size_t len = strlen(name) + 1;
	char *text;

	if (p->used + len > p->room) {
		p->room = (p->used + len) * 2;
		text = realloc(p->text, p->room);
		if (!text)
			return -1;
		p->text = text;
	}
	memcpy(p->text + p->used, name, len);
	p->used += len;
	p->n++;
	return 0;
}

/* The array of pointers, and behind it the text that they point to. */
static const char **pool_array(const struct pool *p)
{
	size_t head = ((size_t)p->n + 1) * sizeof(char *);
	const char **array = malloc(head + p->used);
	char *text;
	int i;

	if (!array)
		return NULL;
	text = (char *)array + head;
	if (p->used)
		memcpy(text, p->text, p->used);
	for (i = 0; i < p->n; i++) {
		array[i] = text;
		text += strlen(text) + 1;
	}
	array[i] = NULL;
	return array;
}

EXPORT int pmc_event_names_of_class(enum pmc_class cl,
				    const char ***eventnames, int *nevents)
{
	struct pool p = { .text = NULL };
	const char **array = NULL;
	struct hwpmc *h;
	int rc;

	if (!hwpmc_name_of_class(cl)) {
		errno = EINVAL;
		return -1;
	}
	if (hwpmc_open(&h))
		return -1;
	rc = hwpmc_event_each(h, cl, pool_add, &p);
	hwpmc_close(h);
	if (!rc)
		array = pool_array(&p);
	free(p.text);
	if (!array) {
		errno = ENOMEM;
		return -1;
	}
	*eventnames = array;
	*nevents = p.n;
	return 0;
}
