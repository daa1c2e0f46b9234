/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * trial.h - does what a hypervisor gives count? Under one, the counters of a class are tried
 * for a moment when it is claimed, and the interrupt when the first PMC samples: what counts
 * 0, or does not interrupt, is noted for GETCPUINFO and refused. On other machines nothing is
 * tried. What was found in order is not tried again. Process context, hwpmc_lock.
 */
#ifndef HWPMC_TRIAL_H
#define HWPMC_TRIAL_H

#include "../core/cpu.h"

/* The class has just been claimed, and no PMC has it yet. */
void hwpmc_trial_counters(struct hwpmc_class *cls);

/* An event that the trial has found to count 0 on every counter. */
bool hwpmc_trial_is_filtered(const struct hwpmc_class *cls, const struct hwpmc_select *s);

/* The class is given back: nothing is refused any more, for the next claim tries again. */
void hwpmc_trial_forget(struct hwpmc_class *cls);

/*
 * Does an overflow of the row interrupt? No PMC samples by NMI yet; the handler is
 * registered. `cpu`: where to try, online. 0, or -EOPNOTSUPP: no interrupt came.
 */
int hwpmc_trial_interrupt(unsigned int nr, unsigned int cpu);

/* Is the NMI the one that the trial waits for? Only while .trial of the CPU is set. NMI. */
bool hwpmc_trial_came_nmi(struct hwpmc_cpu *c);

#endif /* HWPMC_TRIAL_H */
