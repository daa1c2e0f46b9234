/* SPDX-License-Identifier: BSD-2-Clause */
/* output.h - files that options such as -o name. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

/*
 * open(path, O_WRONLY | O_CREAT | O_TRUNC | flags): in a directory that others can write,
 * such as /tmp, no link is followed: it may be another user's, to a file of this one's.
 */
int output_open(const char *path, int flags, mode_t mode);
/* The same of a file that is there, and stays as it is: can it be written? */
int output_open_kept(const char *path);
/* NULL: errno. */
FILE *output_fopen(const char *path);
/* A directory for several files, which may be there: a descriptor for output_fopen_at(), or
 * -1. Where others can write, it is no link; files are made in this directory even if its
 * name is given to another one meanwhile. */
int output_mkdir(const char *path);
FILE *output_fopen_at(int dir, const char *name);

#endif
