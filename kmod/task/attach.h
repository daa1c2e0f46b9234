/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * attach.h - which processes a PMC measures. Process context, hwpmc_lock held.
 */
#ifndef HWPMC_ATTACH_H
#define HWPMC_ATTACH_H

#include "../core/pmc.h"

struct task_struct;

/* PMCATTACH and PMCDETACH; pid as the caller sees it, 0: the caller. */
int hwpmc_attach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr);
int hwpmc_detach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr);
/* The same of a task, for owners in the kernel: nobody is asked. */
int hwpmc_attach_task(struct hwpmc_pmc *pmc, struct task_struct *task,
		      struct hwpmc_hdr *hdr);
/* PMCSTART of a PMC that was never attached. */
int hwpmc_attach_owner(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
/* On return no CPU counts for the PMC, and it has no targets. */
void hwpmc_detach_all(struct hwpmc_pmc *pmc);

/* RUNNING: all targets count. STOPPED: none does, and the total is complete. */
void hwpmc_targets_activate(struct hwpmc_pmc *pmc);
void hwpmc_targets_deactivate(struct hwpmc_pmc *pmc);
/* One that is counts_off_cpu has what happened to threads at rest. RCU or hwpmc_lock. */
void hwpmc_targets_take_migrations(struct hwpmc_pmc *pmc);

/* Is this PMC attached to the task's process? Any lock, or none. */
bool hwpmc_attached_to(const struct hwpmc_pmc *pmc,
		       const struct task_struct *task);

#endif /* HWPMC_ATTACH_H */
