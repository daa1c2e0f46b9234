/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * start_stop.h - process-scope PMCs start and stop to count for their targets. Process
 * context, hwpmc_lock; interrupts on.
 */
#ifndef HWPMC_START_STOP_H
#define HWPMC_START_STOP_H

#include "../core/pmc.h"

/* RUNNING: all targets count, except dormant and disabled ones. */
void hwpmc_targets_activate(struct hwpmc_pmc *pmc);
/* STOPPED: on return no target counts, and the total is complete. */
void hwpmc_targets_deactivate(struct hwpmc_pmc *pmc);
/* The same for n PMCs of an owner: each thread counts with all of them from, or up to, one
 * moment. n may be 0. */
void hwpmc_targets_activate_all(struct hwpmc_pmc *const *pmcs, unsigned int n);
void hwpmc_targets_deactivate_all(struct hwpmc_pmc *const *pmcs, unsigned int n);
/* A PMC that samples has a new period, and is stopped: its threads begin one anew. */
void hwpmc_targets_forget_period(struct hwpmc_pmc *pmc);
/*
 * Owners in the kernel: the PMC counts for this process alone, or does not. On return of
 * disable no CPU counts for the process, and its values are complete.
 */
void hwpmc_link_enable(struct hwpmc_pmc *pmc, const struct task_struct *task);
void hwpmc_link_disable(struct hwpmc_pmc *pmc, const struct task_struct *task);
/* The value of the process before its first event. */
void hwpmc_link_set_initial(struct hwpmc_pmc *pmc, const struct task_struct *task,
			    u64 value);
/* Does the PMC count for the process? hwpmc_lock keeps it so, except for an exit. */
bool hwpmc_link_is_active(const struct hwpmc_pmc *pmc, const struct task_struct *task);

/*
 * Is current the only thread whose slice can have the PMC in flight? Then a change of
 * the PMC or of its targets needs no IPI.
 */
bool hwpmc_counts_only_current(const struct hwpmc_pmc *pmc);
/*
 * The CPUs follow a change of targets or PMCs: those of loaded_cpus.h, or, here_only, this
 * one alone. On return no CPU counts for what the change took away.
 */
void hwpmc_count_sync(bool here_only);

#endif /* HWPMC_START_STOP_H */
