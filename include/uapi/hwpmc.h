/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc.h - the control contract between programs and the hwpmc module.
 *
 * The door is the character device /dev/hwpmc. One open of it by one thread
 * group is an *owner*; what the owner allocates lives until the descriptor is
 * closed, the owner executes another program, exits, or is revoked.
 *
 * Each operation is an ioctl whose number (_IOC_NR) is FreeBSD's PMC_OP number;
 * Linux-only operations begin at 32. The argument is always a pointer to one of
 * the structures below, which all begin with struct hwpmc_hdr.
 *
 * Growing: structures grow by appending. The size in the ioctl number is the
 * caller's; a shorter structure is extended with zeroes, a longer one is
 * accepted only if what this module does not know is zero (else E2BIG). Reserved
 * fields must be zero on input (else EINVAL).
 *
 * Errors: an ioctl returns 0, or -1 with errno; then hdr.reason says which of
 * the causes it was (enum hwpmc_reason) and hdr.detail may name the object that
 * stood in the way (a row, a process, a CPU: see each reason). On success both
 * are 0. Both are left alone where the argument itself cannot be written
 * (EFAULT).
 *
 * FreeBSD's EDOOFUS and EPROGMISMATCH do not exist on Linux; EBADFD and
 * EPROTONOSUPPORT stand for them.
 */
#ifndef _UAPI_HWPMC_H
#define _UAPI_HWPMC_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Version of this contract: major << 24 | minor << 16 | patch. */
#define HWPMC_API_VERSION	0x01000000u

#define HWPMC_DEVICE		"/dev/hwpmc"

#define HWPMC_NAME_MAX		64	/* with the terminating zero */
#define HWPMC_CLASS_MAX		8	/* classes on one machine */
#define HWPMC_ROW_MAX		64	/* rows on one machine */

/* ------------------------------------------------------------------------ */
/* Words                                                                     */

/* How a PMC is used. "System" modes are bound to one CPU, the others follow
 * the threads of the processes that they are attached to. */
enum hwpmc_mode {
	HWPMC_MODE_SS = 0,		/* system scope, sampling */
	HWPMC_MODE_SC = 1,		/* system scope, counting */
	HWPMC_MODE_TS = 2,		/* process scope, sampling */
	HWPMC_MODE_TC = 3,		/* process scope, counting */
};

/* States: the first two of a row on a CPU, the others of a PMC. */
enum hwpmc_state {
	HWPMC_STATE_DISABLED = 0,	/* by the administrator */
	HWPMC_STATE_FREE = 1,
	HWPMC_STATE_ALLOCATED = 2,
	HWPMC_STATE_STOPPED = 3,
	HWPMC_STATE_RUNNING = 4,
	HWPMC_STATE_DELETED = 5,
};

/* What a row is used for, the same on all CPUs. */
enum hwpmc_disp {
	HWPMC_DISP_STANDALONE = 0,	/* system-scope PMCs, disabled CPUs */
	HWPMC_DISP_FREE = 1,
	HWPMC_DISP_THREAD = 2,		/* process-scope PMCs */
	HWPMC_DISP_UNKNOWN = 3,
};

/* Classes, FreeBSD's numbers; those removed there keep their first number
 * where it is free. Linux-only classes begin at 0x80. */
enum hwpmc_class_id {
	HWPMC_CLASS_TSC = 0x00,
	HWPMC_CLASS_K7 = 0x01,		/* reserved: FreeBSD's old AMD K7 */
	HWPMC_CLASS_K8 = 0x02,		/* AMD core counters, all families */
	HWPMC_CLASS_IBS = 0x03,
	HWPMC_CLASS_IAF = 0x06,		/* Intel fixed-function */
	HWPMC_CLASS_IAP = 0x07,		/* Intel programmable */
	HWPMC_CLASS_UCF = 0x08,
	HWPMC_CLASS_UCP = 0x09,
	HWPMC_CLASS_SOFT = 0x0f,
	HWPMC_CLASS_RAPL = 0x19,
	HWPMC_CLASS_PERF = 0x1a,
	HWPMC_CLASS_P6 = 0x80,		/* Intel Pentium Pro family */
	HWPMC_CLASS_P4 = 0x81,		/* Intel Netburst */
};

