// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * buildid.c - looks for NT_GNU_BUILD_ID in the notes that lie in the first page of
 * an ELF file, where linkers put them. Pure; every number in the file is doubted.
 */
#include "buildid.h"

#ifdef __KERNEL__
#include <linux/elf.h>
#else
#include <elf.h>
#endif

#define GNU_BUILD_ID	3
#define PT_NOTE_TYPE	4

/* Do `len` bytes at `at` lie within the `size` bytes? */
static bool within(u64 at, u64 len, size_t size)
{
	return at <= size && len <= size - at;
}

static u64 align4(u64 n)
{
	return (n + 3) & ~3ULL;
}

static unsigned int in_notes(const u8 *head, u64 at, u64 end, u8 *id,
			     unsigned int max)
{
	while (at < end && within(at, 12, end)) {
		u32 note[3];		/* sizes of name and contents, type */
		u64 name = at + 12, desc;

		memcpy(note, head + at, sizeof(note));
		desc = name + align4(note[0]);
		if (!within(name, align4(note[0]), end) ||
		    !within(desc, note[1], end))
			return 0;
		if (note[2] == GNU_BUILD_ID && note[0] == 4 &&
		    !memcmp(head + name, "GNU", 4)) {
			if (!note[1] || note[1] > max)
				return 0;
			memcpy(id, head + desc, note[1]);
			return note[1];
		}
		at = desc + align4(note[1]);
	}
	return 0;
}

static unsigned int in_segment(const u8 *head, size_t size, u32 type, u64 offset,
			       u64 len, u8 *id, unsigned int max)
{
	if (type != PT_NOTE_TYPE || !within(offset, len, size))
		return 0;
	return in_notes(head, offset, offset + len, id, max);
}

static unsigned int in_elf64(const u8 *head, size_t size, u8 *id,
			     unsigned int max)
{
	unsigned int i, n;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (size < sizeof(eh))
		return 0;
	memcpy(&eh, head, sizeof(eh));
	if (eh.e_phentsize != sizeof(ph))
		return 0;
	for (i = 0; i < eh.e_phnum; i++) {
		if (!within(eh.e_phoff, (i + 1) * sizeof(ph), size))
			return 0;
		memcpy(&ph, head + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		n = in_segment(head, size, ph.p_type, ph.p_offset, ph.p_filesz,
			       id, max);
		if (n)
			return n;
	}
	return 0;
}

static unsigned int in_elf32(const u8 *head, size_t size, u8 *id,
			     unsigned int max)
{
	unsigned int i, n;
	Elf32_Ehdr eh;
	Elf32_Phdr ph;

	if (size < sizeof(eh))
		return 0;
	memcpy(&eh, head, sizeof(eh));
	if (eh.e_phentsize != sizeof(ph))
		return 0;
	for (i = 0; i < eh.e_phnum; i++) {
		if (!within(eh.e_phoff, (i + 1) * sizeof(ph), size))
			return 0;
		memcpy(&ph, head + eh.e_phoff + i * sizeof(ph), sizeof(ph));
		n = in_segment(head, size, ph.p_type, ph.p_offset, ph.p_filesz,
			       id, max);
		if (n)
			return n;
	}
	return 0;
}

unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max)
{
	const u8 *bytes = head;

	if (size < 16 || memcmp(bytes, "\177ELF", 4))
		return 0;
	if (bytes[4] == ELFCLASS64)
		return in_elf64(bytes, size, id, max);
	if (bytes[4] == ELFCLASS32)
		return in_elf32(bytes, size, id, max);
	return 0;
}
