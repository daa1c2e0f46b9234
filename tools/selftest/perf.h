/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.h - counters of perf_event_open(2), which the module's are compared with. */
#ifndef TOOLS_SELFTEST_PERF_H
#define TOOLS_SELFTEST_PERF_H

#include "selftest.h"

/* The number of a PMU of perf's ("ibs_op"); -1: there is none. */
int perf_type(const char *pmu);

/* A counter of this thread in user mode, of a PERF_COUNT_HW_*, on a kind of core (NULL: any).
 * A descriptor, or -1 with errno. */
int perf_open(const struct st_kind *kind, uint64_t event);

/* Of another PMU of perf's: of this thread with cpu -1, else of a CPU. period 0: counting. */
int perf_open_raw(int type, uint64_t config, uint64_t period, int cpu);

/* The least of some tries: least[0] of work(0), least[1] of work(n). False: it cannot be read,
 * as where perf has no counter for it. */
bool perf_least(int fd, void (*work)(uint64_t), uint64_t n, unsigned int tries,
		uint64_t least[2]);

#endif
