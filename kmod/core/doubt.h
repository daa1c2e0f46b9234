/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * doubt.h - counts that are not certain, because a counter did not count all the time: another
 * program has written its registers, a hypervisor has taken it away, or the virtual machine was
 * moved or restored. Reads of such a count fail with EIO until its owner sets a value.
 *
 * A finding is counted by row, and by CPU for system scope; a PMC remembers what its row had
 * when it was started. So the CPU that finds it needs no list and no lock.
 */
#ifndef HWPMC_DOUBT_H
#define HWPMC_DOUBT_H

#include "cpu.h"

/*
 * Compares the registers of a row, and of its class's control, with what this CPU has
 * programmed, by RDMSR, and under a hypervisor looks whether the row counts; a difference is a
 * doubt. Not for hot paths. Interrupts off. Returns true if there is one.
 */
bool hwpmc_doubt_look_irqoff(struct hwpmc_cpu *c, unsigned int nr);
/* The same without the control; and the control alone, a doubt of all rows of the class, which
 * are added to `stopped`: returns 0, or its register. */
bool hwpmc_doubt_look_row_irqoff(struct hwpmc_cpu *c, unsigned int nr);
u32 hwpmc_doubt_look_control_irqoff(struct hwpmc_cpu *c, struct hwpmc_class *cls, u64 *stopped);
/* The registers of all rows of a class, and its control: 0, or the register. */
u32 hwpmc_doubt_look_class_irqoff(struct hwpmc_cpu *c, const struct hwpmc_class *cls);
/* The same on each CPU where the row is programmed for this PMC, of process scope.
 * Process context. */
void hwpmc_doubt_look(const struct hwpmc_pmc *pmc);

/* The same at the first read of the PMC after its last target has gone: what is read is final.
 * Any reader. */
void hwpmc_doubt_look_finally(struct hwpmc_pmc *pmc);

/* Returns true if no target of the PMC is left; all CPUs have looked then. hwpmc_lock. */
bool hwpmc_doubt_is_final(struct hwpmc_pmc *pmc);

/* The last loss of a row of a CPU. Any context. */
void hwpmc_doubt_last(unsigned int cpu, unsigned int nr, struct hwpmc_loss *loss);

/* Another target of a PMC of process scope: counts .process.attaches. hwpmc_lock. */
void hwpmc_doubt_attach(struct hwpmc_pmc *pmc);

/* A PMC begins to count; or has stopped, which is written here. hwpmc_lock. */
void hwpmc_doubt_begin(struct hwpmc_pmc *pmc);
void hwpmc_doubt_end(struct hwpmc_pmc *pmc);
/* Its count begins again, with a value that its owner has set. hwpmc_lock. */
void hwpmc_doubt_forget(struct hwpmc_pmc *pmc);

#endif /* HWPMC_DOUBT_H */
