/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * annotate.h - the instructions of a function, and how many samples hit each. What
 * hwpmc annotate and pmcannotate print.
 *
 * A sample stands where the interrupt came, which is some instructions behind the
 * event: nothing here moves it. The samples of a function are those of its
 * instructions and `outside`, to the last one.
 */
#ifndef TOOLS_ANNOTATE_H
#define TOOLS_ANNOTATE_H

#include <stdbool.h>
#include <stdint.h>

#include <libhwpmcstat.h>

struct annotate_insn {
	uint64_t addr;
	unsigned int size;
	uint64_t samples;		/* that hit it, or bytes within it */
	char *text;
	const char *file;		/* of the source, NULL: not known */
	unsigned int line;
};

/* A line of the source, and the samples of the instructions that it became. */
struct annotate_line {
	const char *file;		/* NULL: not known */
	unsigned int line;
	uint64_t samples;
};

struct annotate {
	const struct hwpmc_symbol *symbol;
	uint64_t samples;		/* that hit the function */
	uint64_t outside;		/* of these, in no instruction */
	char *from;			/* where the code was read */
	uint32_t n;
	struct annotate_insn *insn;
	uint32_t nline;			/* 0: no line is known */
	struct annotate_line *line;	/* by file and line */
};

/* What samples hit, by event and function. */
struct annotate_hits {
	const struct hwpmc_stack **hit;
	uint32_t n;
};

void annotate_hits_make(struct annotate_hits *h, const struct hwpmc_profile *profile);
void annotate_hits_free(struct annotate_hits *h);

struct annotate_options {
	struct annotate_hits hits;	/* of the profile */
	const char *root;		/* prefix of paths */
	bool intel;			/* syntax of Intel, else AT&T's */
	bool no_lines;			/* do not look for source lines */
};

/*
 * A function of an event of the profile. NULL and one sentence: why its
 * instructions cannot be shown.
 */
struct annotate *annotate_new(struct hwpmc_profile *profile, uint32_t event,
			      const struct hwpmc_symbol *symbol,
			      const struct annotate_options *options,
			      char *err, size_t size);
void annotate_free(struct annotate *a);

/* The functions that an event's samples hit, most first: they add up to its
 * samples. An image's samples that no symbol covers are one that is `unknown`. */
struct annotate_function {
	const struct hwpmc_symbol *symbol;
	uint64_t samples;
};

struct annotate_function *
annotate_functions(const struct annotate_hits *h, uint32_t event, uint32_t *n);

#endif
