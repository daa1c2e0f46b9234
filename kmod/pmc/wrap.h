/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * wrap.h - harvests long slices before their counter can wrap twice. A delta is taken
 * modulo the counter's width, which is correct only if less than one wrap lies between
 * two reads. A slice can last for hours on a CPU that runs one thread, so while a class
 * is claimed every CPU harvests at intervals shorter than a wrap.
 */
#ifndef HWPMC_WRAP_H
#define HWPMC_WRAP_H

struct hwpmc_class;

/* A class was claimed. hwpmc_lock. */
void hwpmc_wrap_begin(void);
void hwpmc_wrap_exit(void);

#endif /* HWPMC_WRAP_H */
