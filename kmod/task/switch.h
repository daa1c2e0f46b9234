/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * switch.h - loads and unloads the rows of process-scope PMCs as threads are switched in
 * and out. The *_irqoff functions: on the CPU concerned, interrupts off.
 */
#ifndef HWPMC_SWITCH_H
#define HWPMC_SWITCH_H

#include <linux/preempt.h>

struct hwpmc_cpu;
struct hwpmc_pmc;
struct hwpmc_thread;
struct task_struct;

extern struct preempt_ops hwpmc_preempt_ops;

/* Load and unload rows here until they are those that the current thread's target
 * counts. Idempotent; called after each change of a target or a PMC. */
void hwpmc_switch_sync_irqoff(struct hwpmc_cpu *c);
/* The same on the CPUs of loaded_cpus.h: on return no CPU counts for a removed link.
 * hwpmc_lock, interrupts on. */
void hwpmc_switch_sync_followers(void);
/* On return the links of a counting PMC have all that was counted before the call.
 * Slices in flight go on, of the kind that .slow_path gives them if the caller has just
 * changed it. Process context, hwpmc_lock. */
void hwpmc_switch_flush_slices(struct hwpmc_pmc *pmc);
/* Add the time so far of a PMC's threads on CPUs of other kinds than its own. hwpmc_lock. */
void hwpmc_switch_harvest_elsewhere(struct hwpmc_pmc *pmc);
/* Add all slices of this CPU so far to their PMCs. */
void hwpmc_switch_harvest_irqoff(struct hwpmc_cpu *c);
/* End them. */
void hwpmc_switch_out_irqoff(struct hwpmc_cpu *c);
/* Part of the sched_switch probe, while threads are pending. Interrupts off, run queue's
 * lock held. */
void hwpmc_switch_pending_irqoff(struct task_struct *prev,
				 struct task_struct *next);

#endif /* HWPMC_SWITCH_H */
