/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - rows of a table from ranges of addresses.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#include "unwind.h"

/* Between functions there is padding of less than so many bytes, which is never executed:
 * the rule before it goes on. */
#define PADDING		32

static int compare_ranges(const void *a, const void *b)
{
	const struct cfi_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Of one file; programs have one or two. */
#define SEGMENTS	64

struct segments {
	GElf_Phdr code[SEGMENTS];
	unsigned int n;
};

static int find_segments(Elf *elf, struct segments *s)
{
	GElf_Phdr ph;
	size_t n;

	s->n = 0;
	if (elf_getphdrnum(elf, &n))
		return -1;
	for (size_t i = 0; i < n && s->n < SEGMENTS; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_flags & PF_X && ph.p_offset <= UINT32_MAX)
			s->code[s->n++] = ph;
	return 0;
}

/* Addresses to a position in the file. False: no code of the file is there. */
static bool to_position(const struct segments *s, struct cfi_range *r)
{
	for (unsigned int i = 0; i < s->n; i++) {
		const GElf_Phdr *ph = &s->code[i];

		if (r->start < ph->p_vaddr || r->end - ph->p_vaddr > ph->p_filesz)
			continue;
		if (r->end - ph->p_vaddr > UINT32_MAX - ph->p_offset)
			return false;
		r->start += ph->p_offset - ph->p_vaddr;
		r->end += ph->p_offset - ph->p_vaddr;
		return true;
	}
	return false;
}

#define NO_ENTRY	UINT64_MAX

/* Returns the position in the file where the program, or the loader, begins. */
static uint64_t position_of_entry(uint64_t address, const struct segments *s)
{
	struct cfi_range r = { .start = address, .end = address + 1 };

	if (!address || address == UINT64_MAX)
		return NO_ENTRY;
	return to_position(s, &r) ? r.start : NO_ENTRY;
}

/* Drops ranges that are in no executable segment. *entry: an address, then a position. */
static int to_positions(Elf *elf, struct cfi_ranges *r, uint64_t *entry)
{
	struct segments segments;
	size_t i, kept = 0;

	if (find_segments(elf, &segments))
		return -1;
	for (i = 0; i < r->n; i++)
		if (to_position(&segments, &r->range[i]))
			r->range[kept++] = r->range[i];
	r->n = kept;
	*entry = position_of_entry(*entry, &segments);
	return 0;
}

static void put_row(struct hwpmc_unwind_row *row, uint32_t *n, uint64_t at, uint32_t rule)
{
	if (*n && row[*n - 1].rule == rule)
		return;
	row[(*n)++] = (struct hwpmc_unwind_row){ at, rule };
}

/* The end of code without rules that may have been called, behind `last`. */
static uint64_t gap_end(uint64_t entry, uint64_t last, uint64_t next)
{
	return entry >= last && entry < next ? entry : next;
}

/*
 * Between functions that have rules there is code without, as assembly has none. Where the
 * program or the loader is entered nothing has called it.
 */
static uint32_t put_rows(const struct cfi_ranges *r, uint64_t entry,
			 struct hwpmc_unwind_row *row)
{
	uint64_t last = 0;
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct cfi_range *range = &r->range[i];

		/* One that overlaps the range before: the file is damaged there. */
		if (range->start < last || range->end <= range->start)
			continue;
		if (n && gap_end(entry, last, range->start) - last >= PADDING)
			put_row(row, &n, last, HWPMC_UNWIND_NONE);
		if (entry >= last && entry < range->start)
			put_row(row, &n, entry, HWPMC_UNWIND_END);
		put_row(row, &n, range->start, range->rule);
		last = range->end;
	}
	if (n)
		put_row(row, &n, last, HWPMC_UNWIND_NONE);
	return n;
}

int cfi_rows_make(Elf *elf, struct cfi_ranges *ranges, uint64_t entry,
		  struct hwpmc_unwind_row **row, uint32_t *nrow)
{
	*row = NULL;
	if (to_positions(elf, ranges, &entry)) {
		errno = EIO;
		return -1;
	}
	if (!ranges->n || ranges->n > HWPMC_UNWIND_ROWS_MAX / 2) {
		errno = ranges->n ? EFBIG : EIO;
		return -1;
	}
	qsort(ranges->range, ranges->n, sizeof(*ranges->range), compare_ranges);
	/* A range, and what lies between it and the next; code before the first; the entry. */
	*row = malloc((2 * ranges->n + 3) * sizeof(**row));
	if (!*row)
		return -1;
	*nrow = put_rows(ranges, entry, *row);
	return 0;
}
