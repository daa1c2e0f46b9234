/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * scratch.h - memory of each CPU in which records are built that are too large for
 * the stack. Allocated at load: static per-CPU memory of modules is scarce.
 */
#ifndef HWPMC_SCRATCH_H
#define HWPMC_SCRATCH_H

#include <linux/percpu.h>

#include "callchain.h"
#include "hwpmc_log.h"	/* uapi */
#include "unwind_memo.h"

struct hwpmc_scratch {
	/* A sample outside NMI with its PERIOD and CONTEXT records. Interrupts off. */
	struct hwpmc_log_period period;
	struct hwpmc_log_context context;
	struct hwpmc_log_hdr hdr;
	u64 pc[HWPMC_LOG_DEPTH_MAX + HWPMC_CALLCHAIN_MARKS];
	/* Of walks by unwind tables in NMI. */
	struct hwpmc_unwind_states states;
	struct hwpmc_unwind_memo memo[UNWIND_MEMO_SIZE];
	struct hwpmc_unwind_past past;
	/* A path. Preemption off, not in interrupts or NMI. */
	char path[PAGE_SIZE];
};

extern struct hwpmc_scratch __percpu *hwpmc_scratch;

int hwpmc_scratch_init(void);
void hwpmc_scratch_exit(void);

#endif /* HWPMC_SCRATCH_H */
