/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* inode.h - times of an inode, in nanoseconds. Any context. */
#ifndef HWPMC_COMPAT_INODE_H
#define HWPMC_COMPAT_INODE_H

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

#endif /* HWPMC_COMPAT_INODE_H */
