/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* allocate.h - allocates and releases PMCs. Process context, hwpmc_lock. */
#ifndef HWPMC_ALLOCATE_H
#define HWPMC_ALLOCATE_H

#include "../core/pmc.h"

/* PMCALLOCATE, on one of the rows in this mask (~0: any). name: of the event, for logs. */
int hwpmc_pmc_allocate(struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op, const char *name, u64 rows);
/* The count of PMCSETCOUNT and PMCALLOCATE. The PMC is not running. */
void hwpmc_pmc_set_count(struct hwpmc_pmc *pmc, u64 count);
/* Stop, detach and free a PMC, in any state. */
void hwpmc_pmc_release(struct hwpmc_pmc *pmc);

#endif /* HWPMC_ALLOCATE_H */
