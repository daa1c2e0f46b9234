/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h - what the files of "hwpmc report" share: cmd_report.c parses options,
 * report_flat.c, report_tree.c and report_folded.c print a profile.
 */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

#include "export.h"
#include "logopts.h"

enum report_key {
	REPORT_PROCESS, REPORT_PID, REPORT_THREAD, REPORT_IMAGE, REPORT_SYMBOL,
	REPORT_KEYS
};

enum report_view { REPORT_FLAT, REPORT_TREE, REPORT_CALLERS };
enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_FOLDED };

struct report {
	struct logopts log;
	const char *output;
	enum report_key key[REPORT_KEYS];
	unsigned int nkey;
	enum report_view view;
	enum report_format format;
	const struct export_format *export;	/* instead of format, or NULL */
	const char *image;		/* for gmon */
	double limit;			/* percent */
	struct hwpmc_profile *profile;
};

/* By its word; -1: there is none. */
int report_key(const char *word);

void report_flat(const struct report *r, FILE *f);
void report_tree(const struct report *r, FILE *f);
void report_folded(const struct report *r, FILE *f);

/* What stands above the figures of each event. */
void report_head(const struct report *r, const struct hwpmc_profile_event *ev,
		 FILE *f);

#endif
