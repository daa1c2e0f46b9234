/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.h - the lines of a call tree as text. Trees have millions of lines, of which
 * neighbours have the same numbers and all have one of a few thousand names: both are made
 * once, and a line is a copy of them in a large buffer.
 */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include <stdint.h>

#include <libhwpmcstat.h>

#include "common/pager.h"

struct rows;

/* The lines of an event with so many samples; until rows_end() nothing else writes there. */
struct rows *rows_begin(const struct pager *out, uint64_t samples);
/* A line; symbol NULL: of `what`. */
void rows_put(struct rows *r, uint64_t count, uint64_t self, unsigned int depth,
	      const struct hwpmc_symbol *symbol, const char *what);
/* Writes the rest. NULL: nothing. */
void rows_end(struct rows *r);

#endif /* TOOLS_ROWS_H */
