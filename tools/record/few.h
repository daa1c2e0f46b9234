/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * few.h - counts the samples of each PMC of a recording, and the hint for an event that has too
 * few of them: the cause, and the option or the term of the event that gives more. No I/O.
 */
#ifndef TOOLS_FEW_H
#define TOOLS_FEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/evrate.h"

#define FEW_SAMPLES	100	/* shares of functions are within some percent from here on */
#define FEW_TEXT	600

struct few_pmc {
	uint32_t id;
	bool hard;			/* its event can be sampled more often */
	bool raised;			/* its period is more than what was asked for */
	uint64_t samples;
};

struct few {
	struct few_pmc *pmc;
	unsigned int n;
	uint32_t *slot;			/* numbers in .pmc, plus 1, by a hash of the id */
	uint32_t mask;
};

/* An event as it was asked for, and the samples of all its PMCs. */
struct few_event {
	const char *name;
	struct evrate asked;
	bool own;			/* by a term of the event */
	bool hard, raised;
	uint64_t samples;
};

/* The PMC of that number, of those n; NULL: of another. The list only grows. */
struct few_pmc *few_find(struct few *f, const uint32_t *id, unsigned int n, uint32_t which);
void few_free(struct few *f);

/*
 * false: there are enough, or nothing gives more. `named`: one of several events. `attached`: only
 * running processes are sampled, which may be idle.
 */
bool few_text(char text[FEW_TEXT], const struct few_event *e, bool named, bool attached);

#endif
