/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * cpu_kinds.h - CPU_KIND records: which kind of core each CPU is, where they are of several.
 */
#ifndef HWPMC_LOG_KINDS_H
#define HWPMC_LOG_KINDS_H

struct hwpmc_log;

/* The log was published: records of all CPUs, and of each that goes online. hwpmc_lock. */
void hwpmc_log_kinds_begin(struct hwpmc_log *log);
/* It is to be freed; RCU waits for CPUs that go online meanwhile. hwpmc_lock. */
void hwpmc_log_kinds_end(struct hwpmc_log *log);
/* This CPU goes online and knows its kind; no row counts here yet. */
void hwpmc_log_kinds_online_irqoff(void);

#endif /* HWPMC_LOG_KINDS_H */
