/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * records.h - the records that begin and end a log, and those of PMCs. Process
 * context, under hwpmc_lock where nothing else is said.
 */
#ifndef HWPMC_RECORDS_H
#define HWPMC_RECORDS_H

#include "../sampling/log.h"

struct hwpmc_pmc;

/* What stands at the beginning and at the end. */
void hwpmc_records_begin(struct hwpmc_log *log);
/* PMCs and targets that were there before it. The log is the owner's already. */
void hwpmc_records_pmcs(struct hwpmc_log *log);
void hwpmc_records_clock(struct hwpmc_log *log);
/* Of a log that is closing; again, where there was no room. */
void hwpmc_records_end(struct hwpmc_log *log);
/* On the way to a file, in front of a CPU's records. */
void hwpmc_records_fill_cpu(struct hwpmc_log_hdr *hdr, unsigned int cpu);

/* A PMC was allocated: nothing happens where its owner has no log. */
void hwpmc_log_allocated(struct hwpmc_pmc *pmc);

#endif /* HWPMC_RECORDS_H */
