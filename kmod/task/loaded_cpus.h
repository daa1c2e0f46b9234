/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * loaded_cpus.h - the CPUs that have to follow a change of targets or PMCs: those where a
 * thread concerned runs or waits to run. No other CPU is interrupted.
 *
 *	hwpmc_followers_begin();
 *	under hwpmc_targets_lock, for each target concerned: what switches read of it is
 *		changed, then hwpmc_followers_add_locked(target);
 *	hwpmc_followers_call(fn, arg);
 *
 * Process context; hwpmc_lock from begin to call.
 */
#ifndef HWPMC_LOADED_CPUS_H
#define HWPMC_LOADED_CPUS_H

#include <linux/smp.h>

struct hwpmc_pmc;
struct hwpmc_target;

void hwpmc_followers_begin(void);
/* Before the target's threads are dismissed. False: all CPUs follow, whatever is added. */
bool hwpmc_followers_add_locked(const struct hwpmc_target *target);
/* Begin, and add each target that the PMC is attached to, after it was changed. */
void hwpmc_followers_pmc_locked(const struct hwpmc_pmc *pmc);
/*
 * Run fn on them, interrupts off. On return each thread of the targets that were added
 * has either been switched out, with all that it counted in the totals, and reads the
 * change when it is switched in again; or fn has run on its CPU. Interrupts on.
 */
void hwpmc_followers_call(smp_call_func_t fn, void *arg);

#endif /* HWPMC_LOADED_CPUS_H */
