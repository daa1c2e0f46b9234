/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc_target.h - what process-scope PMCs count: operations that attach them to
 * processes, and the page by which a thread reads them itself. Part of hwpmc.h.
 */
#ifndef _UAPI_HWPMC_TARGET_H
#define _UAPI_HWPMC_TARGET_H

#include "hwpmc.h"

/*
 * PMCATTACH (8), PMCDETACH (9): attach a PMC to a process with all its threads, or detach it.
 * pid 0 is the caller. With DESCENDANTS both include all present descendants.
 * With THREAD `pid` is the id of a thread, 0 the calling one; the thread takes the place of the
 * process in the permission and in the errors below, except that to detach a thread without
 * PMCs is NOT_ATTACHED, and that the detail of PRIV_ATTACH is the process. On a row on which a
 * thread has a PMC for itself its process has none, and other threads can have their own. A
 * thread that executes a program is counted on. The exit of the thread, also by an exec of
 * another thread, leaves the PMC without a target.
 * Attach errors: EINVAL ID, SYSTEM_SCOPE, PID; EBUSY RUNNING; ESRCH
 * NO_PROCESS, EXITING; EPERM PRIV_TUNABLE, PRIV_ATTACH, MSR_TAKEN; EEXIST
 * ATTACHED; EBUSY TARGET_ROW; ENOMEM.
 * Detach errors: EINVAL ID, SYSTEM_SCOPE, PID, NOT_ATTACHED; ESRCH NO_PROCESS,
 * NOT_TARGET.
 */
struct hwpmc_op_pmcattach {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__s32	pid;
};

/*
 * PMCOPEN (39): PMCALLOCATE of a process-scope PMC and PMCATTACH to process `pid` (with THREAD,
 * to thread `pid`) in one call. It takes a row that no other PMC has in that process (and, with
 * DESCENDANTS, in its descendants), so two programs that measure one process with the same event
 * do not conflict while there are free rows. On success the PMC is attached and not started; on
 * failure there is no PMC. Errors: the errors of PMCALLOCATE, then the errors of PMCATTACH; also
 * EINVAL SYSTEM_SCOPE; EBUSY TARGET_ROW if each row that can count the event has another PMC in
 * the process [pid of its owner].
 */
struct hwpmc_op_pmcopen {
	struct hwpmc_op_pmcallocate_named allocate;
	__s32	pid;			/* 0: the caller's process */
	__u32	__reserved;
};

/*
 * PMCGETMSR (10): return the index by which RDPMC reads this PMC in user mode. The
 * PMC must be in process scope, without DESCENDANTS and THREAD, and attached to its owner
 * only. Afterwards it cannot be attached to other processes, and the owner's
 * address space may use RDPMC until the PMC is detached or released, or the owner
 * executes a program. The counter restarts at 0 at each switch-in of a thread of
 * the owner; the thread's page contains the value to add, see struct
 * hwpmc_user_row. RDPMC of all other counters returns 0.
 * Errors: EINVAL ID, MSR_OWNER_ONLY; ENOSYS NO_RDPMC [0: class; 1: RDPMC is
 * disabled on this machine]; ENOMEM.
 */
struct hwpmc_op_getmsr {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	msr;
};

/*
 * The page of a thread: an array of these, indexed by row. Each thread maps its
 * own page after PMCGETMSR: read-only, MAP_SHARED, offset HWPMC_USER_OFFSET of the
 * device, HWPMC_USER_SIZE bytes. Errors of mmap(): ESRCH the thread counts for no
 * PMC, or does not belong to the owner; EACCES writable; EINVAL size or
 * MAP_PRIVATE; ENOMEM.
 *
 * If `sum` equals `seq`, no other thread counts for the PMC, and the count that
 * PMCRW would return is
 *
 *	rdpmc(index) + total
 *
 * If `own` equals `seq`, rdpmc(index) + thread is the number of events of this thread since
 * it mapped the page. Both values are valid only if `seq` is unchanged after RDPMC.
 * If neither `sum` nor `own` equals `seq`, RDPMC may fault: use PMCRW.
 * Only the thread that mapped the page may read it in this way. In a child's copy
 * `sum` and `own` never equal `seq`.
 */
struct hwpmc_user_row {
	__u32	seq;			/* changes with any field below */
	__u32	own;			/* equal to seq: .thread is valid */
	__u32	sum;			/* equal to seq: .total is valid */
	__u32	index;			/* operand of RDPMC */
	__u64	thread;			/* add it to RDPMC, modulo 2^64: this thread */
	__u64	total;			/* add it to RDPMC, modulo 2^64: the count */
	__u64	__reserved[4];
};

#define HWPMC_USER_OFFSET	(1ull << 35)
#define HWPMC_USER_SIZE		4096

#endif /* _UAPI_HWPMC_TARGET_H */
