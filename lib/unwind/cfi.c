/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cfi.c - the ranges of a file's call-frame information. Functions are found by the
 * table of .eh_frame_hdr, which linkers make for exceptions; without that, as in static
 * programs, by their entries in .eh_frame (frames.c). elfutils reads the information
 * itself. Files are not trusted.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "unwind.h"

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

#define ENCODED_UDATA4		0x03
#define ENCODED_DATAREL_SDATA4	0x3b

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

/* The segment of .eh_frame_hdr, in memory; NULL: there is none. */
static const struct eh_frame_hdr *find_header(Elf *elf, uint64_t *at, size_t *size)
{
	const char *image;
	size_t i, n, bytes;
	GElf_Phdr ph;

	image = elf_rawfile(elf, &bytes);
	if (!image || elf_getphdrnum(elf, &n))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (ph.p_offset > bytes || ph.p_filesz > bytes - ph.p_offset ||
		    ph.p_filesz < sizeof(struct eh_frame_hdr) || ph.p_offset & 3)
			return NULL;
		*at = ph.p_vaddr;
		*size = ph.p_filesz;
		return (const void *)(image + ph.p_offset);
	}
	return NULL;
}

/* All ranges from `at` up to `limit`, or to where there is no information. */
int cfi_read_function(Dwarf_CFI *cfi, uint64_t at, uint64_t limit,
		      struct cfi_ranges *ranges)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	int ret = 0;

	for (; !ret && at < limit; at = end) {
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

static int read_functions(Dwarf_CFI *cfi, const struct eh_frame_hdr *h, uint64_t base,
			  struct cfi_ranges *ranges)
{
	uint32_t i;

	for (i = 0; i < h->count; i++) {
		uint64_t at = base + h->entry[i].function;
		uint64_t limit = i + 1 < h->count ? base + h->entry[i + 1].function :
				 UINT64_MAX;

		if (cfi_read_function(cfi, at, limit, ranges))
			return -1;
	}
	return 0;
}

static bool can_read(const struct eh_frame_hdr *h, size_t size)
{
	return h->version == 1 && h->count_encoding == ENCODED_UDATA4 &&
	       h->table_encoding == ENCODED_DATAREL_SDATA4 &&
	       h->count <= (size - sizeof(*h)) / sizeof(h->entry[0]);
}

int cfi_ranges_read(Elf *elf, struct cfi_ranges *ranges)
{
	const struct eh_frame_hdr *h;
	Dwarf_CFI *cfi;
	uint64_t base;
	size_t size;
	int ret;

	*ranges = (struct cfi_ranges){ .n = 0 };
	cfi = dwarf_getcfi_elf(elf);
	if (!cfi) {
		errno = ENODATA;
		return -1;
	}
	h = find_header(elf, &base, &size);
	ret = h && can_read(h, size) ? read_functions(cfi, h, base, ranges) :
	      cfi_read_section(elf, cfi, ranges);
	dwarf_cfi_end(cfi);
	if (ret)
		free(ranges->range);
	return ret;
}
