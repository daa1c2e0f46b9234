/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * lock.h - the two locks of the module.
 *
 * hwpmc_lock protects what operations change: owners' lists, PMC states, users of rows
 * and classes, registration of hooks. Process context. Nested inside it:
 * cpus_read_lock(), tracepoint registration, hwpmc_targets_lock.
 *
 * hwpmc_targets_lock protects targets, links, threads and their hashes
 * (task/target.h). A leaf lock that is taken with a run queue's lock held: under it
 * nothing may be allocated, freed, printed or woken.
 */
#ifndef HWPMC_LOCK_H
#define HWPMC_LOCK_H

#include <linux/mutex.h>
#include <linux/spinlock.h>

extern struct mutex hwpmc_lock;
extern raw_spinlock_t hwpmc_targets_lock;

#endif /* HWPMC_LOCK_H */
