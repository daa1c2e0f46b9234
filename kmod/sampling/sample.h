/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * sample.h - rows that sample: armed at switch-in or start, disarmed at switch-out or
 * stop; each overflow in between writes a record.
 *
 * An armed row has its bit in hwpmc_cpu.sampling (.ticking: SOFT), its PMC in
 * row[].pmc, the ring of its owner on this CPU in row[].sample.ring (NULL: the kernel's
 * histogram, kgmon.h), and a counter that runs from -n up: its highest bit is set
 * until it overflows. The part of the period that exceeds the counter's width is in
 * row[].sample.period_left. A row of a class with a struct hwpmc_sampler (backend.h) has no such
 * counter: the callbacks of the class have its state.
 *
 * All functions run on the CPU concerned with interrupts off, or in NMI.
 */
#ifndef HWPMC_SAMPLE_H
#define HWPMC_SAMPLE_H

#include "../core/cpu.h"

struct pt_regs;

/* Arm a row. ph: of the thread, or of the PMC in system scope; valid until the row is
 * disarmed, which stores into it what is left. */
void hwpmc_sample_load_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      struct hwpmc_pmc *pmc, struct hwpmc_phase *ph);
/* Disarm it. */
void hwpmc_sample_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/*
 * An armed row of a class without NMI (SOFT) has overflowed: its 64-bit counter has
 * reached 0 or `overshoot`. Writes the sample with the frames of regs (NULL: of the
 * caller, in the kernel), counts as dropped the samples of all further periods that
 * ended, and arms the counter again. Interrupts off.
 */
void hwpmc_sample_overflow_irqoff(struct hwpmc_cpu *c, unsigned int nr,
				  struct pt_regs *regs, u64 overshoot);

/* The same for an armed row of a class without NMI that has a struct hwpmc_sampler, by which it
 * has overflowed: the sample has its payload. */
void hwpmc_sample_payload_irqoff(struct hwpmc_cpu *c, unsigned int nr, struct pt_regs *regs);

/* Has an armed row overflowed, and its interrupt not been handled? */
bool hwpmc_sample_has_overflowed_irqoff(struct hwpmc_cpu *c, unsigned int nr);
/* It will not come, or a pause is over: declare what passed, and arm the row again. */
void hwpmc_sample_restart_irqoff(struct hwpmc_cpu *c, unsigned int nr);
/* Sampling is paused: an armed row counts on without a sample. Interrupts off. */
void hwpmc_sample_hold_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/* In the NMI: has an armed row overflowed? */
bool hwpmc_sample_any_nmi(const struct hwpmc_cpu *c);
/* In the NMI: sample and arm again all rows that have overflowed. Returns how many. */
unsigned int hwpmc_sample_all_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
				  u64 now);
/* The same for armed rows of hwpmc_rows_sampler: the two above must find none of them. */
unsigned int hwpmc_sample_payloads_nmi(struct hwpmc_cpu *c, u64 rows, struct pt_regs *regs,
				       u64 now);

/*
 * Take those rows out of c->unstoppable that have overflowed: they will raise no
 * further NMI. Returns how many. NMI, or interrupts off.
 */
unsigned int hwpmc_sample_unstoppable_nmi(struct hwpmc_cpu *c);

/* Register the NMI handler with the first PMC that samples. Process context,
 * hwpmc_lock. */
int hwpmc_nmi_register_once(void);
/* At unload. */
void hwpmc_nmi_exit(void);

#endif /* HWPMC_SAMPLE_H */
