/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * sample.h - rows that sample: armed at switch-in (or start), disarmed at
 * switch-out (or stop), and a record for each overflow between.
 *
 * An armed row has its bit in hwpmc_cpu.sampling (.ticking: SOFT), its PMC in
 * row[].pmc, its owner's ring of this CPU in row[].ring (NULL: the histogram of
 * the kernel), and a counter that runs from -n up: its highest bit is set until
 * it overflows. What does not fit into the counter at once is in row[].period_left.
 *
 * Everything here runs on the CPU concerned with interrupts off, or in NMI.
 */
#ifndef HWPMC_SAMPLE_H
#define HWPMC_SAMPLE_H

#include "../core/cpu.h"

struct pt_regs;

/* Arm a row: it samples from here on. left: events to the next sample, 0: all of
 * the period. */
void hwpmc_sample_load_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      struct hwpmc_pmc *pmc, u64 period_left);
/* Disarm it. Returns how many events were left to the next sample. */
u64 hwpmc_sample_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/*
 * An armed row of a class without NMI (SOFT) has overflowed: a counter of 64 bits
 * that was written by write_nmi(), ticks up, and has come to 0 or some events
 * beyond. Writes the sample, with regs as where it hit (NULL: here, in the
 * kernel), declares those that should have been written beyond, and writes the
 * counter anew. Interrupts off.
 */
void hwpmc_sample_overflow_irqoff(struct hwpmc_cpu *c, unsigned int nr,
				  struct pt_regs *regs, u64 overshoot);

/* The NMI, for all armed rows that have overflowed: how many there were. */
unsigned int hwpmc_sample_all_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
				  u64 now);

/*
 * How many rows that could not be stopped have overflowed since nobody samples with
 * them any more; they are forgotten. NMI, or interrupts off.
 */
unsigned int hwpmc_sample_unstoppable_nmi(struct hwpmc_cpu *c);

/* The handler is there while somebody may sample. Process context, hwpmc_lock. */
int hwpmc_nmi_register_once(void);
void hwpmc_nmi_exit(void);

#endif /* HWPMC_SAMPLE_H */
