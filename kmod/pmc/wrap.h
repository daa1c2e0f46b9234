/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * wrap.h - slices that could outlast a counter's width.
 * A delta is taken modulo the width: right only if the counter wraps less than
 * once in a slice. Nothing ends a slice on a CPU that runs one thread for hours,
 * so while counters are claimed every CPU is asked now and then to take what it
 * has counted.
 */
#ifndef HWPMC_WRAP_H
#define HWPMC_WRAP_H

struct hwpmc_class;

/* A class was claimed. Under hwpmc_lock. */
void hwpmc_wrap_begin(void);
void hwpmc_wrap_exit(void);

#endif /* HWPMC_WRAP_H */
