/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.h - inside lib/unwind: from call-frame information to rows.
 *
 *	cfi.c	goes through the functions of a file and the ranges of each (elfutils)
 *	frames.c the functions of a file without .eh_frame_hdr
 *	rule.c	one range's frame, as elfutils describes it, as a rule of hwpmc_unwind.h
 *	rows.c	ranges in any order, as sorted rows by position in the file
 *	image.c	files, the vdso: open, read, build-id
 *	cache.c	tables that were made before, in a directory
 *	process.c the tables of what a process has mapped, to the module
 */
#ifndef HWPMC_LIB_UNWIND_H
#define HWPMC_LIB_UNWIND_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwpmc_unwind.h"

struct hwpmc_unwind;
struct stat;

/* A rule that is valid in [start, end), addresses of the file's image. */
struct cfi_range {
	uint64_t start, end;
	uint32_t rule;
};

struct cfi_ranges {
	struct cfi_range *range;
	size_t n, max;
};

/* All ranges with call-frame information, in any order. 0, or -1 with errno; ENODATA: the
 * file has none. The caller frees ranges->range. */
int cfi_ranges_read(Elf *elf, struct cfi_ranges *ranges);

/* Adds the ranges of the function at [at, limit). 0, or -1: no memory. */
int cfi_read_function(Dwarf_CFI *cfi, uint64_t at, uint64_t limit,
		      struct cfi_ranges *ranges);
/* The same of all functions that the section .eh_frame has an entry for. */
int cfi_read_section(Elf *elf, Dwarf_CFI *cfi, struct cfi_ranges *ranges);

/* The rule for a frame. */
uint32_t cfi_rule(Dwarf_Frame *frame);

/* Rows of the ranges, which are sorted: by position in the file, rising, each different
 * from the one before. 0, or -1 with errno; ENODATA: none. The caller frees *row. */
int cfi_rows_make(Elf *elf, struct cfi_ranges *ranges, struct hwpmc_unwind_row **row,
		  uint32_t *nrow);

/* The table of a file, which u and `of` describe: false: it is not there, or not to be
 * trusted. */
bool cache_load(int dir, const struct stat *of, struct hwpmc_unwind *u);
void cache_store(int dir, const struct stat *of, const struct hwpmc_unwind *u);

#endif /* HWPMC_LIB_UNWIND_H */
