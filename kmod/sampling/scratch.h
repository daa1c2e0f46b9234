/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * scratch.h - room of each CPU in which a record is prepared where the stack is too
 * small for it. Made at load: a module's static per-CPU memory is small.
 */
#ifndef HWPMC_SCRATCH_H
#define HWPMC_SCRATCH_H

#include <linux/percpu.h>

#include "hwpmc_log.h"	/* uapi */

struct hwpmc_scratch {
	/* A sample outside NMI, its CONTEXT in front. Interrupts off. */
	struct hwpmc_log_context context;
	struct hwpmc_log_hdr hdr;
	u64 pc[HWPMC_LOG_DEPTH_MAX + 1];
	/* A path. Preemption off, not in interrupts. */
	char path[PAGE_SIZE];
};

extern struct hwpmc_scratch __percpu *hwpmc_scratch;

int hwpmc_scratch_init(void);
void hwpmc_scratch_exit(void);

#endif /* HWPMC_SCRATCH_H */