/* Capabilities of a class, and what a request needs. */
#define HWPMC_CAP_INTERRUPT	(1u << 0)	/* can interrupt: sampling */
#define HWPMC_CAP_USER		(1u << 1)	/* count in user mode */
#define HWPMC_CAP_SYSTEM	(1u << 2)	/* count in kernel mode */
#define HWPMC_CAP_EDGE		(1u << 3)	/* count transitions */
#define HWPMC_CAP_THRESHOLD	(1u << 4)	/* compare with a threshold */
#define HWPMC_CAP_READ		(1u << 5)
#define HWPMC_CAP_WRITE		(1u << 6)
#define HWPMC_CAP_INVERT	(1u << 7)	/* invert the threshold */
#define HWPMC_CAP_QUALIFIER	(1u << 8)	/* unit masks and such */
#define HWPMC_CAP_PRECISE	(1u << 9)
#define HWPMC_CAP_TAGGING	(1u << 10)
#define HWPMC_CAP_CASCADE	(1u << 11)
#define HWPMC_CAP_SYSWIDE	(1u << 12)	/* counts the whole system */
#define HWPMC_CAP_DOMWIDE	(1u << 13)	/* counts a whole package */
#define HWPMC_CAP_ALL		((1u << 14) - 1)

/* Flags of PMCALLOCATE. */
#define HWPMC_F_DESCENDANTS	0x00000002u	/* and all children, now and later */
#define HWPMC_F_LOG_PROCCSW	0x00000004u	/* log at each switch-out */
#define HWPMC_F_LOG_PROCEXIT	0x00000008u	/* log at each exit */
#define HWPMC_F_KGMON		0x00000040u	/* drives the kernel histogram */
#define HWPMC_F_CALLCHAIN	0x00000080u
#define HWPMC_F_USERCALLCHAIN	0x00000100u
#define HWPMC_F_EV_PMU		0x00000200u	/* config holds the raw event */
/* Linux only: a process counts from its next exec on, not from its attach; so
 * that a tool that starts a program counts that program and nothing of itself. */
#define HWPMC_F_EXEC_START	0x00100000u
#define HWPMC_F_ALL		0x001003ceu

/* Flags of PMCRW. */
#define HWPMC_F_NEWVALUE	0x00000010u	/* set `value` */
#define HWPMC_F_OLDVALUE	0x00000020u	/* return the value (before) */

/* "Any CPU": what a process-scope PMC must ask for. */
#define HWPMC_CPU_ANY		0xffffffffu
#define HWPMC_ID_INVALID	0xffffffffu

/*
 * A PMC's id: cpu [31:20] (0xfff: any), mode [19:16], class [15:8], row [7:0].
 * Ids have a meaning for their owner only: two owners may hold equal ones.
 */
#define HWPMC_ID_CPU(id)	((__u32)(id) >> 20 & 0xfff)
#define HWPMC_ID_MODE(id)	((__u32)(id) >> 16 & 0xf)
#define HWPMC_ID_CLASS(id)	((__u32)(id) >> 8 & 0xff)
#define HWPMC_ID_ROW(id)	((__u32)(id) & 0xff)
#define HWPMC_ID_MAKE(cpu, mode, cl, row)				\
	(((__u32)(cpu) & 0xfff) << 20 | ((__u32)(mode) & 0xf) << 16 |	\
	 ((__u32)(cl) & 0xff) << 8 | ((__u32)(row) & 0xff))

/* Event numbers (`ev`) of the classes that have them. */
#define HWPMC_EV_NONE		0
#define HWPMC_EV_TSC		0x1000
#define HWPMC_EV_IAF_FIRST	0x10000	/* + number of the fixed counter */
#define HWPMC_EV_SOFT_FIRST	0x20000
#define HWPMC_EV_SOFT_LAST	0x20fff

/*
 * Events of class SOFT. The clocks tick on every CPU 1000, 127 and 8128 times a
 * second, for whatever runs there; they and the page faults can be told apart
 * by mode, the others happen in the kernel. LOCK_FAILED needs Linux 5.19.
 */
#define HWPMC_EV_SOFT_CLOCK_HARD	0x20000
#define HWPMC_EV_SOFT_CLOCK_STAT	0x20001
#define HWPMC_EV_SOFT_CLOCK_PROF	0x20002
#define HWPMC_EV_SOFT_LOCK_FAILED	0x20003
#define HWPMC_EV_SOFT_PAGE_FAULT_ALL	0x20004
#define HWPMC_EV_SOFT_PAGE_FAULT_READ	0x20005
#define HWPMC_EV_SOFT_PAGE_FAULT_WRITE	0x20006
#define HWPMC_EV_SOFT_CONTEXT_SWITCH	0x20007
#define HWPMC_EV_SOFT_CPU_MIGRATION	0x20008
/* From here on the kernel's tracepoints, as GETDYNEVENTINFO names them. */
#define HWPMC_EV_SOFT_TRACEPOINT	0x20010

/*
 * Why an operation was refused: hdr.reason. Numbers are never reused; new ones
 * are added before HWPMC_WHY__COUNT. What hdr.detail holds is in brackets.
 */
