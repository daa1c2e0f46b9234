/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * walk.h - something is done for each link of a PMC, or each thread of a target, of which
 * there can be any number. hwpmc_targets_lock is taken for a few of them at a time, and
 * interrupts come between two steps. Links and threads that leave meanwhile are not
 * visited; those that join are, if they do so before the end.
 *
 * Process context, under RCU; without hwpmc_targets_lock.
 */
#ifndef HWPMC_WALK_H
#define HWPMC_WALK_H

struct hwpmc_link;
struct hwpmc_pmc;
struct hwpmc_target;
struct hwpmc_thread;

/* Visits with one hold of the lock. */
#define HWPMC_WALK_LINKS	16
#define HWPMC_WALK_THREADS	32

/* fn may remove the link. */
void hwpmc_walk_links(struct hwpmc_pmc *pmc,
		      void (*fn_locked)(struct hwpmc_link *link, void *arg), void *arg);
/* fn may let the thread leave the target. */
void hwpmc_walk_threads(struct hwpmc_target *target,
			void (*fn_locked)(struct hwpmc_thread *thread, void *arg),
			void *arg);
/* The threads of the targets that the PMC is attached to. */
void hwpmc_walk_pmc_threads(struct hwpmc_pmc *pmc,
			    void (*fn_locked)(struct hwpmc_thread *thread, void *pmc));

#endif /* HWPMC_WALK_H */
