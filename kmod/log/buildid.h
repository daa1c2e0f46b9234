/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* buildid.h - the build-id in the notes of an ELF file. Pure. */
#ifndef HWPMC_BUILDID_H
#define HWPMC_BUILDID_H

#include "../compat/types.h"

/*
 * Copy the build-id in the first `size` bytes of a file to id, at most `max` bytes, and
 * return its length; 0: none. The bytes are untrusted.
 */
unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max);

#endif /* HWPMC_BUILDID_H */
