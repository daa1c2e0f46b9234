// SPDX-License-Identifier: BSD-2-Clause
/* log.c - a log: parser, FreeBSD's reader, process model, profile, lookup. */
#include "../log_exercise.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The pieces depend on the input alone, so that a crash comes again. */
	log_exercise(data, size, 1 + size * 7 % 64);
	return 0;
}
