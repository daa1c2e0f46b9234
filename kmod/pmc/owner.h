/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* owner.h - owners begin and end. Process context, hwpmc_lock is taken inside. */
#ifndef HWPMC_PMC_OWNER_H
#define HWPMC_PMC_OWNER_H

#include "../core/owner.h"

/* An ERR_PTR: no memory, or (-EMFILE) the unprivileged user has kern.hwpmc.maxowners. */
struct hwpmc_owner *hwpmc_owner_new(bool kernel);
/* The descriptor is closed: everything ends. */
void hwpmc_owner_end(struct hwpmc_owner *owner);
/*
 * Take everything from everybody but the caller: their PMCs and logs end, what they
 * ask for is ENODEV from now on, and those who held something get SIGBUS. Takes
 * hwpmc_lock.
 */
void hwpmc_owners_revoke(void);
#endif /* HWPMC_PMC_OWNER_H */
