/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * watch.h - every switch of the machine is looked at, only while that is needed.
 * Process context, hwpmc_lock.
 */
#ifndef HWPMC_WATCH_H
#define HWPMC_WATCH_H

/* From here on every switch-in looks for pending threads, until none is left. */
int hwpmc_watch_switches(void);
/* The same while hwpmc_rdpmc_users is not 0. */
int hwpmc_watch_rdpmc(void);
void hwpmc_unwatch_rdpmc(void);
/* Stop looking, unless hwpmc_rdpmc_users is not 0. */
void hwpmc_watch_end(void);

int hwpmc_watch_init(void);
/* Without hwpmc_lock: waits for work that takes it. */
void hwpmc_watch_exit(void);

#endif /* HWPMC_WATCH_H */