enum hwpmc_reason {
	HWPMC_WHY_NONE = 0,
	/* the call itself */
	HWPMC_WHY_UNKNOWN_OP = 1,	/* no such operation [its number] */
	HWPMC_WHY_NOT_YET = 2,		/* known, not offered by this module [number] */
	HWPMC_WHY_RESERVED = 3,		/* a reserved field is not zero */
	HWPMC_WHY_SIZE = 4,		/* structure too short [smallest size], or
					 * too long with unknown contents */
	HWPMC_WHY_BAD_ADDRESS = 5,	/* pointer inside the structure */
	HWPMC_WHY_NO_MEMORY = 6,
	HWPMC_WHY_VERSION = 7,		/* client is newer than the module */
	/* who is asking */
	HWPMC_WHY_NOT_OWNER = 8,	/* descriptor of another process [its pid] */
	HWPMC_WHY_NO_PMCS = 9,		/* nothing was allocated by this owner */
	HWPMC_WHY_REVOKED = 10,		/* the module is going away */
	HWPMC_WHY_PRIV_SYSTEM = 11,	/* system scope needs CAP_PERFMON */
	HWPMC_WHY_PRIV_ADMIN = 12,	/* PMCADMIN needs CAP_SYS_ADMIN */
	HWPMC_WHY_PRIV_ATTACH = 13,	/* no ptrace access to the process [pid] */
	HWPMC_WHY_PRIV_TUNABLE = 14,	/* unprivileged_proc_debug=0 [pid] */
	/* PMCALLOCATE */
	HWPMC_WHY_MODE = 15,		/* no such mode */
	HWPMC_WHY_CPU_RANGE = 16,	/* no such CPU [highest] */
	HWPMC_WHY_CPU_WANT_ANY = 17,	/* process scope needs CPU_ANY */
	HWPMC_WHY_CPU_WANT_ONE = 18,	/* system scope needs one CPU */
	HWPMC_WHY_CPU_OFFLINE = 19,	/* absent or offline [cpu] */
	HWPMC_WHY_FLAGS = 20,		/* unknown flags [the unknown ones] */
	HWPMC_WHY_FLAGS_MODE = 21,	/* flag does not go with the mode [it] */
	HWPMC_WHY_CLASS = 22,		/* class not on this machine [class] */
	HWPMC_WHY_CAPS = 23,		/* class lacks a capability [missing] */
	HWPMC_WHY_EVENT = 24,		/* no such event in this class */
	HWPMC_WHY_EVENT_BITS = 25,	/* reserved bits in config [bit number] */
	HWPMC_WHY_EVENT_ROWS = 26,	/* no row of the class can count it */
	HWPMC_WHY_ROWS_BUSY = 27,	/* rows that could are all taken [the last] */
	HWPMC_WHY_ROW_DISABLED = 28,	/* by the administrator [row] */
	HWPMC_WHY_PMU_RESERVED = 29,	/* perf (or the NMI watchdog) holds the
					 * counters [MSR that was refused] */
	HWPMC_WHY_PMU_RUNNING = 30,	/* a counter runs that nobody reserved:
					 * firmware or a hypervisor [MSR] */
	/* operations on a PMC */
	HWPMC_WHY_ID = 31,		/* no such PMC */
	HWPMC_WHY_SYSTEM_SCOPE = 32,	/* cannot be attached or detached */
	HWPMC_WHY_PID = 33,		/* no possible process id [pid] */
	HWPMC_WHY_NO_PROCESS = 34,	/* no such process [pid] */
	HWPMC_WHY_EXITING = 35,		/* process is exiting [pid] */
	HWPMC_WHY_RUNNING = 36,		/* must be stopped first */
	HWPMC_WHY_ATTACHED = 37,	/* already attached to it [pid] */
	HWPMC_WHY_TARGET_ROW = 38,	/* the process has another PMC in this row
					 * [pid] */
	HWPMC_WHY_NOT_TARGET = 39,	/* process is not measured at all [pid] */
	HWPMC_WHY_NOT_ATTACHED = 40,	/* process is measured by others [pid] */
	HWPMC_WHY_NO_TARGETS = 41,	/* the last target process is gone */
	HWPMC_WHY_NOT_STARTED = 42,	/* stop of a PMC that never ran */
	HWPMC_WHY_RW_FLAGS = 43,	/* NEWVALUE, OLDVALUE or both */
	HWPMC_WHY_RW_MODE = 44,		/* sampling PMCs hold no count */
	HWPMC_WHY_READ_ONLY = 45,	/* the class cannot be written */
	HWPMC_WHY_NO_LOG = 46,		/* needs a configured log */
	HWPMC_WHY_LOG_EXISTS = 47,
	HWPMC_WHY_LOG_FD = 48,		/* descriptor not open for writing, or of
					 * what the kernel cannot write to [fd] */
	HWPMC_WHY_LOG_ERROR = 49,	/* an earlier write failed [errno] */
	HWPMC_WHY_NO_RDPMC = 50,	/* class is not readable from user mode */
	HWPMC_WHY_MSR_OWNER_ONLY = 51,	/* must be attached to its owner alone */
	HWPMC_WHY_MSR_TAKEN = 52,	/* attach after PMCGETMSR */
	/* PMCADMIN, GETPMCINFO */
	HWPMC_WHY_ADMIN_STATE = 53,	/* only DISABLED and FREE can be asked */
	HWPMC_WHY_ROW = 54,		/* no such row [highest] */
	HWPMC_WHY_ROW_IN_USE = 55,	/* [row] */
	HWPMC_WHY_BUFFER = 56,		/* array too small [entries needed] */
	/* counting went on without some thread */
	HWPMC_WHY_INCOMPLETE = 57,	/* no memory for a new thread or process */
	/* CONFIGURELOG */
	HWPMC_WHY_RING_SIZE = 58,	/* no power of two, too small or too large
					 * [largest, KiB] */
	HWPMC_WHY_LOCKED_MEMORY = 59,	/* beyond RLIMIT_MEMLOCK [KiB needed] */
	HWPMC_WHY_LOG_CLOSED = 60,	/* it was closed: end it and begin anew */
	HWPMC_WHY_KGMON = 61,		/* no such command [command] */
	HWPMC_WHY_PMU_REFUSED = 62,	/* a register of the counters faults, as
					 * where a hypervisor filters it [MSR] */
	HWPMC_WHY__COUNT
};

