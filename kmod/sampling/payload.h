/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * payload.h - the parts of a payload that its owner may have, and the PRECISE record of them.
 * Pure: the same source runs in unit tests. NMI, or interrupts off.
 */
#ifndef HWPMC_PAYLOAD_H
#define HWPMC_PAYLOAD_H

#include "../backends/backend.h"
#include "hwpmc_log.h"	/* uapi */

/* Is it an address of the upper half, which no program has? */
static inline bool hwpmc_payload_is_kernel(u64 address)
{
	return address >> 63;
}

/*
 * Was the sample taken in a mode that the PMC does not sample? The address of the instruction
 * decides, where it is known: the interrupt may come in the other mode. `user`: the mode of the
 * interrupt, which decides for the others. caps: of the PMC, in which neither mode means both.
 */
static inline bool hwpmc_payload_is_filtered(const struct hwpmc_payload *p, u32 caps, bool user)
{
	bool kernel = p->exact ? hwpmc_payload_is_kernel(p->pc) : !user;
	u32 mode = kernel ? HWPMC_CAP_SYSTEM : HWPMC_CAP_USER;

	return p->useless ||
	       (caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM) && !(caps & mode));
}

/* Leave out the words that an owner without privilege may not read. */
static inline void hwpmc_payload_restrict(struct hwpmc_payload *p)
{
	unsigned int i;

	p->present &= ~p->physical;
	for_each_row(i, p->present & p->virtual)
		if (hwpmc_payload_is_kernel(p->word[i]))
			p->present &= ~BIT_ULL(i);
}

/* Is the address of the sample one that the owner may read? */
static inline bool hwpmc_payload_shows_address(const struct hwpmc_payload *p, bool privileged)
{
	return privileged || !hwpmc_payload_is_kernel(p->pc);
}

/*
 * Bytes of the PRECISE record of a sample. 0: none is needed, because there are no words, and
 * the sample is as exact as its PMC says, or its address is hidden. flags: of the PMC.
 */
static inline size_t hwpmc_payload_bytes(const struct hwpmc_payload *p, u32 flags,
					 bool privileged)
{
	bool as_said = p->exact == !!(flags & HWPMC_F_EXACT) ||
		       (p->exact && !hwpmc_payload_shows_address(p, privileged));
	unsigned int n = 0;
	u64 bits;

	for (bits = p->present; bits; bits &= bits - 1)
		n++;
	return !n && as_said ? 0 : sizeof(struct hwpmc_log_precise) + n * sizeof(u64);
}

/* Write a record of `len` bytes, which hwpmc_payload_bytes() has returned. */
static inline void hwpmc_payload_put(struct hwpmc_log_precise *r, const struct hwpmc_payload *p,
				     u32 id, size_t len, bool privileged, u64 now)
{
	bool exact = p->exact && hwpmc_payload_shows_address(p, privileged);
	u64 *at = (u64 *)r->word;
	unsigned int i;

	r->hdr.len = len;
	r->hdr.type = HWPMC_LOG_PRECISE;
	r->hdr.flags = p->kind;
	r->hdr.id = id;
	r->hdr.time = now;
	r->present = p->present | (exact ? HWPMC_PRECISE_EXACT : 0);
	for_each_row(i, p->present)
		*at++ = p->word[i];
}

#endif /* HWPMC_PAYLOAD_H */
