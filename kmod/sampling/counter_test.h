/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * counter_test.h - does what a machine or its hypervisor gives count? The counters of a class are tried
 * for a moment at each claim (counter_test.c), and under a hypervisor the interrupt when the first PMC
 * samples (counter_test_irq.c), on each CPU until it has come once: what counts 0, counts wrong
 * or does not interrupt is noted for GETCPUINFO and refused. Process context, hwpmc_lock.
 */
#ifndef HWPMC_COUNTER_TEST_H
#define HWPMC_COUNTER_TEST_H

#include "../core/cpu.h"
#include "../core/still.h"

/*
 * The class has just been claimed, and no PMC has it yet. mate: another one that has its
 * counters of the same host and is on without a PMC as well, or NULL.
 */
void hwpmc_trial_counters(struct hwpmc_class *cls, struct hwpmc_class *mate);

/*
 * While the class is claimed, under a hypervisor: does row ri count now, which stood still when
 * it was tried and has no PMC? It takes HWPMC_TRIAL_ROW_EXITS accesses to registers on each CPU.
 * Returns true if it has counted on a CPU and not failed to on any. Then it may come back; mate:
 * the other class that has its counters of the same host, which is on, or NULL.
 */
#define HWPMC_TRIAL_ROW_EXITS	4
bool hwpmc_trial_row(struct hwpmc_class *cls, unsigned int ri);
void hwpmc_trial_row_came_back(struct hwpmc_class *cls, unsigned int ri, struct hwpmc_class *mate);

/* Why an event is refused, by what the trial has found: enum hwpmc_reason, or 0. */
u32 hwpmc_trial_why(const struct hwpmc_class *cls, const struct hwpmc_select *s);

/* The class is given back: nothing is refused any more, for the next claim tries again. */
void hwpmc_trial_forget(struct hwpmc_class *cls);

/* ---- the interrupt --------------------------------------------------------------- */

/*
 * Does an overflow of the row interrupt, on each CPU? No PMC samples by NMI yet; the handler
 * is registered. Returns 0, or -EOPNOTSUPP with the reason: no interrupt came, or no overflow.
 */
int hwpmc_trial_interrupt(unsigned int nr, struct hwpmc_hdr *hdr);
/* The machine may be another one by now: CPUs whose interrupt came are tried again. Any
 * context. */
void hwpmc_trial_interrupt_forget(void);

/* Is the NMI the one that the trial waits for? Only while .trial of the CPU is set. NMI. */
bool hwpmc_trial_came_nmi(struct hwpmc_cpu *c);

/* ---- of both files --------------------------------------------------------------- */

#define HWPMC_TRIAL_TURNS	256	/* of the loop: two instructions and one branch each */

/* Event n of the class's list as this CPU's kind of core counts it, in kernel mode; .rows is 0
 * where the model does not have it, or none is left. */
void hwpmc_trial_encode(const struct hwpmc_class *cls, unsigned int n, unsigned int cpu, u32 mode,
			struct hwpmc_encoding *enc);

/* The counters of this CPU, of the class. */
u64 hwpmc_trial_rows(const struct hwpmc_class *cls, unsigned int cpu);

#endif /* HWPMC_COUNTER_TEST_H */