/* ------------------------------------------------------------------------ */
/* Structures                                                                */

/* Begins every argument. Both fields are output. */
struct hwpmc_hdr {
	__u32	reason;			/* enum hwpmc_reason */
	__s32	detail;			/* see the reason */
};

/*
 * FLUSHLOG (1), CLOSELOG (17), REVOKE (32) take no more than this.
 * REVOKE takes PMCs and logs from all owners but the caller's process: who held any
 * gets SIGBUS, and each further operation of any of them is ENODEV REVOKED, so that
 * the module can be unloaded once they have closed. Errors: EPERM PRIV_ADMIN.
 * FLUSHLOG: wait until all records so far are written (descriptor form), or lie
 * in the rings (mapped form), drops declared. Errors: EINVAL NO_LOG; the errno of
 * the write that failed, LOG_ERROR; EINTR; EIO PMU_REFUSED (samples are missing that
 * nobody counted).
 * CLOSELOG: no records any more; what there is will still be written. PMCs that
 * need the log are stopped. Errors: EINVAL NO_LOG.
 */
struct hwpmc_op_simple {
	struct hwpmc_hdr hdr;
};

/*
 * CONFIGURELOG (0): begin this owner's log, or, with logfd -1 and no flags, end
 * it: PMCs that need it are stopped, what is not yet written is discarded.
 *
 * Without flags a thread of the kernel writes the log to the descriptor logfd
 * (a file, pipe or socket; the module keeps a reference) with the owner's
 * credentials. The first write that fails ends logging: SIGIO, and its errno at
 * the next FLUSHLOG. With HWPMC_LOG_F_MAPPED (logfd -1) the owner maps the rings
 * (hwpmc_log.h) and reads them itself; poll() on the device tells when.
 *
 * Errors: EINVAL FLAGS, NO_LOG (-1 without a log), RING_SIZE; EBUSY LOG_EXISTS;
 * EBADF LOG_FD; EAGAIN no helper thread; ENOMEM; EPERM LOCKED_MEMORY.
 */
#define HWPMC_LOG_F_MAPPED	0x1u

struct hwpmc_op_configurelog {
	struct hwpmc_hdr hdr;
	__s32	logfd;
	__u32	flags;			/* HWPMC_LOG_F_* */
	__u32	ring_size;		/* bytes a CPU, a power of two, at least a
					 * page; 0: the default. Out: as it is */
	__u32	wakeup;			/* bytes in a ring that wake the reader; 0:
					 * a quarter of it */
};

/* A class as GETCPUINFO tells it. */
struct hwpmc_classinfo {
	__u32	class;			/* enum hwpmc_class_id */
	__u32	caps;			/* HWPMC_CAP_* */
	__u32	width;			/* bits of a counter */
	__u32	num;			/* rows */
	__u32	first;			/* its first row */
	__u32	__reserved;
};

