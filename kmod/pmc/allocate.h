/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* allocate.h - PMCs come and go. Process context, hwpmc_lock. */
#ifndef HWPMC_ALLOCATE_H
#define HWPMC_ALLOCATE_H

#include "../core/pmc.h"

/* On one of these rows: ~0 for all. */
int hwpmc_pmc_allocate(struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op, u64 rows);
/* PMCSETCOUNT, and the count of PMCALLOCATE. Not while it runs. */
void hwpmc_pmc_set_count(struct hwpmc_pmc *pmc, u64 count);
/* Ends a PMC in whatever state it is. */
void hwpmc_pmc_release(struct hwpmc_pmc *pmc);

#endif /* HWPMC_ALLOCATE_H */
