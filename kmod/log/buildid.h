/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* buildid.h - the build-id in the notes of an ELF file. Pure. */
#ifndef HWPMC_BUILDID_H
#define HWPMC_BUILDID_H

#include "../compat/types.h"

/*
 * In the first `size` bytes of a file: copies at most `max` bytes to id and returns
 * how many, 0 where there is none. The bytes may be anything.
 */
unsigned int hwpmc_build_id(const void *head, size_t size, u8 *id,
			    unsigned int max);

#endif /* HWPMC_BUILDID_H */
