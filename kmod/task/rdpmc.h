/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rdpmc.h - programs that read their counters themselves: who may (CR4.PCE, by
 * address space), that they see nothing of others, and the page of a thread that
 * says what a counter's value means. doc/decisions/rdpmc.md.
 */
#ifndef HWPMC_RDPMC_H
#define HWPMC_RDPMC_H

#include "target.h"

struct hwpmc_owner;
struct hwpmc_row_cpu;
struct vm_area_struct;

/* ---- rdpmc.c ------------------------------------------------------------- */

/* PMCGETMSR: may the caller, and with what index? From then on it may, until the
 * PMC is detached or released. Process context, hwpmc_lock. */
int hwpmc_rdpmc_grant(struct hwpmc_pmc *pmc, u32 *index, struct hwpmc_hdr *hdr);
void hwpmc_rdpmc_revoke(struct hwpmc_pmc *pmc);

/* The hardware was claimed: whoever may now, may because perf let it, or its parent,
 * whose right fork copies. Nobody shall. hwpmc_lock, nothing counts yet. */
void hwpmc_rdpmc_take_all(void);

/* Somebody may: every switch is looked at. Read anywhere. */
extern unsigned int hwpmc_rdpmc_users;

void hwpmc_rdpmc_init(void);
/* No more switches are looked at. */
void hwpmc_rdpmc_exit(void);
/* Before next runs: leave nothing in the counters that is not its own. */
void hwpmc_rdpmc_switch_irqoff(struct task_struct *next);
/* A child has a copy of its parent's address space, and of its rights. */
void hwpmc_rdpmc_fork(struct task_struct *child);

/* ---- userpage.c ---------------------------------------------------------- */

/* mmap() of the caller's page. */
int hwpmc_userpage_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma);
void hwpmc_userpage_put(struct hwpmc_userpage *page);

/* A row of the thread was loaded, or is unloaded. rc->start is its counter. */
void hwpmc_userpage_begin_irqoff(struct hwpmc_thread *thread, unsigned int nr,
				 const struct hwpmc_row_cpu *rc);
void hwpmc_userpage_end_irqoff(struct hwpmc_thread *thread, unsigned int nr,
			       const struct hwpmc_row_cpu *rc);
/* The slice is harvested and goes on, if it is told; and all slices of this CPU. */
void hwpmc_userpage_renew_irqoff(struct hwpmc_cpu *c, unsigned int nr);
void hwpmc_userpage_renew_all_irqoff(struct hwpmc_cpu *c);
void hwpmc_userpage_exit(void);
/* From now on others count for the same PMCs as the current thread. */
void hwpmc_userpage_shared_irqoff(void);

#endif /* HWPMC_RDPMC_H */
