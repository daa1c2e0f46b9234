/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_unanswered.h - a file system (FUSE) whose server answers no read of a file's data. The
 * release of mappings waits for asynchronous reads of the program, so it lasts until the server
 * is killed.
 */
#ifndef KMOD_UNANSWERED_H
#define KMOD_UNANSWERED_H

void unanswered_mount(void);
/* Starts an asynchronous read in the calling process. */
void unanswered_read(void);
/* Kills the server, so that all reads fail, and unmounts. */
void unanswered_end(void);

#endif
