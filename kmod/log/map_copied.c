// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * map_copied.c - see map_copied.h.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../compat/memory.h"
#include "../compat/pagecache.h"
#include "buildid.h"
#include "map.h"
#include "map_copied.h"

/* Mappings that are looked at on each side, and pages that are compared. */
#define NEIGHBOURS	4
#define COMPARED	16

/* Bytes at a time: they are on the stack. */
#define PIECE		128

/* Of the current process, whose page tables are loaded. Any context but NMI. */
static bool is_own_page(unsigned long at, const u8 *file)
{
	const void __user *from = (const void __user *)at;
	u8 piece[PIECE];
	unsigned int i;
	bool same = access_ok(from, PAGE_SIZE);

	pagefault_disable();
	for (i = 0; same && i < PAGE_SIZE; i += PIECE)
		same = !__copy_from_user_inatomic(piece, from + i, PIECE) &&
		       !memcmp(piece, file + i, PIECE);
	pagefault_enable();
	return same;
}

static bool is_page_of(struct mm_struct *mm, unsigned long at, const u8 *file)
{
	struct page *page = hwpmc_page_of(mm, at);
	bool same = page && !memcmp(page_address(page), file, PAGE_SIZE);

	if (page)
		hwpmc_page_put(page);
	return same;
}

/* A child's memory in a probe is a copy of the current process's. */
static bool is_same_page(struct vm_area_struct *vma, unsigned long at, struct file *file,
			 u64 offset, gfp_t gfp)
{
	struct page *page;
	const void *bytes = hwpmc_file_page(file, offset >> PAGE_SHIFT, &page);
	bool same;

	if (!bytes)
		return false;
	if (vma->vm_mm == current->mm || !gfpflags_allow_blocking(gfp))
		same = is_own_page(at, bytes);
	else
		same = is_page_of(vma->vm_mm, at, bytes);
	hwpmc_page_put(page);
	return same;
}

/* Pages at the same distances, the first and the last of them. */
static bool has_code_of(struct vm_area_struct *vma, struct file *file, u64 offset, gfp_t gfp)
{
	unsigned long pages = vma_pages(vma), n = min(pages, (unsigned long)COMPARED), i;

	for (i = 0; i < n; i++) {
		unsigned long at = n < 2 ? 0 : i * (pages - 1) / (n - 1) * PAGE_SIZE;

		if (!is_same_page(vma, vma->vm_start + at, file, offset + at, gfp))
			return false;
	}
	return true;
}

static bool is_copy_of(struct hwpmc_map *m, struct vm_area_struct *vma,
		       struct vm_area_struct *beside, gfp_t gfp)
{
	u64 from = (u64)beside->vm_pgoff << PAGE_SHIFT;
	u64 distance = vma->vm_start - beside->vm_start, offset;
	bool found = false;
	struct page *page;
	const void *head;
	unsigned int i;

	if (!S_ISREG(file_inode(beside->vm_file)->i_mode))
		return false;
	head = hwpmc_first_page(beside->vm_file, &page);
	if (!head)
		return false;
	for (i = 0; !found && i < HWPMC_ELF_SEGMENTS; i++)
		found = hwpmc_elf_code_at(head, PAGE_SIZE, i, from, distance, &offset) &&
			has_code_of(vma, beside->vm_file, offset, gfp);
	hwpmc_page_put(page);
	if (!found)
		return false;
	m->file = beside->vm_file;
	m->r.offset = offset;
	m->r.hdr.flags |= HWPMC_MAP_COPY;
	return true;
}

static bool is_copy_of_below(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp)
{
	struct vm_area_struct *beside = vma;
	unsigned int left = NEIGHBOURS;

	while (left-- && beside->vm_start) {
		unsigned long last = beside->vm_start - 1;

		beside = find_vma(vma->vm_mm, last);
		if (!beside || beside->vm_start > last)
			return false;
		if (beside->vm_file)
			return is_copy_of(m, vma, beside, gfp);
	}
	return false;
}

static bool is_copy_of_above(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp)
{
	struct vm_area_struct *beside = vma;
	unsigned int left = NEIGHBOURS;

	while (left--) {
		unsigned long end = beside->vm_end;

		beside = find_vma(vma->vm_mm, end);
		if (!beside || beside->vm_start > end)
			return false;
		if (beside->vm_file)
			return is_copy_of(m, vma, beside, gfp);
	}
	return false;
}

void hwpmc_map_find_copied(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp)
{
	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	if (!m->file && !m->name && !is_copy_of_below(m, vma, gfp))
		is_copy_of_above(m, vma, gfp);
}
