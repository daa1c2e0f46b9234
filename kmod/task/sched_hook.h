/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * sched_hook.h - the sched_switch probe, which taxes every switch of the machine: registered
 * while threads are pending or programs may use RDPMC. Process context, hwpmc_lock.
 */
#ifndef HWPMC_SCHED_HOOK_H
#define HWPMC_SCHED_HOOK_H

/* Register the probe, until no thread is pending any more. An errno: not registered. */
int hwpmc_watch_switches(void);
/* The same, while hwpmc_rdpmc_users is not 0; and end that, a moment later. */
int hwpmc_watch_rdpmc(void);
void hwpmc_unwatch_rdpmc(void);
/* Stops all CPUs for hwpmc_threads_settle_locked(): for one batch. */
void hwpmc_watch_settle(void);
/* Unregister the probe, unless hwpmc_rdpmc_users is not 0. */
void hwpmc_watch_end(void);

int hwpmc_watch_init(void);
/* Without hwpmc_lock: waits for a work item that takes it. */
void hwpmc_watch_exit(void);

#endif /* HWPMC_SCHED_HOOK_H */
