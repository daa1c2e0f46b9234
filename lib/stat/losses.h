/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * losses.h - counters that did not count all events, by the LOSS records of a log, in any
 * order: both records of a loss may be in rings of different CPUs. Logs are believed nothing.
 */
#ifndef HWPMC_LIB_LOSSES_H
#define HWPMC_LIB_LOSSES_H

#include <stdint.h>

#include "libhwpmcstat.h"
#include "table.h"

struct hwpmc_profile;

/* A PMC on a CPU; times are ticks. */
struct loss {
	uint32_t pmc, cpu, reason;
	int32_t detail;
	uint64_t from;			/* the first event may be missing */
	uint64_t lost, over;		/* times of the last record of each sort; 0: none */
	uint32_t event, view;		/* event of its PMC, and its index there */
};

#define LOSSES_MOST	4096

struct losses {
	struct loss *all;
	struct table table;		/* entries by PMC, CPU and reason */
	struct hwpmc_profile_loss *view;
	uint32_t nview;
};

void losses_add(struct losses *l, const struct hwpmc_log_loss *r);
/* Makes the view: by event and reason. */
void losses_view(struct losses *l, const struct hwpmc_profile *p);
void losses_clear(struct losses *l);

#endif
