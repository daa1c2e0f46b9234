/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * still.h - does a counter stand still although its events happen? A hypervisor makes the
 * counters of its guest of its host's, and another user of the host can take them at any time.
 * Nothing is asked on real machines.
 */
#ifndef HWPMC_STILL_H
#define HWPMC_STILL_H

#include "cpu.h"

/* Instructions that certainly run: n turns of two, of which one is a branch. */
static __always_inline void hwpmc_still_work_irqoff(unsigned long n)
{
	asm volatile("1:	decq %0\n"
		     "	jnz 1b" : "+r"(n) : : "cc");
}

enum hwpmc_still {
	HWPMC_STILL_UNKNOWN,		/* nothing can be concluded yet */
	HWPMC_STILL_COUNTS,		/* it counts, or its event is none that certainly happens */
	HWPMC_STILL,
};

/*
 * The row of this CPU has just been programmed. Reads it once, under a hypervisor, if it can only
 * be compared with what it was. Interrupts off.
 */
void hwpmc_still_begin_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/* Reads the row of this CPU once or twice. Interrupts off. */
enum hwpmc_still hwpmc_still_irqoff(struct hwpmc_cpu *c, unsigned int nr);
/* Returns how often hwpmc_still_irqoff() reads the row: 0, 1 or 2. */
unsigned int hwpmc_still_cost_irqoff(const struct hwpmc_cpu *c, unsigned int nr);

#endif /* HWPMC_STILL_H */
