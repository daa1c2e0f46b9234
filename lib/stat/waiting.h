/* SPDX-License-Identifier: BSD-2-Clause */
/* waiting.h - records that wait until all that may be older have been read. */
#ifndef HWPMC_LIB_WAITING_H
#define HWPMC_LIB_WAITING_H

#include <libhwpmclog.h>

struct waiting_piece;

struct waiting {
	struct hwpmc_record *record;	/* their bytes are in the pieces */
	uint32_t n;
	struct waiting_piece *piece;	/* the latest */
};

/* A copy of its bytes. */
void waiting_keep(struct waiting *w, const struct hwpmc_record *r);
/* By time; those of one time as they came. */
void waiting_sort(struct waiting *w);
void waiting_free(struct waiting *w);

#endif /* HWPMC_LIB_WAITING_H */
