/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * tunables.h - settings of the administrator: module parameters, and sysctls of the
 * same names under kern/hwpmc/. Wrong values at load are replaced, with a warning.
 * Those marked constant do not change after hwpmc_tunables_check().
 */
#ifndef HWPMC_TUNABLES_H
#define HWPMC_TUNABLES_H

/* May unprivileged users allocate system-scope PMCs? (security.bsd. on FreeBSD) */
extern int hwpmc_unprivileged_syspmcs;
/* May unprivileged users count and sample kernel mode? (always on FreeBSD) */
extern int hwpmc_unprivileged_kernel;
/* May unprivileged users attach to other processes of their own? */
extern int hwpmc_unprivileged_proc_debug;

/* The smallest sampling period; smaller ones are raised to it. */
extern int hwpmc_mincount;
/* Maximum of owners of an unprivileged user. */
extern int hwpmc_maxowners;
/* Maximum of KiB of unwind tables of an owner. */
extern int hwpmc_unwindtables;
/* Maximum of frames of a call chain, 1 to HWPMC_LOG_DEPTH_MAX; constant. */
extern int hwpmc_callchaindepth;
/* Percent of a CPU's time that sampling may take; 0: no limit. */
extern int hwpmc_selfcost;
/* May a claim take counters that run without a reservation? Given back at its end. */
extern int hwpmc_takerunning;
/* Buckets of each hash table of targets and threads; a power of two, constant. */
extern int hwpmc_hashsize;
/* Default size of a CPU's ring: KiB of a buffer, and their number; constant. */
extern int hwpmc_logbuffersize;
extern int hwpmc_nbuffers_pcpu;

/* First of all at load: afterwards all values are in range. */
void hwpmc_tunables_check(void);
int hwpmc_tunables_init(void);
void hwpmc_tunables_exit(void);

#endif /* HWPMC_TUNABLES_H */
