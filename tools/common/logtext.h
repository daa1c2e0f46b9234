/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logtext.h - a record as a line of text: its type and its values. pmcstat(8) has
 * FreeBSD's keywords for types, hwpmc dump the names of hwpmc_log(5). What names an event, a program or a note is in quotes.
 */
#ifndef TOOLS_LOGTEXT_H
#define TOOLS_LOGTEXT_H

#include <stdio.h>

#include <libhwpmclog.h>

/* Write it to f as one piece, even where threads share f: as its type is named ("map-in" for
 * MAP_IN). */
void logtext_named_line(FILE *f, const struct hwpmc_record *r);
/* The sentence of the reason of a loss, its detail included. */
#define LOGTEXT_LOSS	400
void logtext_loss(char *buf, size_t size, const struct hwpmc_log_loss *r);
/*
 * With its keyword. Only if it is not a record of the stream itself (CPU, CONTEXT, PADDING): samples say
 * their thread and CPU.
 */
void logtext_record(FILE *f, const struct hwpmc_record *r);

#endif
