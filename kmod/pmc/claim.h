/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* claim.h - the hardware of a class, for as long as PMCs need it. */
#ifndef HWPMC_CLAIM_H
#define HWPMC_CLAIM_H

#include <linux/types.h>

struct hwpmc_class;

/*
 * Claim the hardware of a class for one more PMC, or for one less: the first takes it
 * from perf, the last gives it back. Process context, hwpmc_lock.
 */
int hwpmc_class_get(struct hwpmc_class *cls, u32 *why, s32 *detail);
void hwpmc_class_put(struct hwpmc_class *cls);

#endif /* HWPMC_CLAIM_H */
