/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * snapshot.h - the objects that exist already when a PMC starts, in its owner's log.
 */
#ifndef HWPMC_SNAPSHOT_H
#define HWPMC_SNAPSHOT_H

#include <linux/types.h>

struct hwpmc_owner;
struct hwpmc_pmc;

/* Returns true if the start of this PMC needs a snapshot. hwpmc_lock. */
bool hwpmc_needs_snapshot(const struct hwpmc_pmc *pmc);
/* Without hwpmc_lock: waits for programs. privileged: pmc->privileged. */
void hwpmc_snapshot(struct hwpmc_owner *owner, u32 id, bool privileged);

#endif /* HWPMC_SNAPSHOT_H */
