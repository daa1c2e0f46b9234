/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * count.h - process-scope PMCs start and stop to count for their targets. Process
 * context, hwpmc_lock; interrupts on.
 */
#ifndef HWPMC_COUNT_H
#define HWPMC_COUNT_H

#include "../core/pmc.h"

/* RUNNING: all targets count, except dormant ones. */
void hwpmc_targets_activate(struct hwpmc_pmc *pmc);
/* STOPPED: on return no target counts, and the total is complete. */
void hwpmc_targets_deactivate(struct hwpmc_pmc *pmc);
/*
 * A PMC with counts_off_cpu: add to its total what happened to threads since they were
 * switched out. Under RCU or hwpmc_lock.
 */
void hwpmc_targets_take_migrations(struct hwpmc_pmc *pmc);

/*
 * Is current the only thread whose slice can have the PMC in flight? Then a change of
 * the PMC or of its targets needs no IPI.
 */
bool hwpmc_counts_only_current(const struct hwpmc_pmc *pmc);
/*
 * The CPUs follow a change of targets or PMCs; here_only: only this one has to. On
 * return no CPU counts for what the change took away.
 */
void hwpmc_count_sync(bool here_only);

#endif /* HWPMC_COUNT_H */
