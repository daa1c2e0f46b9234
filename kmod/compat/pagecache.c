// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pagecache.c - pages of a file in the page cache, by folios since 5.16. Uses
 * page_address(): on x86-64 all memory is mapped in the kernel.
 */
#include <linux/err.h>
#include <linux/fadvise.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/string.h>

#include "have.h"
#include "pagecache.h"

#ifdef HAVE_FILEMAP_FOLIO
const void *hwpmc_file_page(struct file *file, unsigned long index, struct page **page)
{
	struct folio *folio = filemap_get_folio(file->f_mapping, index);

	if (IS_ERR_OR_NULL(folio))
		return NULL;
	*page = folio_file_page(folio, index);
	if (folio_test_uptodate(folio))
		return page_address(*page);
	folio_put(folio);
	return NULL;
}

void hwpmc_page_put(struct page *page)
{
	folio_put(page_folio(page));
}
#else
const void *hwpmc_file_page(struct file *file, unsigned long index, struct page **page)
{
	*page = find_get_page(file->f_mapping, index);
	if (!*page)
		return NULL;
	if (PageUptodate(*page))
		return page_address(*page);
	put_page(*page);
	return NULL;
}

void hwpmc_page_put(struct page *page)
{
	put_page(page);
}
#endif

const void *hwpmc_first_page(struct file *file, struct page **page)
{
	return hwpmc_file_page(file, 0, page);
}

/* By name: virtiofs, which the host serves, has FUSE's magic number. */
static bool is_served_by_program(const struct file *file)
{
	return !strncmp(file_inode(file)->i_sb->s_type->name, "fuse", 4);
}

void hwpmc_first_page_read(struct file *file)
{
	if (!is_served_by_program(file))
		vfs_fadvise(file, 0, PAGE_SIZE, POSIX_FADV_WILLNEED);
}
