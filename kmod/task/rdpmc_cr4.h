/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rdpmc_cr4.h - makes CPUs load CR4.PCE again for an address space whose right to use RDPMC has
 * changed. Nothing waits here for a CPU but the program concerned, without a lock.
 */
#ifndef HWPMC_RDPMC_CR4_H
#define HWPMC_RDPMC_CR4_H

#include <linux/list.h>

struct mm_struct;

/* The right of an address space to use RDPMC for one PMC. Made by PMCGETMSR; freed when it
 * is revoked and every CPU has followed. */
struct hwpmc_rdpmc {
	struct mm_struct *mm;		/* a reference; constant */
	struct list_head node;		/* in rdpmc_cr4.c's list while a CPU may not have
					 * followed the last change */
	u64 asked;			/* number of that change */
	bool followed;			/* every CPU has followed it */
	bool revoked;
};

/*
 * mm->context.perf_rdpmc_allowed has changed: every CPU that has the mm loaded is to
 * leave it once. hwpmc_lock.
 */
void hwpmc_leave_begin(struct hwpmc_rdpmc *r);
/*
 * The same for a right that has no reference any more. True: it is freed later, after
 * the CPUs have left (needed). False: the caller frees it. hwpmc_lock.
 */
bool hwpmc_leave_last(struct hwpmc_rdpmc *r, bool needed);
/*
 * Wait until all CPUs have followed all changes to the caller's address space; without a
 * lock. Ends when the process is killed. It lasts as long as a real-time thread of the
 * same process occupies a CPU.
 */
void hwpmc_leave_wait(void);
/* All CPUs at once, by stop_machine(): for changes to many address spaces. Sleeps. */
void hwpmc_leave_all(void);
/* Free a revoked right that CPUs have followed. hwpmc_lock. */
void hwpmc_rdpmc_free(struct hwpmc_rdpmc *r);
int hwpmc_leave_init(void);
/* At unload, before the probes go. */
void hwpmc_leave_exit(void);

#endif /* HWPMC_RDPMC_CR4_H */
