/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pagecache.h - first page of a file, if the page cache has it. Does not sleep; any
 * context but NMI.
 */
#ifndef HWPMC_COMPAT_PAGECACHE_H
#define HWPMC_COMPAT_PAGECACHE_H

struct file;
struct page;

/* Its contents, or NULL. Release with hwpmc_page_put(*page). */
const void *hwpmc_first_page(struct file *file, struct page **page);
void hwpmc_page_put(struct page *page);

#endif /* HWPMC_COMPAT_PAGECACHE_H */
