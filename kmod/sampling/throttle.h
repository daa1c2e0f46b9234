/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * throttle.h - limits the share of a CPU's time that sampling may take, so that a
 * period that is far too short does not make the machine unusable. Above the limit
 * all armed rows of the CPU write no samples for a while, and THROTTLE records say so.
 * The rows count on, so that the periods that end in a pause can be declared as dropped.
 */
#ifndef HWPMC_THROTTLE_H
#define HWPMC_THROTTLE_H

#include "../core/cpu.h"

struct pt_regs;

/* At the end of an NMI with an overflow that began at `began`: hwpmc_cpu_time_nmi(). */
void hwpmc_throttle_nmi(struct hwpmc_cpu *c, const struct pt_regs *regs, u64 began);

/* A row was armed in a pause, and not started; a row has been disarmed in a pause, or is one
 * without NMI. */
void hwpmc_throttle_loaded_irqoff(struct hwpmc_cpu *c, unsigned int nr);
void hwpmc_throttle_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/* Returns true if the periods of this row that have ended without a sample did so in a pause;
 * once a pause. */
bool hwpmc_throttle_take_irqoff(unsigned int nr);

/*
 * The same for rows without NMI, whose samples are written where the event happens. Is this
 * row to write none now? It counts on, and the periods that end meanwhile are declared as
 * dropped. And: a sample was written, which began at `began`: hwpmc_cpu_time_nmi().
 */
bool hwpmc_throttle_holds_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 now);
void hwpmc_throttle_tick_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 began);

static inline bool hwpmc_is_throttled(const struct hwpmc_cpu *c)
{
	return c->throttled;
}

void hwpmc_throttle_init(void);
void hwpmc_throttle_exit(void);

#endif /* HWPMC_THROTTLE_H */
