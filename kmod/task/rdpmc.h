/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rdpmc.h - programs that read their counters by RDPMC: the permission (CR4.PCE, by address
 * space). rdpmc_switch.h hides other programs' counts from them, userpage.h has the page of a
 * thread with the meaning of a counter's value. doc/decisions/rdpmc.md.
 */
#ifndef HWPMC_RDPMC_H
#define HWPMC_RDPMC_H

#include "target.h"

/*
 * PMCGETMSR: permit RDPMC to the caller's address space until the PMC is detached or
 * released, and return the index. Process context, hwpmc_lock. Between the two the caller
 * waits without the lock until CPUs have followed (hwpmc_leave_wait()).
 */
int hwpmc_rdpmc_grant(struct hwpmc_pmc *pmc, u32 *index, struct hwpmc_hdr *hdr);
int hwpmc_rdpmc_granted(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
/* End that, if it was permitted. No slice of the PMC is in flight. hwpmc_lock. */
void hwpmc_rdpmc_revoke(struct hwpmc_pmc *pmc);
/* The hardware was claimed. Permissions still set now are perf's (fork copies them);
 * revoke all. perf_has_counted: it may have, since the last claim. hwpmc_lock, nothing counts
 * yet. */
void hwpmc_rdpmc_take_all(bool perf_has_counted);

/* A child has a copy of its parent's address space: remove the copied permission. */
void hwpmc_rdpmc_fork(struct task_struct *child);

#endif /* HWPMC_RDPMC_H */
