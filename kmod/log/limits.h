/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * limits.h - what the drain thread does for a user counts against the limits of the
 * process that made the log: its memory cgroup, its io cgroup, its RLIMIT_FSIZE. As they
 * were then: a log keeps what its maker had, as it keeps the credentials.
 */
#ifndef HWPMC_LIMITS_H
#define HWPMC_LIMITS_H

struct hwpmc_log;

/* Those of current. */
void hwpmc_limits_get(struct hwpmc_log *log);
void hwpmc_limits_put(struct hwpmc_log *log);
/* In the drain thread, which ends after the second. */
void hwpmc_limits_enter(const struct hwpmc_log *log);
void hwpmc_limits_leave(void);

#endif /* HWPMC_LIMITS_H */
