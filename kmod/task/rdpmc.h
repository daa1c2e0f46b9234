/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rdpmc.h - programs that read their counters by RDPMC: which may (CR4.PCE, by address
 * space), how other programs' counts are kept from them, and the page of a thread that
 * says what a counter's value means. doc/decisions/rdpmc.md.
 */
#ifndef HWPMC_RDPMC_H
#define HWPMC_RDPMC_H

#include "target.h"

struct hwpmc_owner;
struct hwpmc_rdpmc;
struct hwpmc_row_cpu;
struct vm_area_struct;

/* ---- rdpmc.c ------------------------------------------------------------- */

/*
 * PMCGETMSR: permit RDPMC to the caller's address space until the PMC is detached or
 * released, and return the index. Process context, hwpmc_lock. Between the two the caller
 * waits without the lock until CPUs have followed (hwpmc_leave_wait()).
 */
int hwpmc_rdpmc_grant(struct hwpmc_pmc *pmc, u32 *index, struct hwpmc_hdr *hdr);
int hwpmc_rdpmc_granted(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
/* End that, if it was permitted. No slice of the PMC is in flight. hwpmc_lock. */
void hwpmc_rdpmc_revoke(struct hwpmc_pmc *pmc);
/* A revoked right that CPUs have followed. hwpmc_lock. */
void hwpmc_rdpmc_free(struct hwpmc_rdpmc *r);

/* The hardware was claimed. Permissions still set now are perf's (fork copies them);
 * revoke all. perf_has_counted: it may have, since the last claim. hwpmc_lock, nothing counts
 * yet. */
void hwpmc_rdpmc_take_all(bool perf_has_counted);

/* PMCs with a permission; while not 0 the sched_switch probe is registered. Written under
 * hwpmc_lock, read anywhere. */
extern unsigned int hwpmc_rdpmc_users;

void hwpmc_rdpmc_init(void);
/* After the probe is unregistered. Sleeps. */
void hwpmc_rdpmc_exit(void);
/* Before next runs: if it may use RDPMC, leave no counts of others in the counters. */
void hwpmc_rdpmc_switch_irqoff(struct task_struct *next);
/* A child has a copy of its parent's address space: remove the copied permission. */
void hwpmc_rdpmc_fork(struct task_struct *child);

/* ---- userpage.c ---------------------------------------------------------- */

/* mmap() of the calling thread's page. Process context. */
int hwpmc_userpage_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma);
void hwpmc_userpage_put(struct hwpmc_userpage *page);

/* A row of the thread was loaded, or is unloaded; rc->start is the counter's value. On
 * the CPU of the thread, interrupts off, as all *_irqoff below. */
void hwpmc_userpage_begin_irqoff(struct hwpmc_thread *thread, unsigned int nr,
				 const struct hwpmc_row_cpu *rc);
void hwpmc_userpage_end_irqoff(struct hwpmc_thread *thread, unsigned int nr,
			       const struct hwpmc_row_cpu *rc);
/* Harvest a slice that is shown in a page, and show it anew; all slices of this CPU. */
void hwpmc_userpage_renew_irqoff(struct hwpmc_cpu *c, unsigned int nr);
void hwpmc_userpage_renew_all_irqoff(struct hwpmc_cpu *c);
void hwpmc_userpage_exit(void);
/* From here on other threads count for the same PMCs as the current thread. */
void hwpmc_userpage_shared_irqoff(void);

#endif /* HWPMC_RDPMC_H */