/*
 * GETCPUINFO (2): the machine. No errors.
 * `pmu_state` tells who has the hardware counters now.
 */
enum hwpmc_pmu_state {
	HWPMC_PMU_NONE = 0,		/* no usable PMU here */
	HWPMC_PMU_IDLE = 1,		/* not claimed by this module */
	HWPMC_PMU_CLAIMED = 2,		/* by this module */
	HWPMC_PMU_HELD = 3,		/* by perf or the NMI watchdog */
};

struct hwpmc_op_getcpuinfo {
	struct hwpmc_hdr hdr;
	__u32	cputype;		/* FreeBSD's enum pmc_cputype, 0x400 generic */
	__u32	ncpu;			/* highest possible CPU number + 1 */
	__u32	npmc;			/* rows of a CPU, all classes */
	__u32	nclass;
	struct hwpmc_classinfo classes[HWPMC_CLASS_MAX];
	__u32	pmu_state;		/* enum hwpmc_pmu_state */
	__u32	pmu_version;		/* Intel: perfmon version; AMD: 0, 1, 2 */
	char	cpuid[HWPMC_NAME_MAX];	/* vendor-family-model-stepping */
};

/* GETDRIVERSTATS (3): counters of the module since it was loaded. No errors. */
struct hwpmc_op_getdriverstats {
	struct hwpmc_hdr hdr;
	__u64	intr_ignored;		/* NMIs that were not ours */
	__u64	intr_processed;		/* overflows */
	__u64	intr_bufferfull;	/* of these: the ring had no room */
	__u64	syscalls;		/* operations, and those that failed */
	__u64	syscall_errors;
	__u64	buffer_requests;	/* records that asked a ring for room */
	__u64	buffer_requests_failed;	/* of these: there was none */
	__u64	log_sweeps;		/* rounds of the threads that write logs */
	__u64	threads_missed;		/* new threads that no memory was left for */
	__u64	switch_programmed;	/* switch-ins that had to write an evsel */
};

/*
 * GETMODULEVERSION (4): the caller's version in, the module's out.
 * Errors: EPROTONOSUPPORT VERSION, client's major.minor is newer.
 */
struct hwpmc_op_getmoduleversion {
	struct hwpmc_hdr hdr;
	__u32	version;
	__u32	__reserved;
};

/* One row of one CPU, as GETPMCINFO tells it. */
struct hwpmc_pmcinfo {
	char	name[HWPMC_NAME_MAX];	/* "IAP-3", "TSC" */
	__u32	class;
	__u32	enabled;		/* 0: disabled by the administrator */
	__u32	rowdisp;		/* enum hwpmc_disp */
	__s32	ownerpid;		/* -1: none. Process scope: none */
	__u32	mode;			/* of the owner's PMC */
	__u32	event;
	__u32	flags;
	__s32	users;			/* PMCs of the row: > 0 process, < 0 system */
	__u64	config;			/* raw event */
	__u64	reloadcount;
};

/*
 * GETPMCINFO (5): all rows of one CPU. `npmc` in: entries of the array at
 * `pmcs`; out: rows. Errors: EINVAL CPU_RANGE, BUFFER; ENXIO CPU_OFFLINE;
 * EFAULT BAD_ADDRESS; ENOMEM NO_MEMORY.
 */
struct hwpmc_op_getpmcinfo {
	struct hwpmc_hdr hdr;
	__u32	cpu;
	__u32	npmc;
	__aligned_u64 pmcs;		/* struct hwpmc_pmcinfo * */
};

/*
 * PMCADMIN (6): disable (or enable, HWPMC_STATE_FREE) a row on a CPU.
 * Errors: EPERM PRIV_ADMIN; EINVAL CPU_RANGE, ROW, ADMIN_STATE; ENXIO
 * CPU_OFFLINE; EBUSY ROW_IN_USE.
 */
struct hwpmc_op_pmcadmin {
	struct hwpmc_hdr hdr;
	__u32	cpu;
	__u32	row;
	__u32	state;			/* enum hwpmc_state */
	__u32	__reserved;
};

