// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map.c - see map.h.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/preempt.h>

#include "../compat/inode.h"
#include "../compat/pagecache.h"
#include "../compat/vma.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "buildid.h"
#include "map.h"

bool hwpmc_wants_vma(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

static const char *path_of(const struct hwpmc_map *m, char *page)
{
	const char *path;

	if (!m->file)
		return m->name ?: "//anon";
	path = hwpmc_mapped_path(m->file, page, PAGE_SIZE);
	return IS_ERR(path) ? "//toolong" : path;
}

/* False: its first page is not in the page cache. */
static bool look_into_file(struct hwpmc_log_map *r, struct file *file)
{
	unsigned int n = 0;
	const void *head;
	struct page *page;

	if (!S_ISREG(file_inode(file)->i_mode))
		return true;
	head = hwpmc_first_page(file, &page);
	if (!head)
		return false;
	n = hwpmc_build_id(head, PAGE_SIZE, r->build_id, sizeof(r->build_id));
	if (hwpmc_elf_slide(head, PAGE_SIZE, r->offset, &r->slide))
		r->hdr.flags |= HWPMC_MAP_HAS_SLIDE;
	hwpmc_page_put(page);
	r->build_id_len = n;
	if (n)
		r->hdr.flags |= HWPMC_MAP_HAS_BUILD_ID;
	return true;
}

void hwpmc_map_init(struct hwpmc_map *m, struct vm_area_struct *vma)
{
	memset(m, 0, sizeof(*m));
	m->r.start = vma->vm_start;
	m->r.end = vma->vm_end;
	m->file = vma->vm_file;
	if (m->file)
		m->r.offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	else
		/* NULL for mappings without vm_ops->name: "//anon". */
		m->name = hwpmc_vma_name(vma);
}

void hwpmc_map_identify(struct hwpmc_map *m)
{
	if (m->file) {
		const struct inode *inode = file_inode(m->file);
		const struct inode *shown = hwpmc_mapped_inode(m->file);

		m->r.inode = shown->i_ino;
		m->r.major = MAJOR(shown->i_sb->s_dev);
		m->r.minor = MINOR(shown->i_sb->s_dev);
		m->at = (struct hwpmc_log_file){
			.size = i_size_read(inode),
			.mtime = hwpmc_inode_mtime(inode),
			.ctime = hwpmc_inode_ctime(inode),
		};
		m->r.hdr.flags |= HWPMC_MAP_HAS_FILE;
		m->unread = !look_into_file(&m->r, m->file);
		if (m->unread)
			m->r.hdr.flags |= HWPMC_MAP_UNREAD;
	} else {
		m->r.hdr.flags |= HWPMC_MAP_ANON;
	}
}

void hwpmc_map_look_up(struct hwpmc_map *m, char *page)
{
	m->path = path_of(m, page);
	hwpmc_map_identify(m);
}

bool hwpmc_emit_map(struct hwpmc_owner *owner, s32 pid, const struct hwpmc_map *m,
		   u8 flags)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	size_t len = strlen(m->path);
	size_t size = ALIGN(sizeof(struct hwpmc_log_map) + len + 1, HWPMC_LOG_ALIGN);
	size_t more = m->r.hdr.flags & HWPMC_MAP_HAS_FILE ? sizeof(m->at) : 0;
	struct hwpmc_log_map *r;

	if (!log)
		return true;
	preempt_disable();
	r = hwpmc_log_reserve(log, HWPMC_LOG_MAP_IN, size + more);
	if (r) {
		/* No old byte of the ring between the path and what follows it. */
		memset((u8 *)r + size - HWPMC_LOG_ALIGN, 0, HWPMC_LOG_ALIGN);
		memcpy((u8 *)r + sizeof(r->hdr), (u8 *)&m->r + sizeof(r->hdr),
		       sizeof(*r) - sizeof(r->hdr));
		r->hdr.flags = m->r.hdr.flags | flags;
		r->pid = pid;
		memcpy(r->path, m->path, len + 1);
		memcpy((u8 *)r + size, &m->at, more);
		hwpmc_log_commit(log);
	}
	preempt_enable();
	return r;
}

void hwpmc_emit_own_map(struct hwpmc_owner *owner, void *map)
{
	hwpmc_emit_map(owner, hwpmc_owner_tgid_nr(owner, current), map, 0);
}
