/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys/pmclog.h - FreeBSD's names for record types and sample flags. The values of
 * the types are those of hwpmc_log.h; lib/freebsd/pmclog.c asserts it.
 */
#ifndef _HWPMC_FREEBSD_SYS_PMCLOG_H
#define _HWPMC_FREEBSD_SYS_PMCLOG_H

#include <sys/pmc.h>

enum pmclog_type {
	PMCLOG_TYPE_CLOSELOG = 1,
	PMCLOG_TYPE_DROPNOTIFY = 2,
	PMCLOG_TYPE_INITIALIZE = 3,
	PMCLOG_TYPE_PCSAMPLE = 4,	/* of old sources; there is none */
	PMCLOG_TYPE_PMCALLOCATE = 5,
	PMCLOG_TYPE_PMCATTACH = 6,
	PMCLOG_TYPE_PMCDETACH = 7,
	PMCLOG_TYPE_PROCCSW = 8,
	PMCLOG_TYPE_PROCEXEC = 9,
	PMCLOG_TYPE_PROCEXIT = 10,
	PMCLOG_TYPE_PROCFORK = 11,
	PMCLOG_TYPE_SYSEXIT = 12,
	PMCLOG_TYPE_USERDATA = 13,
	PMCLOG_TYPE_MAP_IN = 14,
	PMCLOG_TYPE_MAP_OUT = 15,
	PMCLOG_TYPE_CALLCHAIN = 16,
	PMCLOG_TYPE_PMCALLOCATEDYN = 17,
	PMCLOG_TYPE_THR_CREATE = 18,
	PMCLOG_TYPE_THR_EXIT = 19,
	PMCLOG_TYPE_PROC_CREATE = 20,
};

/* pl_cpuflags of a sample: its CPU, and the user mode flag. */
#define PMC_CALLCHAIN_CPUFLAGS_TO_CPU(CF)	((CF) >> 16 & 0xffff)
#define PMC_CALLCHAIN_CPUFLAGS_TO_USERMODE(CF)	((CF) & PMC_CC_F_USERSPACE)
#define PMC_CALLCHAIN_TO_CPUFLAGS(CPU, FLAGS) \
	(((CPU) & 0xffff) << 16 | ((FLAGS) & 0xffff))

#endif /* _HWPMC_FREEBSD_SYS_PMCLOG_H */
