/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ibs_perf.h - keeps perf's driver of instruction-based sampling away from the hardware, which
 * the kernel has no reservation for. Process context, under hwpmc_lock, or at load and unload.
 */
#ifndef HWPMC_IBS_PERF_H
#define HWPMC_IBS_PERF_H

#include "../compat/types.h"

/* At load and unload of the class. Returns false if the kernel has no place to do it. */
bool hwpmc_ibs_perf_init(void);
void hwpmc_ibs_perf_exit(void);

/*
 * From now on perf can open no event of this hardware (EBUSY), and events that are open already
 * are not scheduled (ENOSPC). Events that count at this moment go on: look for them after this.
 * An event that is scheduled and throttled at this moment is not started again; perf starts it
 * the next time that it schedules it, a CPU-wide one only when it is enabled again.
 */
void hwpmc_ibs_perf_keep_out(void);
void hwpmc_ibs_perf_let_in(void);

#endif /* HWPMC_IBS_PERF_H */
