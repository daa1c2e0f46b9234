/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * unwind_table.h - an unwind table as walks read it: rows with an index by page, and the
 * mappings that say which file an address is in. Pure.
 */
#ifndef HWPMC_UNWIND_TABLE_H
#define HWPMC_UNWIND_TABLE_H

#include "../compat/types.h"
#include "hwpmc_log.h"		/* uapi */
#include "hwpmc_unwind.h"	/* uapi */

#define UNWIND_PAGE_SHIFT	12

/* The file that a table describes, or that a mapping is of. */
struct hwpmc_unwind_file {
	u64 inode;
	u32 dev;
	u8 kind;		/* UNWIND_FILE_* */
	u8 build_id_len;	/* 0: it has none */
	u8 copied;		/* a mapping's: its contents are in anonymous memory */
	u8 build_id[HWPMC_LOG_BUILD_ID];
};

#define UNWIND_FILE_NONE	0	/* anonymous memory */
#define UNWIND_FILE_INODE	1
#define UNWIND_FILE_VDSO	2

/* An executable mapping. */
struct hwpmc_unwind_map {
	u64 start, end;		/* addresses [start, end) */
	u64 shift;		/* position in the file = address - shift */
	struct hwpmc_unwind_file file;
};

/*
 * page[i], i < npage: the last row that begins before or at the first byte of page
 * first_page + i, or row 0; page[npage]: the last row. All rows begin in these pages.
 */
struct hwpmc_unwind_table {
	const struct hwpmc_unwind_row *row;
	const u32 *page;
	u32 nrow;
	u32 first_page, npage;
};

/* The mapping with the address, or NULL. */
static inline const struct hwpmc_unwind_map *
unwind_find_map_nmi(const struct hwpmc_unwind_map *map, unsigned int n, u64 at)
{
	unsigned int first = 0;

	while (n) {
		unsigned int half = n / 2;

		if (map[first + half].start <= at) {
			first += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return first && at < map[first - 1].end ? &map[first - 1] : NULL;
}

/* The number of rows at the beginning that are valid: rising, each rule one that is
 * defined. A table is valid if that is nrow. */
u32 hwpmc_unwind_check(const struct hwpmc_unwind_row *row, u32 nrow);
/* Entries of .page for these rows. */
u32 hwpmc_unwind_pages(const struct hwpmc_unwind_row *row, u32 nrow);
/* Fill in page[], of so many entries, and the table. */
void hwpmc_unwind_index(struct hwpmc_unwind_table *t, const struct hwpmc_unwind_row *row,
			u32 nrow, u32 *page);

#endif /* HWPMC_UNWIND_TABLE_H */
