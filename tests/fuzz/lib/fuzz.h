/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.h - what the targets share. Each is a file with LLVMFuzzerTestOneInput();
 * what must not be ends in abort(). */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void need(bool is, const char *what)
{
	if (is)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/* A copy of exactly so many bytes and a zero: what is read behind them is seen. */
static inline char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	need(text != NULL, "no memory");
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
