// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * buildid.c - finds NT_GNU_BUILD_ID in the notes of an ELF file, which linkers put
 * into its first page. Pure. The file is untrusted: each offset and size is checked.
 */
#include "buildid.h"

#define GNU_BUILD_ID	3
#define PT_NOTE_TYPE	4
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
	u8 word;			/* size of offsets and sizes: 4 or 8 */
	u8 phoff, phentsize, phnum;	/* fields of the file's header */
	u8 offset, filesz;		/* fields of a program header */
	u8 size;			/* of a program header */
};

static const struct layout layout64 = { 8, 32, 54, 56, 8, 32, 56 };
static const struct layout layout32 = { 4, 28, 42, 44, 4, 16, 32 };

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

static unsigned int in_elf(const u8 *head, size_t size, const struct layout *l,
			   u8 *id, unsigned int max)
{
	u64 at = elf_number(head + l->phoff, l->word);
	unsigned int n, left = elf_number(head + l->phnum, 2);

	if (elf_number(head + l->phentsize, 2) != l->size)
		return 0;
	for (; left && file_has(at, l->size, size); left--, at += l->size) {
		n = in_segment(head, size, at, l, id, max);
		if (n)
			return n;
	}
	return 0;
}

unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max)
{
	const u8 *bytes = head;

	if (size < HEADER || memcmp(bytes, "\177ELF", 4))
		return 0;
	if (bytes[4] == 2)
		return in_elf(bytes, size, &layout64, id, max);
	if (bytes[4] == 1)
		return in_elf(bytes, size, &layout32, id, max);
	return 0;
}
