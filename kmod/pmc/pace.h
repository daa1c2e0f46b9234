/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* pace.h - how often a user without rights may claim hardware. */
#ifndef HWPMC_PACE_H
#define HWPMC_PACE_H

#include <linux/types.h>

struct hwpmc_owner;

/* The process of the owner has caused a number of claims. hwpmc_lock. */
void hwpmc_pace_count(const struct hwpmc_owner *owner, u64 claims);
/* Before an allocation: waits as long as the user is ahead. Process context, no lock. -EINTR:
 * the process is being killed. */
int hwpmc_pace_wait(const struct hwpmc_owner *owner);

#endif /* HWPMC_PACE_H */
