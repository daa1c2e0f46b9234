/* SPDX-License-Identifier: BSD-2-Clause */
/* log_exercise.h - take bytes that may be a log through all that reads logs. */
#ifndef LOG_EXERCISE_H
#define LOG_EXERCISE_H

#include <stddef.h>
#include <stdint.h>

struct log_outcome {
	uint64_t records;		/* that the parser gave */
	uint64_t samples;
	uint64_t error_offset;
	char error[200];		/* "": it came to the end */
};

/*
 * The parser, in pieces of `piece` bytes that lie in memory of their size each, and
 * all at once; FreeBSD's reader; profiles; the lookup of each sample. They must agree
 * on what the log holds: else the program ends by abort().
 */
struct log_outcome log_exercise(const uint8_t *bytes, size_t len, size_t piece);

#endif
