// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * buildid.c - what the first page of an ELF file says: NT_GNU_BUILD_ID in its notes,
 * which linkers put there, and where its segments and its beginning are. Pure. The file is
 * untrusted: each offset and size is checked.
 */
#include "buildid.h"

#define GNU_BUILD_ID	3
#define PT_LOAD_TYPE	1
#define PT_NOTE_TYPE	4
#define PF_EXECUTE	1
#define ET_DYNAMIC	3
#define PAGE		4096ULL	/* of all x86 */
#define HEADER		64	/* bytes; the longer of ELF32 and ELF64 */

/* Do `len` bytes at `at` lie within the `size` bytes? */
static bool file_has(u64 at, u64 len, size_t size)
{
	return at <= size && len <= size - at;
}

static u64 note_align(u64 n)
{
	return (n + 3) & ~3ULL;
}

static unsigned int in_notes(const u8 *head, u64 at, u64 end, u8 *id,
			     unsigned int max)
{
	while (at < end && file_has(at, 12, end)) {
		u32 note[3];		/* sizes of name and contents, type */
		u64 name = at + 12, desc;

		memcpy(note, head + at, sizeof(note));
		desc = name + note_align(note[0]);
		if (!file_has(name, note_align(note[0]), end) ||
		    !file_has(desc, note[1], end))
			return 0;
		if (note[2] == GNU_BUILD_ID && note[0] == 4 &&
		    !memcmp(head + name, "GNU", 4)) {
			if (!note[1] || note[1] > max)
				return 0;
			memcpy(id, head + desc, note[1]);
			return note[1];
		}
		at = desc + note_align(note[1]);
	}
	return 0;
}

/* Offsets of fields in ELF32 and in ELF64; bytes. */
struct layout {
	u8 word;			/* size of addresses, offsets and sizes: 4 or 8 */
	u8 entry, phoff, phentsize, phnum;	/* fields of the file's header */
	u8 flags, offset, vaddr, filesz;	/* fields of a program header */
	u8 size;			/* of a program header */
};

static const struct layout layout64 = {
	.word = 8, .entry = 24, .phoff = 32, .phentsize = 54, .phnum = 56,
	.flags = 4, .offset = 8, .vaddr = 16, .filesz = 32, .size = 56,
};

static const struct layout layout32 = {
	.word = 4, .entry = 24, .phoff = 28, .phentsize = 42, .phnum = 44,
	.flags = 24, .offset = 4, .vaddr = 8, .filesz = 16, .size = 32,
};

/* NULL: no ELF file. */
static const struct layout *layout_of(const u8 *head, size_t size)
{
	if (size < HEADER || memcmp(head, "\177ELF", 4))
		return NULL;
	if (head[4] == 2)
		return &layout64;
	return head[4] == 1 ? &layout32 : NULL;
}

static u64 elf_number(const u8 *at, unsigned int size)
{
	u64 n = 0;

	memcpy(&n, at, size);	/* x86 is little-endian */
	return n;
}

static unsigned int in_segment(const u8 *head, size_t size, u64 at,
			       const struct layout *l, u8 *id, unsigned int max)
{
	u64 offset, len;

	if (elf_number(head + at, 4) != PT_NOTE_TYPE)
		return 0;
	offset = elf_number(head + at + l->offset, l->word);
	len = elf_number(head + at + l->filesz, l->word);
	if (!file_has(offset, len, size))
		return 0;
	return in_notes(head, offset, offset + len, id, max);
}

/* The place of a program header; 0: there is no such one in these bytes. */
static u64 segment_at(const u8 *head, size_t size, const struct layout *l, unsigned int n)
{
	u64 at = elf_number(head + l->phoff, l->word);

	if (elf_number(head + l->phentsize, 2) != l->size ||
	    n >= elf_number(head + l->phnum, 2) || at > size)
		return 0;
	at += (u64)n * l->size;
	return file_has(at, l->size, size) ? at : 0;
}

unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max)
{
	const struct layout *l = layout_of(head, size);
	unsigned int i, n;
	u64 at;

	for (i = 0; l && (at = segment_at(head, size, l, i)); i++) {
		n = in_segment(head, size, at, l, id, max);
		if (n)
			return n;
	}
	return 0;
}

static bool loads_at(const u8 *segment, const struct layout *l, u64 offset)
{
	u64 begin = elf_number(segment + l->offset, l->word);
	u64 len = elf_number(segment + l->filesz, l->word);

	return elf_number(segment, 4) == PT_LOAD_TYPE &&
	       offset >= (begin & ~(PAGE - 1)) &&
	       (offset < begin || offset - begin < len);
}

static bool executes_at(const u8 *segment, const struct layout *l, u64 offset)
{
	return elf_number(segment + l->flags, 4) & PF_EXECUTE && loads_at(segment, l, offset);
}

bool hwpmc_elf_slide(const void *head, size_t size, u64 offset, s32 *slide)
{
	const struct layout *l = layout_of(head, size);
	unsigned int i;
	s64 bytes;
	u64 at;

	for (i = 0; l && (at = segment_at(head, size, l, i)); i++) {
		const u8 *segment = (const u8 *)head + at;

		if (!executes_at(segment, l, offset))
			continue;
		bytes = elf_number(segment + l->vaddr, l->word) -
			elf_number(segment + l->offset, l->word);
		*slide = bytes / (s64)PAGE;
		return !(bytes & (PAGE - 1)) && *slide == bytes / (s64)PAGE;
	}
	return false;
}

/* Addresses of the segment exceed its offsets by so much. */
static u64 slide_of(const u8 *segment, const struct layout *l)
{
	return elf_number(segment + l->vaddr, l->word) -
	       elf_number(segment + l->offset, l->word);
}

bool hwpmc_elf_code_at(const void *head, size_t size, unsigned int n, u64 from, u64 distance,
		       u64 *offset)
{
	const struct layout *l = layout_of(head, size);
	const u8 *segment;
	u64 at, address;
	unsigned int i;

	at = l ? segment_at(head, size, l, n) : 0;
	segment = (const u8 *)head + at;
	if (!at || !loads_at(segment, l, from))
		return false;
	address = from + slide_of(segment, l) + distance;
	for (i = 0; (at = segment_at(head, size, l, i)); i++) {
		segment = (const u8 *)head + at;
		*offset = address - slide_of(segment, l);
		if (executes_at(segment, l, *offset) && !(*offset & (PAGE - 1)))
			return true;
	}
	return false;
}

bool hwpmc_elf_entry(const void *head, size_t size, struct hwpmc_elf_entry *e)
{
	const struct layout *l = layout_of(head, size);

	if (!l)
		return false;
	e->address = elf_number((const u8 *)head + l->entry, l->word);
	e->moves = elf_number((const u8 *)head + 16, 2) == ET_DYNAMIC;
	e->word = l->word;
	return true;
}
