/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rdpmc_switch.h - RDPMC reads any counter. So, while there are grants (rdpmc.h), the
 * sched_switch probe removes other programs' counts before a program with a grant runs:
 * counters without a user are stopped and cleared; system-scope counting is harvested and
 * begins again at 0; system-scope sampling begins a period of random length, which on average
 * gives as many samples as before. Counters of system scope that the processor hides from
 * user mode (perfmon 6) continue to count.
 */
#ifndef HWPMC_RDPMC_SWITCH_H
#define HWPMC_RDPMC_SWITCH_H

#include <linux/mm_types.h>
#include <asm/processor-flags.h>
#include <asm/special_insns.h>

struct task_struct;

/* PMCs with a permission; while not 0 the sched_switch probe is registered. Written under
 * hwpmc_lock, read anywhere. */
extern unsigned int hwpmc_rdpmc_users;

void hwpmc_rdpmc_init(void);
/* After the probe is unregistered. Sleeps. */
void hwpmc_rdpmc_exit(void);
/* Before next runs: if it may use RDPMC, leave no counts of others in the counters. */
void hwpmc_rdpmc_switch_irqoff(struct task_struct *next);

static inline bool hwpmc_may_rdpmc(struct mm_struct *mm)
{
	return mm && atomic_read(&mm->context.perf_rdpmc_allowed);
}

/* The administrator can disable RDPMC for all (sysfs attribute rdpmc). */
static inline bool hwpmc_pce_is_set(void)
{
	return native_read_cr4() & X86_CR4_PCE;
}

#endif /* HWPMC_RDPMC_SWITCH_H */
