/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pager.h - where a report goes: a file, standard output, or, on a terminal, the
 * user's pager; and whether it may have colours.
 */
#ifndef TOOLS_PAGER_H
#define TOOLS_PAGER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *f;		/* print here */
	const char *name;	/* for messages */
	pid_t pid;		/* 0: no pager */
	bool colour;
	bool terminal;		/* names of functions are shortened */
	unsigned int columns;	/* of the terminal; 0: no limit */
};

/*
 * output: a file; NULL or "-": standard output, by $PAGER (default: less) if it
 * is a terminal and `stdio` is false. 0, or EXIT_FAILED after a message.
 */
int pager_open(struct pager *p, const char *output, bool stdio);
/* Names of functions as in a file, also on a terminal. */
void pager_full_names(struct pager *p);
/* Wait for the pager's end. 0, or EXIT_FAILED after a message: not all was written. */
int pager_close(struct pager *p);

/* How much of the whole: from here on in red, in green, or as it is. */
void pager_heat(const struct pager *p, double percent);
void pager_plain(const struct pager *p);
/* The same as text: "" without colours. */
const char *pager_heat_code(const struct pager *p, double percent);
const char *pager_plain_code(const struct pager *p);

#endif
