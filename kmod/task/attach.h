/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * attach.h - which processes a PMC measures (attach.c, detach.c). Process context,
 * hwpmc_lock held.
 */
#ifndef HWPMC_ATTACH_H
#define HWPMC_ATTACH_H

#include "../core/pmc.h"

struct hwpmc_owner;
struct task_struct;

/* PMCATTACH and PMCDETACH; pid in the caller's namespace, 0: the caller. */
int hwpmc_attach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr);
int hwpmc_detach(struct hwpmc_pmc *pmc, pid_t pid, struct hwpmc_hdr *hdr);
/* Rows that have a PMC in the process, a bit each; 0 if there is no such process, or the owner
 * may not attach to it. */
u64 hwpmc_attach_taken_rows(struct hwpmc_owner *owner, pid_t pid);
/* The same for a PMC of a thread alone. */
u64 hwpmc_attach_taken_rows_of_thread(struct hwpmc_owner *owner, pid_t tid);
/*
 * Attach to a thread's process, for owners in the kernel: no permission is checked, and
 * of its descendants only those that it forks from here on are counted. The process
 * counts when hwpmc_link_enable() has enabled it. Detach it alone.
 */
int hwpmc_attach_task(struct hwpmc_pmc *pmc, struct task_struct *task,
		      struct hwpmc_hdr *hdr);
void hwpmc_detach_task(struct hwpmc_pmc *pmc, struct task_struct *task);
/* PMCSTART of a PMC that was never attached. */
int hwpmc_attach_owner(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
/* On return no CPU counts for the PMC, and it has no targets. */
void hwpmc_detach_all(struct hwpmc_pmc *pmc);
/* The same for the targets of the last attach alone, which failed. */
void hwpmc_detach_last_attach(struct hwpmc_pmc *pmc);
/* For a PMC with HWPMC_F_THREAD. log: the attach is in the log, so its end will be. Returns false
 * if it is not attached to the thread. */
bool hwpmc_detach_thread(struct hwpmc_pmc *pmc, struct task_struct *task, bool log);

#endif /* HWPMC_ATTACH_H */
