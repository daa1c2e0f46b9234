/* SPDX-License-Identifier: BSD-2-Clause */
/* source.h - lines of source files, each file read once. */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include <stddef.h>
#include <sys/types.h>

#include <libhwpmcstat.h>

struct source_file;

struct sources {
	const char *root;		/* looked below first; NULL: none */
	const char *within;		/* the only root of the image that names them; NULL: none */
	struct source_file *file;
	size_t n;
	uid_t owner;			/* of what names them: sources_of() */
	gid_t group;
};

/* The program whose sources are asked for from now on. */
void sources_of(struct sources *s, const struct hwpmc_image *image);
/*
 * Without its end. Lines begin with 1. Where there is no such file or line, or the file is
 * not shown, this is said in its place: never NULL.
 */
const char *source_line(struct sources *s, const char *file, unsigned int line);
/* Why no line of a file can be shown; NULL: they can. source_line() is then empty. */
const char *source_absent(struct sources *s, const char *file);
void sources_free(struct sources *s);

#endif
