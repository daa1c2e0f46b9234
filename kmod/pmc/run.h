/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* run.h - starts, stops and reads PMCs. */
#ifndef HWPMC_RUN_H
#define HWPMC_RUN_H

#include "../core/pmc.h"

/* Process context, hwpmc_lock. */
/* The checks of a start, and its attach to the owner's process; start does it as well. */
int hwpmc_pmc_prepare(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
int hwpmc_pmc_start(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
int hwpmc_pmc_stop(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
/* After a stop: did an access to an MSR fault that no read will report? */
int hwpmc_pmc_check_samples(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);

/*
 * The exact count: includes all that was counted before the call, on every CPU. Under
 * rcu_read_lock or hwpmc_lock, interrupts on. System scope: -ENXIO, the CPU is
 * offline; -EIO, a register has faulted.
 */
int hwpmc_pmc_read(struct hwpmc_pmc *pmc, u64 *value);

#endif /* HWPMC_RUN_H */
