/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * system.h - system-scope PMCs on their CPUs. Each CPU has a list of its started PMCs,
 * accessed on that CPU with interrupts off.
 */
#ifndef HWPMC_SYSTEM_H
#define HWPMC_SYSTEM_H

#include "../core/pmc.h"

/* Start and stop to count on pmc->cpu. -ENXIO: the CPU is not online. hwpmc_lock. */
int hwpmc_system_start(struct hwpmc_pmc *pmc);
int hwpmc_system_stop(struct hwpmc_pmc *pmc);
/* Stop whether the CPU is online or not: a release must succeed. hwpmc_lock. */
void hwpmc_system_unlink(struct hwpmc_pmc *pmc);
/* Harvest into the total. Interrupts on. An errno if the CPU is not online. */
int hwpmc_system_read(struct hwpmc_pmc *pmc);

/* The same of a struct hwpmc_pmc, on its CPU, interrupts off. Start and stop under the
 * hwpmc_lock of the caller that asks the CPU. */
void hwpmc_system_start_irqoff(void *pmc);
void hwpmc_system_end_irqoff(void *pmc);
/* Compare its registers with what was programmed, which a stop does before its end. */
void hwpmc_system_look_irqoff(void *pmc);
void hwpmc_system_read_irqoff(void *pmc);

/* All PMCs of a CPU, when it goes online or offline. */
void hwpmc_system_resume_irqoff(struct hwpmc_cpu *c);
void hwpmc_system_suspend_irqoff(struct hwpmc_cpu *c);
/* Suspend PMCs of these rows until the next resume; true: there were any in flight. */
bool hwpmc_system_pause_irqoff(struct hwpmc_cpu *c, u64 rows);
/* Harvest all that count here. */
void hwpmc_system_harvest_irqoff(struct hwpmc_cpu *c);

/* Stop a PMC of either scope, in any state, whether its CPU is online or not. hwpmc_lock. */
void hwpmc_pmc_halt(struct hwpmc_pmc *pmc);

#endif /* HWPMC_SYSTEM_H */
