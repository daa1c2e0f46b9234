/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logdir.h - a directory of finished logs between `hwpmc record --every`, which adds them,
 * and `hwpmc push`, which takes them away: N.log with N from 1, and the file `account`,
 * which says what became of each number. So
 *
 *	begun = failed + pushed + refused + empty + dropped + logs that wait (+ 1 that is
 *	being recorded)
 *
 * and nothing that was begun is gone without being counted. Changes of the account are
 * made under flock(2) of the file `lock`; a log that is being pushed is locked itself.
 */
#ifndef TOOLS_LOGDIR_H
#define TOOLS_LOGDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct logdir {
	int dir, lock;
	char *path;
};

/* In this order in the account, and in metrics. */
enum logdir_key {
	LOGDIR_BEGUN,		/* recordings, so the last number */
	LOGDIR_FAILED,		/* recordings that left no log */
	LOGDIR_PUSHED,		/* logs that a receiver has taken */
	LOGDIR_REFUSED,		/* that no receiver will take: it said so, or they are
				 * damaged */
	LOGDIR_EMPTY,		/* that have no sample to push */
	LOGDIR_DROPPED,		/* that were removed to keep the limit of the directory */
	LOGDIR_DROPPED_BYTES,
	LOGDIR_KEYS,
};

struct logdir_account {
	uint64_t n[LOGDIR_KEYS];
};

extern const char *const logdir_key_names[LOGDIR_KEYS];

#define LOGDIR_NAME	32	/* room for a log's name */

/* 0, or -1 with one sentence. create: make the directory if it is not there. */
int logdir_open(struct logdir *s, const char *path, bool create, char *err, size_t size);
void logdir_close(struct logdir *s);

/*
 * By the one that records; false: another one does. Removes what a killed one has left
 * and counts it as failed.
 */
bool logdir_begin(struct logdir *s);
/* A number for the next log, counted as begun. 0: errno. */
uint64_t logdir_next(struct logdir *s);
/* "0000000042.log" */
const char *logdir_name(char name[LOGDIR_NAME], uint64_t number);
/* The recording of a number is over: has it left a log? false is counted as failed. */
bool logdir_ended(struct logdir *s, uint64_t number);

/*
 * Remove the oldest logs until the rest has no more than so many bytes, and count them as
 * dropped; those that are being pushed stay. The number of logs that were dropped.
 */
unsigned int logdir_trim(struct logdir *s, uint64_t limit);

/*
 * The first log after a number that no other process pushes, locked: a descriptor to read from,
 * and its number; -1: there is none.
 */
int logdir_take(struct logdir *s, uint64_t after, uint64_t *number);
/* It is gone from the directory, and counted as `what`. */
void logdir_done(struct logdir *s, uint64_t number, enum logdir_key what);

/* 0, or -1 with errno. waiting, bytes: of the logs that are there. */
int logdir_read(struct logdir *s, struct logdir_account *a, uint64_t *waiting,
	       uint64_t *bytes);

#endif