/*
 * PMCALLOCATE (7): find a row for an event and reserve it.
 *
 * The event is `config` where HWPMC_F_EV_PMU is set, in the class's own form:
 *   IAP  event [7:0], umask [15:8], edge [18], any [21], invert [23],
 *        threshold [31:24], as in IA32_PERFEVTSELx; other bits must be 0:
 *        user, kernel, interrupt and enable are the module's. config1:
 *        OFFCORE_RSP for the events that have one.
 *   IAF  event [7:0] and umask [15:8] of a fixed event.
 *   K8   event [7:0] and [35:32], umask [15:8], edge [18], invert [23],
 *        threshold [31:24], as in PERF_CTL.
 * else the number `ev` (TSC, IAF, SOFT). CAP_USER and CAP_SYSTEM say in which
 * modes to count; neither means both.
 *
 * `count`: counting, the initial value; sampling, the period.
 *
 * Errors in the order of the checks: EINVAL MODE, CPU_RANGE, CPU_WANT_ANY,
 * CPU_WANT_ONE; ENXIO CPU_OFFLINE; EPERM PRIV_SYSTEM; EINVAL FLAGS,
 * FLAGS_MODE, CLASS; EOPNOTSUPP CAPS; EINVAL EVENT, EVENT_BITS, EVENT_ROWS,
 * ROWS_BUSY; EPERM ROW_DISABLED; EBUSY PMU_RESERVED, PMU_RUNNING; EIO PMU_REFUSED;
 * ENOMEM.
 */
struct hwpmc_op_pmcallocate {
	struct hwpmc_hdr hdr;
	__u32	caps;			/* HWPMC_CAP_* needed */
	__u32	cpu;			/* HWPMC_CPU_ANY in process scope */
	__u32	class;			/* enum hwpmc_class_id */
	__u32	ev;			/* without EV_PMU */
	__u32	flags;			/* HWPMC_F_* */
	__u32	mode;			/* enum hwpmc_mode */
	__u32	pmcid;			/* out */
	__u32	__reserved;
	__u64	count;
	__u64	config;			/* with EV_PMU */
	__u64	config1;
	__u64	config2;		/* must be 0 */
};

/*
 * PMCATTACH (8), PMCDETACH (9): pid 0 is the caller. With DESCENDANTS, all
 * present descendants too.
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
 * PMCGETMSR (10): the index with which RDPMC reads this PMC in user mode. The PMC
 * is of process scope, without DESCENDANTS, and attached to its owner alone; from
 * then on it cannot be attached to others, and the owner's address space may use
 * RDPMC until the PMC is detached or released, or the owner executes a program. A
 * counter begins at 0 each time that a thread of the owner is switched in: what it
 * means says the thread's page, see struct hwpmc_user_row. Other counters read 0.
 * Errors: EINVAL ID, MSR_OWNER_ONLY; ENOSYS NO_RDPMC [0: class; 1: RDPMC is
 * switched off on this machine]; ENOMEM.
 */
struct hwpmc_op_getmsr {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	msr;
};

/*
 * The page of a thread: a row each, read-only, at offset HWPMC_USER_OFFSET of the
 * device, HWPMC_USER_SIZE bytes, MAP_SHARED, mapped by each thread for itself
 * once PMCGETMSR was done. Errors of mmap(): ESRCH the thread counts for no PMC,
 * or is not of the owner; EACCES writable; EINVAL size or MAP_PRIVATE; ENOMEM.
 *
 * Where `sum` is equal to `seq` the count of the PMC, as PMCRW would give it, is
 *
 *	rdpmc(index) + total
 *
 * (no other thread counts for it), and where `own` is, with `thread` in place of
 * `total`, the events of this thread since it has the page: both if `seq` is the
 * same before and after. Where it is not equal RDPMC may fault; ask by PMCRW.
 * Only the thread itself may read so. A child finds in its copy that nothing is
 * equal.
 */
struct hwpmc_user_row {
	__u32	seq;			/* changes with all that follows */
	__u32	own;			/* equal to seq: .thread holds */
	__u32	sum;			/* equal to seq: .total holds */
	__u32	index;			/* of RDPMC */
	__u64	thread;			/* to be added, modulo 2^64 */
	__u64	total;
	__u64	__reserved[4];
};

#define HWPMC_USER_OFFSET	(1ull << 35)
#define HWPMC_USER_SIZE		4096

/*
 * PMCRELEASE (11), PMCSTART (14), PMCSTOP (15).
 * Errors of all: EINVAL ID; ESRCH NO_PMCS, NOT_OWNER. PMCSTART: EBADFD NO_LOG;
 * ESRCH NO_TARGETS; ENXIO CPU_OFFLINE. A process-scope PMC that was never
 * attached is attached to its owner, with the errors of that. PMCSTOP: EINVAL
 * NOT_STARTED; ENXIO CPU_OFFLINE. Both: EIO PMU_REFUSED, in which case it stands
 * still all the same; PMCSTOP only of what samples or logs. Starting what runs and stopping what is
 * stopped succeed.
 */
struct hwpmc_op_pmc {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	__reserved;
};

