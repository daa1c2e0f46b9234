/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logtext.h - a record as a line of text: a keyword, as pmcstat(8) of FreeBSD has
 * them, and its values. What names an event, a program or a note is in quotes.
 */
#ifndef TOOLS_LOGTEXT_H
#define TOOLS_LOGTEXT_H

#include <stdio.h>

#include <libhwpmclog.h>

/* Write it to f as one piece, even where threads share f. */
void logtext_line(FILE *f, const struct hwpmc_record *r);
/*
 * Only if it is not a record of the stream itself (CPU, CONTEXT, PADDING): samples say
 * their thread and CPU.
 */
void logtext_record(FILE *f, const struct hwpmc_record *r);

#endif
