/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * p4_encode.h - Netburst's events and the encoder of their selects. Pure.
 *
 * A select's sel is the CCCR in the low half and the ESCR in the high half, both as for
 * thread 0; its extra says which pair of ESCRs.
 */
#ifndef HWPMC_P4_ENCODE_H
#define HWPMC_P4_ENCODE_H

#include "backend.h"


/* Units with a pair of ESCRs that events use. */
#define HWPMC_P4_UNITS		15

/* encode() of the class, but for what depends on the threads of a core; cls->priv points
 * to the CPU's model, a u32. */
int hwpmc_p4_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
		    struct hwpmc_encoding *enc);

/* MSR of the ESCR number `thread`, 0 or 1, of a unit. */
u32 hwpmc_p4_escr(unsigned int unit, unsigned int thread);

/* What thread 1 of a core must write for the select that counts on thread 0. */
u32 hwpmc_p4_escr_of_thread(u32 escr, unsigned int thread);
u32 hwpmc_p4_cccr_of_thread(u32 cccr, unsigned int thread);

/* The thread whose half of the registers a row belongs to. */
unsigned int hwpmc_p4_half(unsigned int ri);

#endif /* HWPMC_P4_ENCODE_H */