/*
 * PMCRW (12): OLDVALUE returns the count, NEWVALUE then sets it.
 * The count is 64 bits wide whatever the hardware is, and exact: it has in it
 * what all target threads have counted before the call, on all CPUs.
 * Errors: EINVAL ID, RW_FLAGS, RW_MODE; EBUSY RUNNING (NEWVALUE); EOPNOTSUPP
 * READ_ONLY; ENXIO CPU_OFFLINE; ENOMEM INCOMPLETE (value is returned all the
 * same: events of a thread that could not be followed are missing in it); EIO
 * PMU_REFUSED (the hardware has refused what was written to it: nobody vouches for
 * the count, also if it was counted before; release all PMCs and begin anew).
 */
struct hwpmc_op_pmcrw {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	flags;
	__u64	value;
};

/*
 * PMCSETCOUNT (13): the initial count, or the sampling period.
 * Errors: EINVAL ID; EBUSY RUNNING; EOPNOTSUPP READ_ONLY.
 */
struct hwpmc_op_pmcsetcount {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	__reserved;
	__u64	count;
};

/* WRITELOG (16): add a user record. Errors: EINVAL NO_LOG. */
struct hwpmc_op_writelog {
	struct hwpmc_hdr hdr;
	__u32	userdata;
	__u32	__reserved;
};

/*
 * GETDYNEVENTINFO (18): the events of a class that have names, for class SOFT.
 * Their numbers are the same until the machine is booted again. `nevent` in:
 * entries of the array at `events`; out: events.
 * Errors: EINVAL CLASS, BUFFER [events there are]; EFAULT BAD_ADDRESS.
 */
struct hwpmc_dynevent {
	char	name[HWPMC_NAME_MAX];
	__u32	ev;
	__u32	__reserved;
};

struct hwpmc_op_getdyneventinfo {
	struct hwpmc_hdr hdr;
	__u32	class;
	__u32	nevent;			/* in: entries of the array; out: events */
	__aligned_u64 events;		/* struct hwpmc_dynevent * */
};

/*
 * KGMON (33): the histogram of kernel addresses that system-scope sampling PMCs
 * with HWPMC_F_KGMON drive while it is on. One for the machine; it stays when its
 * PMCs are gone, until it is reset. READ: `nentry` in: entries of the array at
 * `entries` (0: say only how many there are); out: entries, of which several may
 * be of one address. `on` and `users` are told by each command.
 * Errors: EPERM PRIV_SYSTEM; EINVAL KGMON, BUFFER [entries needed]; EFAULT
 * BAD_ADDRESS; ENOMEM NO_MEMORY.
 */
enum hwpmc_kgmon_command {
	HWPMC_KGMON_OFF,
	HWPMC_KGMON_ON,
	HWPMC_KGMON_RESET,
	HWPMC_KGMON_READ,
};

struct hwpmc_kgmon_entry {
	__u64	address;
	__u64	count;
};

struct hwpmc_op_kgmon {
	struct hwpmc_hdr hdr;
	__u32	command;
	__u32	nentry;
	__aligned_u64 entries;		/* struct hwpmc_kgmon_entry * */
	__u32	on;			/* out: it collects */
	__u32	users;			/* out: PMCs that drive it */
	__u64	kernel;			/* out: samples in the table, */
	__u64	user;			/* in user mode, not in it, */
	__u64	lost;			/* and without room in it */
};

/* GETCAPS (19): what a PMC's row can do. Errors: EINVAL ID. */
struct hwpmc_op_getcaps {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	caps;
};

/* ------------------------------------------------------------------------ */
/* Operations. Numbers are never reused; 0xEF is the type of all.            */

#define HWPMC_IOC		0xef

enum hwpmc_op {
	HWPMC_OP_CONFIGURELOG = 0,
	HWPMC_OP_FLUSHLOG = 1,
	HWPMC_OP_GETCPUINFO = 2,
	HWPMC_OP_GETDRIVERSTATS = 3,
	HWPMC_OP_GETMODULEVERSION = 4,
	HWPMC_OP_GETPMCINFO = 5,
	HWPMC_OP_PMCADMIN = 6,
	HWPMC_OP_PMCALLOCATE = 7,
	HWPMC_OP_PMCATTACH = 8,
	HWPMC_OP_PMCDETACH = 9,
	HWPMC_OP_PMCGETMSR = 10,
	HWPMC_OP_PMCRELEASE = 11,
	HWPMC_OP_PMCRW = 12,
	HWPMC_OP_PMCSETCOUNT = 13,
	HWPMC_OP_PMCSTART = 14,
	HWPMC_OP_PMCSTOP = 15,
	HWPMC_OP_WRITELOG = 16,
	HWPMC_OP_CLOSELOG = 17,
	HWPMC_OP_GETDYNEVENTINFO = 18,
	HWPMC_OP_GETCAPS = 19,
	HWPMC_OP_REVOKE = 32,		/* Linux only, from here on */
	HWPMC_OP_KGMON = 33,
	HWPMC_OP__COUNT
};

