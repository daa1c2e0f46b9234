/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edit.h - what "hwpmc filter" and "hwpmc merge" share: a log that is made of the records
 * of others.
 */
#ifndef TOOLS_EDIT_H
#define TOOLS_EDIT_H

#include <stdint.h>

#include <libhwpmcstat.h>

#include "record/sink.h"

struct edit_out {
	struct sink sink;
	int32_t cpu;			/* whose records the last ones are */
	uint64_t last;			/* time of the latest record */
	uint64_t samples;
	uint64_t filtered;		/* samples that a filter has taken out, now and
					 * before */
	char *buffer;
	size_t n;
	bool cut;			/* an input had no end: this has none */
};

/* 0, or -1 after a message. */
int edit_open(struct edit_out *out, const char *path, int level);
/* A record as it is, or with another id; its CPU is said where that changes. */
void edit_put(struct edit_out *out, const struct hwpmc_record *r, uint32_t id);
/*
 * The end: how many samples were taken out, and CLOSELOG. good: it is complete; else
 * nothing is left. 0, or -1 after a message.
 */
int edit_close(struct edit_out *out, bool good);

/* Open a log that is read twice. NULL: a message was printed. */
struct hwpmc_input *edit_input(const char *path);

#endif
