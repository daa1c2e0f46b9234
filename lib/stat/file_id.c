/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_id.c - the file that ran, by the MAP_IN record of its mapping: inode, device, size and
 * times, which tell files without build-id apart.
 */
#include "records.h"
#include "stat.h"

struct file_id file_id_of(const struct hwpmc_log_map *r)
{
	struct file_id ran = { .inode = r->inode, .major = r->major, .minor = r->minor };
	struct hwpmc_log_file at;

	if (!record_file(r, &at))
		return ran;
	ran.stamped = true;
	ran.unread = r->hdr.flags & HWPMC_MAP_UNREAD;
	ran.size = at.size;
	ran.mtime = at.mtime;
	ran.ctime = at.ctime;
	return ran;
}

uint64_t file_id_hash(const struct file_id *ran)
{
	uint64_t h = table_mix(ran->inode, (uint64_t)ran->major << 32 | ran->minor);

	return table_mix(table_mix(h, ran->size), ran->mtime);
}

bool file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor &&
	       a->stamped == b->stamped && a->size == b->size && a->mtime == b->mtime;
}
