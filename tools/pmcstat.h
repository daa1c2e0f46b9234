/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat.h - what the files of pmcstat share: pmcstat.c parses options,
 * pmcstat_run.c counts, pmcstat_print.c prints columns.
 */
#ifndef TOOLS_PMCSTAT_H
#define TOOLS_PMCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <libhwpmc.h>

/* A PMC: a column. What -c, -d and -C said before it is settled in it. */
struct pmcstat_event {
	const char *spec;
	bool system;
	bool descendants;
	bool cumulative;
	bool incomplete;		/* some thread could not be followed */
	uint32_t cpu;			/* HWPMC_CPU_ANY in process scope */
	uint32_t id;
	uint64_t value, saved;		/* now, and when printed last */
	int width;			/* of its column */
};

struct pmcstat {
	struct hwpmc *h;
	unsigned int nevent;
	struct pmcstat_event *event;
	unsigned int npid;		/* -t */
	pid_t *pid;
	uint64_t interval_ns;		/* -w */
	uint64_t limit_ns;		/* -l, 0: none */
	int verbose;
	bool quiet;
	const char *output_path;	/* -o, NULL: standard error */
	FILE *out;
	unsigned int lines;		/* since the last header */
	char **command;			/* NULL: none */
};

/* pmcstat_run.c: allocate, count until the end, print. The exit status. */
int pmcstat_run(struct pmcstat *ps);

/* pmcstat_print.c */
void pmcstat_set_widths(struct pmcstat *ps);
void pmcstat_print_counts(struct pmcstat *ps);

#endif
