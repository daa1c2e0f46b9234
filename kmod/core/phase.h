/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * phase.h - how far a sampling PMC is in its period: of one thread, or, in system scope, of
 * its CPU. Accessed on the CPU where the row is armed, with interrupts off or in NMI; of
 * what is not armed, by the code that may arm it.
 */
#ifndef HWPMC_PHASE_H
#define HWPMC_PHASE_H

#include "../compat/types.h"

struct hwpmc_phase {
	u64 left;		/* while not armed: events to the next sample, 0: a
				 * whole period */
	/* With HWPMC_F_FREQUENCY; else not accessed. */
	u64 period;		/* of the next sample; 0: the PMC's first one */
	u64 since;		/* while armed: the time of the last sample, as if it had
				 * been armed ever since; while not: ticks that it was
				 * armed since that */
};

#endif /* HWPMC_PHASE_H */
