/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * tunables.h - what the administrator can set: module parameters, and the same
 * names as sysctls under kern/hwpmc/. What is wrong at load is said, and replaced.
 * Those marked constant do not change after hwpmc_tunables_check().
 */
#ifndef HWPMC_TUNABLES_H
#define HWPMC_TUNABLES_H

/* May the unprivileged allocate system-scope PMCs? (security.bsd. on FreeBSD) */
extern int hwpmc_unprivileged_syspmcs;
/* May the unprivileged attach to other processes of their own? */
extern int hwpmc_unprivileged_proc_debug;

/* The smallest sampling period; smaller ones are raised to it. */
extern int hwpmc_mincount;
/* Owners of an unprivileged user at most. */
extern int hwpmc_maxowners;
/* Frames of a call chain at most, 1 to HWPMC_LOG_DEPTH_MAX; constant. */
extern int hwpmc_callchaindepth;
/* Percent of a CPU's time that sampling may take; 0: there is no limit. */
extern int hwpmc_selfcost;
/* Buckets of each hash table of targets and threads; a power of two, constant. */
extern int hwpmc_hashsize;
/* The ring of a CPU by default: KiB of a buffer, and how many; constant. */
extern int hwpmc_logbuffersize;
extern int hwpmc_nbuffers_pcpu;

/* Before all else at load: from here on the values are good. */
void hwpmc_tunables_check(void);
int hwpmc_tunables_init(void);
void hwpmc_tunables_exit(void);

#endif /* HWPMC_TUNABLES_H */
