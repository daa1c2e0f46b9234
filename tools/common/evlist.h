/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evlist.h - a list of event specifications, as -e gives it. Pure.
 */
#ifndef TOOLS_EVLIST_H
#define TOOLS_EVLIST_H

#include <stdbool.h>

struct evlist {
	unsigned int n;
	char **spec;
};

/*
 * Split text at its commas and append the parts. A comma divides qualifiers,
 * not events, where it is between slashes ("cpu/event=1,umask=2/") or before a
 * word that is a qualifier ("instructions,usr,cmask=2"). 0, or -1: an empty
 * part, or a qualifier without an event.
 */
int evlist_add(struct evlist *list, const char *text);

void evlist_free(struct evlist *list);

#endif
