/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pagecache.h - pages of a file, if the page cache has them. Unless stated it does
 * not sleep; any context but NMI.
 */
#ifndef HWPMC_COMPAT_PAGECACHE_H
#define HWPMC_COMPAT_PAGECACHE_H

struct file;
struct page;

/* Contents of the page with that number, or NULL. Release with hwpmc_page_put(*page). */
const void *hwpmc_file_page(struct file *file, unsigned long index, struct page **page);
/* The same of the first page. */
const void *hwpmc_first_page(struct file *file, struct page **page);
void hwpmc_page_put(struct page *page);

/*
 * Begin to read it into the page cache, and do not wait for it. Sleeps. Does nothing for
 * file systems that a program serves (FUSE), as that program could let the caller wait for
 * ever, and where there is no reading ahead.
 */
void hwpmc_first_page_read(struct file *file);

#endif /* HWPMC_COMPAT_PAGECACHE_H */