#define HWPMC_IOWR(nr, type)	_IOWR(HWPMC_IOC, HWPMC_OP_##nr, struct type)

#define HWPMC_IOC_CONFIGURELOG	HWPMC_IOWR(CONFIGURELOG, hwpmc_op_configurelog)
#define HWPMC_IOC_FLUSHLOG	HWPMC_IOWR(FLUSHLOG, hwpmc_op_simple)
#define HWPMC_IOC_GETCPUINFO	HWPMC_IOWR(GETCPUINFO, hwpmc_op_getcpuinfo)
#define HWPMC_IOC_GETDRIVERSTATS HWPMC_IOWR(GETDRIVERSTATS, hwpmc_op_getdriverstats)
#define HWPMC_IOC_GETMODULEVERSION HWPMC_IOWR(GETMODULEVERSION, hwpmc_op_getmoduleversion)
#define HWPMC_IOC_GETPMCINFO	HWPMC_IOWR(GETPMCINFO, hwpmc_op_getpmcinfo)
#define HWPMC_IOC_PMCADMIN	HWPMC_IOWR(PMCADMIN, hwpmc_op_pmcadmin)
#define HWPMC_IOC_PMCALLOCATE	HWPMC_IOWR(PMCALLOCATE, hwpmc_op_pmcallocate)
#define HWPMC_IOC_PMCATTACH	HWPMC_IOWR(PMCATTACH, hwpmc_op_pmcattach)
#define HWPMC_IOC_PMCDETACH	HWPMC_IOWR(PMCDETACH, hwpmc_op_pmcattach)
#define HWPMC_IOC_PMCGETMSR	HWPMC_IOWR(PMCGETMSR, hwpmc_op_getmsr)
#define HWPMC_IOC_PMCRELEASE	HWPMC_IOWR(PMCRELEASE, hwpmc_op_pmc)
#define HWPMC_IOC_PMCRW		HWPMC_IOWR(PMCRW, hwpmc_op_pmcrw)
#define HWPMC_IOC_PMCSETCOUNT	HWPMC_IOWR(PMCSETCOUNT, hwpmc_op_pmcsetcount)
#define HWPMC_IOC_PMCSTART	HWPMC_IOWR(PMCSTART, hwpmc_op_pmc)
#define HWPMC_IOC_PMCSTOP	HWPMC_IOWR(PMCSTOP, hwpmc_op_pmc)
#define HWPMC_IOC_WRITELOG	HWPMC_IOWR(WRITELOG, hwpmc_op_writelog)
#define HWPMC_IOC_CLOSELOG	HWPMC_IOWR(CLOSELOG, hwpmc_op_simple)
#define HWPMC_IOC_GETDYNEVENTINFO HWPMC_IOWR(GETDYNEVENTINFO, hwpmc_op_getdyneventinfo)
#define HWPMC_IOC_GETCAPS	HWPMC_IOWR(GETCAPS, hwpmc_op_getcaps)
#define HWPMC_IOC_REVOKE	HWPMC_IOWR(REVOKE, hwpmc_op_simple)
#define HWPMC_IOC_KGMON		HWPMC_IOWR(KGMON, hwpmc_op_kgmon)

/* Sizes of the first release: what the module accepts at least. */
#define HWPMC_SIZE_V1_SIMPLE		8
#define HWPMC_SIZE_V1_CONFIGURELOG	16
#define HWPMC_SIZE_V1_GETCPUINFO	288
#define HWPMC_SIZE_V1_GETDRIVERSTATS	88
#define HWPMC_SIZE_V1_GETMODULEVERSION	16
#define HWPMC_SIZE_V1_GETPMCINFO	24
#define HWPMC_SIZE_V1_PMCADMIN		24
#define HWPMC_SIZE_V1_PMCALLOCATE	72
#define HWPMC_SIZE_V1_PMCATTACH		16
#define HWPMC_SIZE_V1_GETMSR		16
#define HWPMC_SIZE_V1_PMC		16
#define HWPMC_SIZE_V1_PMCRW		24
#define HWPMC_SIZE_V1_PMCSETCOUNT	24
#define HWPMC_SIZE_V1_WRITELOG		16
#define HWPMC_SIZE_V1_GETDYNEVENTINFO	24
#define HWPMC_SIZE_V1_GETCAPS		16
#define HWPMC_SIZE_V1_KGMON		56

#endif /* _UAPI_HWPMC_H */
