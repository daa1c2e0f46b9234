/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * every.h - "hwpmc record --every": short recordings again and again, each a log of its
 * own in a directory that has a limit. Each is made by a child of its own: between two
 * no counter is held, and what ends one does not end the next.
 */
#ifndef TOOLS_EVERY_H
#define TOOLS_EVERY_H

#include <stdbool.h>
#include <stdint.h>

struct every {
	uint64_t every_ns;	/* 0: not asked for */
	uint64_t for_ns;	/* of each recording; 0: EVERY_FOR_DEFAULT */
	uint64_t keep;		/* bytes that the directory may have */
	uint64_t duration_ns;	/* of all; 0: until a signal */
	const char *directory;
};

#define EVERY_FOR_DEFAULT	1000000000ull

enum {
	EVERY_EVERY = 800, EVERY_FOR, EVERY_KEEP,
};

#define EVERY_OPTIONS							\
	{ "every", required_argument, NULL, EVERY_EVERY },		\
	{ "for", required_argument, NULL, EVERY_FOR },			\
	{ "keep", required_argument, NULL, EVERY_KEEP }

#define EVERY_HELP							\
"      --every TIME    write a new log every TIME (10s, 5m, 500ms) to a\n"	\
"                      directory (-o; default: hwpmc.logs), for hwpmc push\n" \
"      --for TIME      with --every: sample this long each time; default: 1s\n"	\
"      --keep SIZE     with --every: keep logs of at most this size (256M): drop\n" \
"                      the oldest ones, and count them in the file 'account'\n"

/* 1: c is none of these; 0; or an exit status, after a message. */
int every_parse(struct every *e, int c, const char *arg);
/* "10s", "500ms", "5m", "1h": nanoseconds. 0, or -1. Pure. */
int every_time(const char *arg, uint64_t *ns);
/* 0, or an exit status after a message. */
int every_check(const struct every *e, bool command);

/* How one recording is made. */
struct every_part {
	void (*before)(void *arg);	/* in this process: what it changes is there for all later ones */
	int (*once)(void *arg, const char *path);	/* in a child: records into the file */
	void *arg;			/* of both */
};

/* Returns the exit status. */
int every_run(const struct every *e, const struct every_part *part);

#endif
