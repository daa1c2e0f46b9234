/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * mapped.h - the mapped form of a log, whose rings its owner reads itself: mmap()
 * and poll() of the device. Process context, without hwpmc_lock.
 */
#ifndef HWPMC_MAPPED_H
#define HWPMC_MAPPED_H

#include <linux/types.h>

struct file;
struct hwpmc_owner;
struct poll_table_struct;
struct vm_area_struct;

int hwpmc_log_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma);
__poll_t hwpmc_log_poll(struct hwpmc_owner *owner, struct file *file,
			struct poll_table_struct *wait);

#endif /* HWPMC_MAPPED_H */
