/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h - what the files of "hwpmc report" share: cmd_report.c parses options,
 * flat.c, tree.c and folded.c print a profile.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

#include "common/logopts.h"
#include "common/pager.h"
#include "export/export.h"

enum report_key {
	REPORT_PROCESS, REPORT_PID, REPORT_THREAD, REPORT_IMAGE, REPORT_SYMBOL,
	REPORT_LINE, REPORT_ADDRESS, REPORT_KIND, REPORT_CPU, REPORT_COMM, REPORT_KEYS
};

enum report_view { REPORT_FLAT, REPORT_TREE, REPORT_CALLERS, REPORT_CALLEES };
enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_FOLDED };

#define REPORT_NO_KIND	8	/* of a CPU whose kind is not known */

struct report {
	struct logopts log;
	const char *output;
	enum report_key key[REPORT_KEYS];
	unsigned int nkey;
	enum report_view view;
	bool events;			/* of a list: a column of events */
	bool children;			/* of a list: callers too, with what they call */
	const char *function;		/* whose callers or callees; NULL: all */
	enum report_format format;
	const struct export_format *export;	/* instead of format, or NULL */
	const char *image;		/* for gmon */
	double limit;			/* percent */
	double min_share;		/* percent */
	bool min_share_given;
	bool stdio;			/* no pager */
	bool full_names;		/* on a terminal too */
	struct hwpmc_profile *profile;
	/* Samples of each event on each kind of core; NULL: the log tells no kinds. */
	uint64_t (*on)[REPORT_NO_KIND + 1];
	struct pager out;
};

/* By its word, hwpmc's or perf's; -1: there is none. */
int report_key(const char *word);

/* To r->out. */
void report_flat(const struct report *r);
void report_tree(const struct report *r);
/* Is there the function that it is about? 0, or EXIT_FAILED after a message. */
int report_tree_check(const struct report *r);
void report_folded(const struct report *r, FILE *f);

/* For the lines above the figures. */
void report_count_kinds(struct report *r);
/* What stands above the figures of each event. */
void report_head(const struct report *r, const struct hwpmc_profile_event *ev);
/* At the end: images that were hit and have no symbols, or no lines, and why. */
void report_problems(FILE *f, const struct hwpmc_profile *profile, bool lines);

static inline double report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

/* Is it below --limit? Exactly: 100 percent of few samples is not. */
static inline bool report_is_small(const struct report *r, uint64_t part,
				   uint64_t whole)
{
	return 100.0 * part < r->limit * whole;
}

#endif
