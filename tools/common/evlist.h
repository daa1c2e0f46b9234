/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evlist.h - a list of event specifications, as -e gives it. Pure.
 */
#ifndef TOOLS_EVLIST_H
#define TOOLS_EVLIST_H

#include <stdbool.h>

#include "evrate.h"

struct evlist {
	unsigned int n;
	char **spec;
	struct evrate *rate;		/* of each event, which has it no more in .spec */
	unsigned int *group;		/* of each event; 0: none */
	unsigned int ngroup;
	const char *why;		/* of a refusal: what is wrong, what to do */
};

/*
 * Split text at its commas and append the parts. A comma divides qualifiers,
 * not events, where it is between slashes ("cpu/event=1,umask=2/") or before a
 * word that is a qualifier ("instructions,usr,cmask=2"). Braces around events make
 * them a group; a modifier behind the brace becomes one of each event: "{a,b}:u" is
 * "{a:u,b:u}". period= and freq= of an event go to .rate. 0, or -1 with .why: an empty part or
 * group, a qualifier without an event, braces that do not match, a period or frequency that is
 * no number.
 */
int evlist_add(struct evlist *list, const char *text);

/* Append one event as it is. group: 0, or one that ngroup counts. */
void evlist_add_one(struct evlist *list, const char *spec, unsigned int group);

/* The specification, which names no mode, with user mode. Free it. */
char *evlist_user_mode(const char *spec);

/* Does an event have a period or a frequency of its own? */
bool evlist_has_rate(const struct evlist *list);

void evlist_free(struct evlist *list);

#endif
