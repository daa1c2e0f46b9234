/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* pace.h - how often a user without rights may claim hardware. */
#ifndef HWPMC_PACE_H
#define HWPMC_PACE_H

#include <linux/types.h>

struct hwpmc_owner;

/* The process of the owner has caused a claim. hwpmc_lock. */
void hwpmc_pace_count(const struct hwpmc_owner *owner);
/* Returns how long its user has to wait before the next allocation, in ms. hwpmc_lock. */
unsigned int hwpmc_pace_ahead(const struct hwpmc_owner *owner);
/* Waits that time. Process context, no lock. Returns -EINTR if the process is being killed. */
int hwpmc_pace_wait(unsigned int ms);

#endif /* HWPMC_PACE_H */
