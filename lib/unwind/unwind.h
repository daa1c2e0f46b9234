/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.h - inside lib/unwind: from call-frame information to rows.
 *
 *	frames.c the functions that a file has call-frame information of
 *	cfi.c	goes through them and the ranges of each (elfutils)
 *	rule.c	one range's frame, as elfutils describes it, as a rule of hwpmc_unwind.h
 *	rows.c	ranges in any order, as sorted rows by position in the file
 *	copy.c	the parts of a file that are read, copied; build-id
 *	image.c	files and the vdso
 *	cache.c	tables that were made before, in a directory
 *	process.c the tables of what a process has mapped, to the module
 */
#ifndef HWPMC_LIB_UNWIND_H
#define HWPMC_LIB_UNWIND_H

#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwpmc_unwind.h"

struct hwpmc_unwind;
struct stat;

/* Returns true with EINVAL if a pointer is null that an exported function needs. */
static inline bool unwind_null(bool missing)
{
	if (missing)
		errno = EINVAL;
	return missing;
}

/* A rule that is valid in [start, end), addresses of the file's image. */
struct cfi_range {
	uint64_t start, end;
	uint32_t rule;
};

/* A function that has an entry in .eh_frame. */
struct cfi_function {
	uint64_t start, end;
	uint64_t length;	/* of its entry and the common one, bytes */
};

struct cfi_functions {
	struct cfi_function *function;
	size_t n, max;
};

/*
 * For each range elfutils goes through the function's entry from its beginning, so a file
 * of a megabyte can be made that takes hours, or any memory. Functions of programs have some
 * hundred bytes.
 */
struct cfi_ranges {
	struct cfi_range *range;
	size_t n, max;
	size_t most;		/* ranges */
	uint64_t left;		/* bytes that may be gone through yet */
};

/* struct of .eh_frame_hdr as linkers write it: version 1, and a sorted table of pairs of
 * 32-bit numbers that count from the section's address. */
struct eh_frame_hdr {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
	struct {
		int32_t function, description;
	} entry[];
};

struct unwind_copy {
	unsigned char *image;		/* zero where nothing was read; sections are dropped */
	size_t size, mapped;
	size_t head;			/* bytes at the beginning that are read already */
	/* Valid, in the image; NULL: it has none, or of another form. */
	const struct eh_frame_hdr *header;
	uint64_t header_address;
	uint64_t frames, frames_len;	/* .eh_frame, and what follows it: position, bytes */
	bool has_frames;		/* it has a header, of a form that may be unknown */
	bool many_sections;		/* more than its header can count */
};

/* 0, or -1 with errno; ENOEXEC: no program of ours; EIO: it is cut off. */
int copy_file(int fd, uint64_t size, struct unwind_copy *c);
int copy_memory(const void *image, size_t size, struct unwind_copy *c);
void copy_free(struct unwind_copy *c);
/* Sets u->build_id and its length. */
void copy_build_id(const struct unwind_copy *c, struct hwpmc_unwind *u);
/* The address where the program or the loader is entered; 0: none, as of libraries. */
uint64_t copy_entry(const struct unwind_copy *c);

/* The functions in any order: by the header of a copy, or, the file as it is, by its
 * sections; *size: bytes of call-frame information, or more. 0, or -1 with errno; ENODATA: the
 * file has none; EFBIG: it has too much; EIO: it is damaged. The caller frees functions->function. */
int cfi_functions_by_header(const struct unwind_copy *c, struct cfi_functions *functions);
int cfi_functions_by_section(Elf *elf, struct cfi_functions *functions, uint64_t *size);
/* The same for a reader of bounds alone, which leaves the sections as they are. */
int cfi_functions_of(Elf *elf, struct cfi_functions *functions);

/* All ranges of the functions, which are sorted. 0, or -1 with errno; ENODATA: the file
 * has none; EFBIG: it would take too long. The caller frees ranges->range. */
int cfi_ranges_read(Elf *elf, struct cfi_functions *functions, uint64_t size,
		    struct cfi_ranges *ranges);

/* The rule for a frame. */
uint32_t cfi_rule(Dwarf_Frame *frame);

/* Rows of the ranges, which are sorted: by position in the file, rising, each different
 * from the one before. entry: the address where the file is entered, 0: it has none. 0, or -1
 * with errno; EFBIG: too many; EIO: none is in code. The caller frees *row. */
int cfi_rows_make(Elf *elf, struct cfi_ranges *ranges, uint64_t entry,
		  struct hwpmc_unwind_row **row, uint32_t *nrow);

/*
 * Sets inode and device to those that the kernel lists where the file is mapped: on overlayfs
 * or btrfs fstat() has others. They stay as they are where the file cannot be mapped.
 */
void unwind_name_as_mapped(int fd, struct hwpmc_unwind *u);

/* The table of a file, which u and `of` describe: false: it is not there, or not to be
 * trusted. */
bool cache_load(int dir, const struct stat *of, struct hwpmc_unwind *u);
void cache_store(int dir, const struct stat *of, const struct hwpmc_unwind *u);

#endif /* HWPMC_LIB_UNWIND_H */
