/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * define.h - metrics that files define (hwpmc_metrics(5)): those of the user, of the
 * administrator, and those that are part of the program.
 */
#ifndef TOOLS_STAT_DEFINE_H
#define TOOLS_STAT_DEFINE_H

#include <stdbool.h>
#include <stddef.h>

#include <libhwpmc.h>

#include "formula.h"

/* One way to compute a metric; several of one name are tried in their order. */
struct define {
	char *name;
	char *groups;			/* words; "": none */
	char *cpu;			/* pattern of the processor's name */
	char *unit, *desc, *formula;
	bool alone;			/* wrong while both threads of a core run */
	char *file;
	unsigned int line;
};

struct defines {
	struct define *def;
	unsigned int n;
};

/* Those of a text, which is a file's, behind the others. 0, or -1 after a message. */
int defines_add(struct defines *d, const char *file, const char *text, size_t len);
/* Those of all files, first those that come first. 0, or -1 after a message. */
int defines_load(struct defines *d);
void defines_free(struct defines *d);

/* Is `name` the metric's name, or a group that it is of? */
bool define_is(const struct define *def, const char *name);

/*
 * Can it be counted on this machine? Then *f is its formula, to be freed. Else why, until
 * the next call of the library.
 */
bool define_usable(const struct define *def, struct hwpmc *h, struct formula *f,
		   const char **why);

#endif
