/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* buildid.h - what the first page of an ELF file says. Pure. The bytes are untrusted. */
#ifndef HWPMC_BUILDID_H
#define HWPMC_BUILDID_H

#include "../compat/types.h"

/*
 * Copy the build-id in the first `size` bytes of a file to id, at most `max` bytes, and
 * return its length; 0: none.
 */
unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max);

/* By how many pages addresses of the executable segment at `offset` of the file exceed its
 * offsets. False: unknown. */
bool hwpmc_elf_slide(const void *head, size_t size, u64 offset, s32 *slide);

/*
 * The offset of the page of code that is loaded `distance` bytes above offset `from`, if `from`
 * is in the nth program header's segment. The distance may be negative, as a u64. False: no
 * code is loaded there. n counts from 0 to HWPMC_ELF_SEGMENTS - 1; pages at the border of two
 * segments are in both.
 */
#define HWPMC_ELF_SEGMENTS	16
bool hwpmc_elf_code_at(const void *head, size_t size, unsigned int n, u64 from, u64 distance,
		       u64 *offset);

struct hwpmc_elf_entry {
	u64 address;			/* where the program begins, by its file */
	bool moves;			/* it can be loaded at any address */
	u8 word;			/* bytes of an address: 4 or 8 */
};

bool hwpmc_elf_entry(const void *head, size_t size, struct hwpmc_elf_entry *e);

#endif /* HWPMC_BUILDID_H */
