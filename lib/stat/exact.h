/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exact.h - samples whose address is marked as exact, or as not exact, by PRECISE records: a
 * count of each PMC. Logs are believed nothing.
 */
#ifndef HWPMC_LIB_EXACT_H
#define HWPMC_LIB_EXACT_H

#include <stdint.h>

#include "libhwpmcstat.h"
#include "table.h"

struct exact_pmc {
	uint32_t pmc;
	uint64_t exact, inexact;
};

#define EXACT_MOST	65536	/* PMCs */

struct exact {
	struct exact_pmc *all;
	struct table table;		/* entries by PMC */
};

void exact_add(struct exact *e, const struct hwpmc_log_precise *r);
void exact_clear(struct exact *e);

#endif
