/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* open.h - PMCOPEN: a PMC that is attached, or none. Process context, hwpmc_lock. */
#ifndef HWPMC_OPEN_H
#define HWPMC_OPEN_H

#include "../core/pmc.h"

int hwpmc_pmc_open(struct hwpmc_owner *owner, struct hwpmc_op_pmcopen *op);

#endif /* HWPMC_OPEN_H */
