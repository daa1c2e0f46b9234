/* SPDX-License-Identifier: BSD-2-Clause */
/* symbols.h - a log of known samples whose symbols come from the bytes at hand. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <libhwpmcstat.h>

#include "fuzz.h"

/* A directory that ends with the process, and a file in it. */
const char *symbols_dir(void);
void symbols_file(const char *name, const uint8_t *data, size_t size);
/* The profile of that log, all its names looked at, lines of its images too. */
void symbols_read(const struct hwpmc_symbol_options *options);
/* And of the lines of many addresses of the program. */
void symbols_lines(const struct hwpmc_symbol_options *options);

#endif
