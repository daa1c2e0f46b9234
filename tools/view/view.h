/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view.h - what pmcstat makes of a profile: texts that people and programs read.
 * Each function writes one of them to f; the caller checks f for errors. In
 * each of them the figures add up to the samples of the profile.
 */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

#define VIEW_BELOW	"[below-threshold]"
#define VIEW_CHAIN_ENDS	"[chain-ends]"

struct view_options {
	double threshold;	/* percent of an event's samples; less is left out */
	uint32_t depth;		/* of call graphs, 0: all */
	bool offsets;		/* -I: where in the function, not only which */
};

/* graph.c: callers below callees, a blank more each level (-G). */
void view_graph(FILE *f, const struct hwpmc_profile *p,
		const struct view_options *o);
/* samples.c: a line a sample, in the order of time (-m). */
void view_pcs(FILE *f, const struct hwpmc_profile *p);
/* A line a frame, with the source line, and "--" behind each sample (-a). */
void view_frames(FILE *f, struct hwpmc_profile *p);
/*
 * gprof.c: DIR/EVENT/IMAGE.gmon for gprof (-g), and which file is what, if there
 * is a map (-M). *without: samples that no such file can hold. 0, or -1 after a
 * message; but whether map has failed is its caller's to see.
 */
int view_gprof(struct hwpmc_profile *p, const char *dir, FILE *map,
	       uint64_t *without);
/* totals.c: what became of the samples of the log. */
void view_totals(FILE *f, const struct hwpmc_profile *p);

#endif
