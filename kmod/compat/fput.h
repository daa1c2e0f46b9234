/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* fput.h - puts last references of files and mappings in kernel threads. */
#ifndef HWPMC_COMPAT_FPUT_H
#define HWPMC_COMPAT_FPUT_H

struct file;
struct mm_struct;

/*
 * Both take the caller's reference. If it is the last one, a process that is made for it
 * releases the file or the mappings, and all files that this releases (those in the queue
 * of a socket, those that are mapped). Kernel threads and work items; sleep. They wait
 * until there is such a process: for a work item of a kernel's queue, and for memory.
 */

/* Returns when all that is released. A process that exits releases it, so connections do
 * not linger. */
void hwpmc_fput_await(struct file *file);
/*
 * Does not wait for the release, except of mm where the kernel makes no helpers
 * (CONFIG_STATIC_USERMODEHELPER). file or mm can be NULL.
 */
void hwpmc_put_apart(struct file *file, struct mm_struct *mm);

#endif /* HWPMC_COMPAT_FPUT_H */
