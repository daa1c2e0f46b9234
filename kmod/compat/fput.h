/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* fput.h - puts a file in a kernel thread. */
#ifndef HWPMC_COMPAT_FPUT_H
#define HWPMC_COMPAT_FPUT_H

struct file;

/*
 * In a kernel thread of the module's own (no item of a queue): if this is the last
 * reference, the file is released before it returns, and so are files that this releases
 * (those in the queue of a socket). Lasts as long as their release: a signal ends what a
 * signal would end in a process.
 */
void hwpmc_fput_here(struct file *file);

#endif /* HWPMC_COMPAT_FPUT_H */
