/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * records.h - records that begin and end a log, and records about PMCs. Process
 * context.
 */
#ifndef HWPMC_RECORDS_H
#define HWPMC_RECORDS_H

#include "../sampling/log.h"

struct hwpmc_pmc;

/* INITIALIZE. Before the log is published. */
void hwpmc_records_begin(struct hwpmc_log *log);
/* PMCs and targets that existed before the log. After it is published; hwpmc_lock. */
void hwpmc_records_pmcs(struct hwpmc_log *log);
void hwpmc_records_clock(struct hwpmc_log *log);
/* CLOSELOG, of a log that is closing. Called again if the ring had no room. */
void hwpmc_records_end(struct hwpmc_log *log);
/* The CPU record that precedes records of another ring in a file. */
void hwpmc_records_fill_cpu(struct hwpmc_log_hdr *hdr, unsigned int cpu);
/* The SYNC record of what is older than time. */
void hwpmc_records_fill_sync(struct hwpmc_log_hdr *hdr, u64 time);

/* PMCALLOCATE, if the owner has an open log. Under hwpmc_lock. */
void hwpmc_log_allocated(struct hwpmc_pmc *pmc);

#endif /* HWPMC_RECORDS_H */
