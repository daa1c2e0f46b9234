/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * own.h - targets of one thread: PMCs with HWPMC_F_THREAD. The thread is one of its process's
 * target, as each thread; its own target has links alone. On a row that a thread has a PMC on,
 * the process has none, and its bit in the process's .active is set without a link: a switch
 * that finds no PMC there looks at the thread's own target. So processes without such PMCs
 * execute nothing of it. doc/decisions/threads.md says why.
 */
#ifndef HWPMC_OWN_H
#define HWPMC_OWN_H

#include <linux/list.h>
#include <linux/types.h>

struct hwpmc_hdr;
struct hwpmc_pmc;
struct hwpmc_target;
struct hwpmc_thread;

/* Rows that a PMC for the process, or for its thread alone, cannot have; thread: NULL, or the
 * thread's descriptor. */
u64 hwpmc_own_taken_rows_locked(const struct hwpmc_target *process,
				const struct hwpmc_thread *thread, bool alone);

/*
 * A link of the thread, which has joined the process's target. *fresh: a new target, NULL
 * afterwards if it was used.
 */
int hwpmc_own_link_locked(struct hwpmc_thread *thread, struct hwpmc_pmc *pmc,
			  struct hwpmc_target **fresh, struct hwpmc_hdr *hdr);
/* A thread's target without links: the thread has none from here on. The caller frees it, by
 * RCU, when no CPU counts for it. */
void hwpmc_own_remove_locked(struct hwpmc_target *own);

/*
 * The process's target may have threads, and nothing that counts, since one with a PMC of its
 * own has exited. An exit cannot let go any number of threads: hwpmc_own_sweep() does, before a
 * PMC's release ends. hwpmc_lock.
 */
void hwpmc_own_note_empty_locked(struct hwpmc_target *process);
void hwpmc_own_sweep(void);

#endif /* HWPMC_OWN_H */
