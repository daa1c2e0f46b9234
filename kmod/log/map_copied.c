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

struct effort {
	gfp_t gfp;
	unsigned int *pages;		/* that may be compared; NULL: any number */
};

static bool may_compare(struct hwpmc_map *m, const struct effort *effort)
{
	if (!effort->pages)
		return true;
	if (!*effort->pages) {
		m->uncompared = true;
		return false;
	}
	--*effort->pages;
	return true;
}

/* Pages at the same distances, the first and the last of them. */
static bool has_code_of(struct hwpmc_map *m, struct vm_area_struct *vma, struct file *file,
			u64 offset, const struct effort *effort)
{
	unsigned long pages = vma_pages(vma), n = min(pages, (unsigned long)COMPARED), i;

	for (i = 0; i < n; i++) {
		unsigned long at = n < 2 ? 0 : i * (pages - 1) / (n - 1) * PAGE_SIZE;

		if (!may_compare(m, effort) ||
		    !is_same_page(vma, vma->vm_start + at, file, offset + at, effort->gfp))
			return false;
	}
	return true;
}

static bool is_listed(const u64 *list, unsigned int n, u64 offset)
{
	while (n--)
		if (list[n] == offset)
			return true;
	return false;
}

static bool is_copy_of(struct hwpmc_map *m, struct vm_area_struct *vma,
		       struct vm_area_struct *beside, const struct effort *effort)
{
	u64 compared[HWPMC_ELF_SEGMENTS];
	u64 from = (u64)beside->vm_pgoff << PAGE_SHIFT;
	u64 distance = vma->vm_start - beside->vm_start, offset;
	bool found = false;
	struct page *page;
	const void *head;
	unsigned int i, n = 0;

	if (!S_ISREG(file_inode(beside->vm_file)->i_mode))
		return false;
	head = hwpmc_first_page(beside->vm_file, &page);
	if (!head)
		return false;
	for (i = 0; !found && i < HWPMC_ELF_SEGMENTS; i++) {
		if (!hwpmc_elf_code_at(head, PAGE_SIZE, i, from, distance, &offset) ||
		    is_listed(compared, n, offset))
			continue;
		compared[n++] = offset;
		found = has_code_of(m, vma, beside->vm_file, offset, effort);
	}
	hwpmc_page_put(page);
	if (!found)
		return false;
	m->file = beside->vm_file;
	m->r.offset = offset;
	m->r.hdr.flags |= HWPMC_MAP_COPY;
	return true;
}

static bool is_copy_of_below(struct hwpmc_map *m, struct vm_area_struct *vma,
			     const struct effort *effort)
{
	struct vm_area_struct *beside = vma;
	unsigned int left = NEIGHBOURS;

	while (left-- && beside->vm_start) {
		unsigned long last = beside->vm_start - 1;

		beside = find_vma(vma->vm_mm, last);
		if (!beside || beside->vm_start > last)
			return false;
		if (beside->vm_file)
			return is_copy_of(m, vma, beside, effort);
	}
	return false;
}

static bool is_copy_of_above(struct hwpmc_map *m, struct vm_area_struct *vma,
			     const struct effort *effort)
{
	struct vm_area_struct *beside = vma;
	unsigned int left = NEIGHBOURS;

	while (left--) {
		unsigned long end = beside->vm_end;

		beside = find_vma(vma->vm_mm, end);
		if (!beside || beside->vm_start > end)
			return false;
		if (beside->vm_file)
			return is_copy_of(m, vma, beside, effort);
	}
	return false;
}

void hwpmc_map_find_copied(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp,
			   unsigned int *pages)
{
	const struct effort effort = { gfp, pages };

	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	if (!m->file && !m->name && !is_copy_of_below(m, vma, &effort))
		is_copy_of_above(m, vma, &effort);
	/* It is the file above, though not all pages of the file below were compared. */
	if (m->file)
		m->uncompared = false;
}
