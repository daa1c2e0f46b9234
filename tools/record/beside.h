/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside.h - a file that is written as FILE.part and gets its name when it is complete.
 * Until then FILE is what it was before; then that is FILE.old.
 */
#ifndef TOOLS_BESIDE_H
#define TOOLS_BESIDE_H

struct beside {
	char *path;			/* links of the given name are resolved */
	char *part;			/* NULL: path is written itself */
	char *old;
};

/*
 * A descriptor, or -1 with errno. What is no regular file (a device, a pipe) is opened
 * itself. EBUSY: another process writes FILE.part. No link is followed where others than
 * the caller can write to the directory.
 */
int beside_open(struct beside *b, const char *path);

/* FILE becomes FILE.old, FILE.part becomes FILE. 0, or -1 with errno. */
int beside_keep(struct beside *b);

/* Remove FILE.part; FILE stays as it is. */
void beside_discard(struct beside *b);

#endif
