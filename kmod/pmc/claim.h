/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* claim.h - claims the hardware of a class while PMCs need it. */
#ifndef HWPMC_CLAIM_H
#define HWPMC_CLAIM_H

#include <linux/types.h>

struct hwpmc_class;

/*
 * One more PMC needs the class, or one less. The first claims the hardware from perf, the
 * last gives it back. get: 0, or an errno with its reason in hdr. Process
 * context, hwpmc_lock.
 */
int hwpmc_class_get(struct hwpmc_class *cls, struct hwpmc_hdr *hdr);
void hwpmc_class_put(struct hwpmc_class *cls);

/*
 * Tries the next free row again, in turn, that stood still when its class was claimed. Returns
 * true if it came back; *tried: there was one. hwpmc_lock.
 */
bool hwpmc_class_try_again(bool *tried);

/* How often hardware was claimed. hwpmc_lock. */
extern u64 hwpmc_claims;

#endif /* HWPMC_CLAIM_H */
