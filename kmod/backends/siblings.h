/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * siblings.h - what can be counted only while no core has two threads online: counters or
 * registers that the threads share. A user keeps siblings from coming online.
 */
#ifndef HWPMC_SIBLINGS_H
#define HWPMC_SIBLINGS_H

#include "../base/refusal.h"

bool hwpmc_has_sibling_online(unsigned int cpu);
/* A CPU with a sibling online, or -1. */
int hwpmc_sibling_find(void);
/* Adds a user: returns 0, or -EINVAL with this reason where there is one. Process context,
 * hwpmc_lock. */
int hwpmc_siblings_get(u32 reason, struct hwpmc_hdr *hdr);
void hwpmc_siblings_put(void);
/* This CPU comes online: 0, or -EBUSY, because a sibling is and there is a user. */
int hwpmc_siblings_online_irqoff(void);

#endif /* HWPMC_SIBLINGS_H */
