/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map.h - an executable mapping of a process, and its MAP_IN record.
 */
#ifndef HWPMC_MAP_H
#define HWPMC_MAP_H

#include <linux/types.h>

#include "hwpmc_log.h"	/* uapi */

struct file;
struct hwpmc_owner;
struct vm_area_struct;

struct hwpmc_map {
	struct hwpmc_log_map r;		/* all but pid and the header's type */
	struct hwpmc_log_file at;	/* with HWPMC_MAP_HAS_FILE */
	struct file *file;		/* or NULL */
	const char *name;		/* of a mapping without file, or NULL */
	const char *path;
	bool unread;			/* the file's first page is not in memory */
	bool uncompared;		/* it may be a copy of a file: too many pages */
};

/* Returns true if records and walks need the mapping. */
bool hwpmc_wants_vma(const struct vm_area_struct *vma);
/* Under mmap_lock, or before the mapping is visible to others. */
void hwpmc_map_init(struct hwpmc_map *m, struct vm_area_struct *vma);
/* Fill in path (stored in `page`), inode and build-id. The caller holds the file.
 * Sleeps on a real-time kernel. */
void hwpmc_map_look_up(struct hwpmc_map *m, char *page);
/* Fill in inode and build-id alone, under the same conditions. */
void hwpmc_map_identify(struct hwpmc_map *m);
/* Write one MAP_IN to one log. Returns false if the ring has no room. */
bool hwpmc_emit_map(struct hwpmc_owner *owner, s32 pid, const struct hwpmc_map *m,
		   u8 flags);
/* Write one for a mapping (struct hwpmc_map *) of the current process. */
void hwpmc_emit_own_map(struct hwpmc_owner *owner, void *map);

#endif /* HWPMC_MAP_H */
