/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * inode.h - times of an inode, in nanoseconds, and the file that a program has opened where
 * a stacked file system maps that of a layer: as /proc/PID/maps has it. Any context; a
 * path needs spin locks.
 */
#ifndef HWPMC_COMPAT_INODE_H
#define HWPMC_COMPAT_INODE_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/ktime.h>

#include "have.h"

static inline s64 hwpmc_inode_mtime(const struct inode *inode)
{
#ifdef HAVE_INODE_GET_MTIME
	struct timespec64 t = inode_get_mtime(inode);
#else
	struct timespec64 t = inode->i_mtime;
#endif
	return timespec64_to_ns(&t);
}

static inline s64 hwpmc_inode_ctime(const struct inode *inode)
{
#ifdef HAVE_INODE_GET_CTIME
	struct timespec64 t = inode_get_ctime(inode);
#else
	struct timespec64 t = inode->i_ctime;
#endif
	return timespec64_to_ns(&t);
}

static inline char *hwpmc_mapped_path(struct file *file, char *buf, int size)
{
#ifdef HAVE_FILE_USER_PATH
	return d_path(file_user_path(file), buf, size);
#else
	return file_path(file, buf, size);
#endif
}

static inline const struct inode *hwpmc_mapped_inode(struct file *file)
{
#ifdef HAVE_FILE_USER_PATH
	return file_user_inode(file);
#else
	return file_inode(file);
#endif
}

#endif /* HWPMC_COMPAT_INODE_H */
