/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * switch.h - rows follow threads: what happens at switch-in and switch-out.
 */
#ifndef HWPMC_SWITCH_H
#define HWPMC_SWITCH_H

#include <linux/preempt.h>

struct hwpmc_cpu;
struct hwpmc_pmc;
struct hwpmc_thread;
struct task_struct;

extern struct preempt_ops hwpmc_preempt_ops;

/* Make what this CPU counts agree with what the current thread's target asks
 * for. Idempotent; the answer to every change of a target or a PMC. */
void hwpmc_switch_sync_irqoff(struct hwpmc_cpu *c);
/* The same on all CPUs; on return no CPU counts for what was taken away. */
void hwpmc_switch_sync_all(void);
/* A counting PMC's slices in flight go on, but on return its links have all that it
 * had counted at the call; it may have become special or told meanwhile. */
void hwpmc_switch_flush_slices(struct hwpmc_pmc *pmc);
/* End all slices of this CPU. */
void hwpmc_switch_out_irqoff(struct hwpmc_cpu *c);
/* The sched_switch probe, there only while threads are pending. */
void hwpmc_switch_pending_irqoff(struct task_struct *prev,
				 struct task_struct *next);

#endif /* HWPMC_SWITCH_H */
