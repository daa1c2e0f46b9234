/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * system.h - system-scope PMCs on their CPUs. Each has a list of those that are
 * started there, touched on that CPU with interrupts off.
 */
#ifndef HWPMC_SYSTEM_H
#define HWPMC_SYSTEM_H

#include "../core/pmc.h"

/* Count on pmc->cpu from here on, or no longer. -ENXIO: the CPU is not online. */
int hwpmc_system_start(struct hwpmc_pmc *pmc);
int hwpmc_system_stop(struct hwpmc_pmc *pmc);
/* The same whether the CPU is online or not: a release must succeed. */
void hwpmc_system_unlink(struct hwpmc_pmc *pmc);
/* Bring the total up to now. Interrupts on. An errno where the CPU is not online. */
int hwpmc_system_read(struct hwpmc_pmc *pmc);

/* All of a CPU, when it comes and goes. */
void hwpmc_system_resume_irqoff(struct hwpmc_cpu *c);
void hwpmc_system_suspend_irqoff(struct hwpmc_cpu *c);
/* Of these rows alone, for a moment; true: there were any. */
bool hwpmc_system_pause_irqoff(struct hwpmc_cpu *c, u64 rows);
/* The totals of all that count here, up to now. */
void hwpmc_system_harvest_irqoff(struct hwpmc_cpu *c);

/* Stop a PMC of either scope, whatever its state is and wherever its CPU. hwpmc_lock. */
void hwpmc_pmc_halt(struct hwpmc_pmc *pmc);

#endif /* HWPMC_SYSTEM_H */
