/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * siblings.h - what can be counted only while no core has two threads online: counters or
 * registers that the threads share. A user keeps siblings from coming online.
 */
#ifndef HWPMC_SIBLINGS_H
#define HWPMC_SIBLINGS_H

#include <linux/types.h>

bool hwpmc_has_sibling_online(unsigned int cpu);
/* A CPU with a sibling online, or -1. */
int hwpmc_sibling_find(void);
/* One user more: 0, or -EINVAL with why and *detail where there is one. Process context. */
int hwpmc_siblings_get(u32 reason, u32 *why, s32 *detail);
void hwpmc_siblings_put(void);
/* This CPU comes online: 0, or -EBUSY, because a sibling is and there is a user. */
int hwpmc_siblings_online_irqoff(void);

#endif /* HWPMC_SIBLINGS_H */
