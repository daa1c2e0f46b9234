/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * throttle.h - the limit of what sampling may take of a CPU's time. Beyond it all
 * armed rows of that CPU stand still until the end of the window, and the log says
 * so: a period that is absurd must not take the machine away.
 */
#ifndef HWPMC_THROTTLE_H
#define HWPMC_THROTTLE_H

#include "../core/cpu.h"

struct pt_regs;

/* At the end of an NMI that began at `began`. */
void hwpmc_throttle_nmi(struct hwpmc_cpu *c, const struct pt_regs *regs, u64 began);

static inline bool hwpmc_is_throttled(const struct hwpmc_cpu *c)
{
	return c->throttled;
}

void hwpmc_throttle_init(void);
void hwpmc_throttle_exit(void);

#endif /* HWPMC_THROTTLE_H */
