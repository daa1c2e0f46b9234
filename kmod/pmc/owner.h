/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* owner.h - makes and ends owners. Process context; takes hwpmc_lock where nothing else is
 * said. */
#ifndef HWPMC_PMC_OWNER_H
#define HWPMC_PMC_OWNER_H

#include "../core/owner.h"

/* ERR_PTR(-ENOMEM), or -EMFILE: an unprivileged user has kern.hwpmc.maxowners already.
 * kernel: for another module. */
struct hwpmc_owner *hwpmc_owner_new(bool kernel);
/* Before it gets a log or tables: they end with its exec, as PMCs do. 0 or -ENOMEM.
 * hwpmc_lock. */
int hwpmc_owner_watch_exec(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/* At the last close of the descriptor: release all that it holds, and free it. */
void hwpmc_owner_end(struct hwpmc_owner *owner);
/* What the owner held when it executed a program ends now, if the work item has not come
 * to it: what the new program makes is not taken for that. Before an operation. */
int hwpmc_owner_drop(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/*
 * Revoke all owners except those of the caller's process and of the kernel: their PMCs
 * and logs end, their requests fail with ENODEV from here on, and those that held
 * something get SIGBUS.
 */
void hwpmc_owners_revoke(void);

int hwpmc_owners_init(void);
/* At unload, after the hooks are gone: waits for owners that end since an exec. */
void hwpmc_owners_exit(void);

#endif /* HWPMC_PMC_OWNER_H */
