/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cfi.c - the ranges of a file's call-frame information, which elfutils reads. Files are
 * not trusted.
 */
#include <errno.h>
#include <stdlib.h>

#include "unwind.h"

/*
 * Of programs up to some dozens of bytes are gone through for each byte of information;
 * these take seconds for a megabyte.
 */
#define WORK_LEAST	(128ull << 20)
#define WORK_PER_BYTE	4096
#define RANGES_LEAST	4096

static int ranges_add(struct cfi_ranges *r, uint64_t start, uint64_t end, uint32_t rule)
{
	if (r->n == r->max) {
		size_t max = r->max ? 2 * r->max : 4096;
		struct cfi_range *more = realloc(r->range, max * sizeof(*more));

		if (!more)
			return -1;
		r->range = more;
		r->max = max;
	}
	r->range[r->n++] = (struct cfi_range){ start, end, rule };
	return 0;
}

/* Before a range is looked for, which takes so much. */
static int ranges_charge(struct cfi_ranges *r, uint64_t cost)
{
	if (r->n < r->most && cost <= r->left) {
		r->left -= cost;
		return 0;
	}
	errno = EFBIG;
	return -1;
}

/* All ranges from `at` up to `limit`, or to where there is no information. */
static int read_function(Dwarf_CFI *cfi, uint64_t at, uint64_t limit, uint64_t cost,
			 struct cfi_ranges *ranges)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	int ret = 0;

	for (; !ret && at < limit; at = end) {
		if (ranges_charge(ranges, cost))
			return -1;
		if (dwarf_cfi_addrframe(cfi, at, &frame))
			return 0;
		if (dwarf_frame_info(frame, &start, &end, NULL) == -1 || end <= at) {
			free(frame);
			return 0;
		}
		if (end > limit)
			end = limit;
		ret = ranges_add(ranges, at, end, cfi_rule(frame));
		free(frame);
	}
	return ret;
}

static int compare_functions(const void *a, const void *b)
{
	const struct cfi_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* elfutils finds some function that has the address: this one, or one that begins before
 * and reaches into it. No two do in programs. */
static int read_functions(Dwarf_CFI *cfi, const struct cfi_functions *fs,
			  struct cfi_ranges *ranges)
{
	uint64_t limit, cost, before = 0;

	for (size_t i = 0; i < fs->n; i++) {
		const struct cfi_function *f = &fs->function[i];

		limit = i + 1 < fs->n ? f[1].start : UINT64_MAX;
		cost = f->length > before ? f->length : before;
		if (f->end > limit || f->start == limit)
			before = cost;
		if (read_function(cfi, f->start, f->end < limit ? f->end : limit, cost + 1,
				  ranges))
			return -1;
	}
	return 0;
}

int cfi_ranges_read(Elf *elf, struct cfi_functions *functions, uint64_t size,
		    struct cfi_ranges *ranges)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	int ret;

	*ranges = (struct cfi_ranges){ .most = RANGES_LEAST + size };
	if (ranges->most > HWPMC_UNWIND_ROWS_MAX / 2)
		ranges->most = HWPMC_UNWIND_ROWS_MAX / 2;
	ranges->left = WORK_LEAST + WORK_PER_BYTE * size;
	if (!cfi || !functions->n) {
		dwarf_cfi_end(cfi);
		errno = functions->n ? EIO : ENODATA;
		return -1;
	}
	qsort(functions->function, functions->n, sizeof(*functions->function),
	      compare_functions);
	ret = read_functions(cfi, functions, ranges);
	dwarf_cfi_end(cfi);
	if (ret)
		free(ranges->range);
	return ret;
}
