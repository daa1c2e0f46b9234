// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.7: the mtime of an inode is read by a function alone. */
#include <linux/fs.h>

struct timespec64 probe(const struct inode *inode);

struct timespec64 probe(const struct inode *inode)
{
	return inode_get_mtime(inode);
}
