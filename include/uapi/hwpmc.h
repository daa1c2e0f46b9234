/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc.h - control interface between programs and the hwpmc module.
 *
 * Programs use the character device /dev/hwpmc. One open of it by one thread
 * group is an *owner*. What the owner allocates lives until the descriptor is
 * closed, or the owner executes another program, exits, or is revoked.
 *
 * Each operation is an ioctl whose number (_IOC_NR) is FreeBSD's PMC_OP number;
 * Linux-only operations begin at 32. The argument is always a pointer to one of
 * the structures below, which all begin with struct hwpmc_hdr.
 *
 * Extension: new fields are appended to structures. The ioctl number contains the
 * caller's size: a shorter structure is extended with zeroes, a longer one is
 * accepted only if the bytes unknown to this module are zero (else E2BIG).
 * Reserved fields must be zero on input (else EINVAL).
 *
 * Errors: an ioctl returns 0, or -1 with errno. On failure hdr.reason is the
 * cause (enum hwpmc_reason) and hdr.detail may name the object concerned (a row,
 * a process, a CPU: see each reason). On success both are 0. Both are unchanged
 * if the argument itself cannot be written (EFAULT).
 *
 * Linux lacks FreeBSD's EDOOFUS and EPROGMISMATCH; EBADFD and EPROTONOSUPPORT
 * replace them.
 */
#ifndef _UAPI_HWPMC_H
#define _UAPI_HWPMC_H

#include <linux/ioctl.h>
#include <linux/types.h>
#ifdef __cplusplus
#define class class_id		/* fields of this name, which is C++'s own */
#endif

/* Version of this interface: major << 24 | minor << 16 | patch. */
#define HWPMC_API_VERSION	0x01000000u

#define HWPMC_DEVICE		"/dev/hwpmc"

#define HWPMC_NAME_MAX		64	/* with the terminating zero */
#define HWPMC_CLASS_MAX		8	/* classes on one machine */
#define HWPMC_NOTES_MAX		12	/* notes on them */
#define HWPMC_ROW_MAX		64	/* rows on one machine */

/* ------------------------------------------------------------------------ */
/* Constants                                                                 */

/* Mode of a PMC. System scope: the PMC is bound to one CPU. Process scope: it
 * follows the threads of the processes that it is attached to. */
enum hwpmc_mode {
	HWPMC_MODE_SS = 0,		/* system scope, sampling */
	HWPMC_MODE_SC = 1,		/* system scope, counting */
	HWPMC_MODE_TS = 2,		/* process scope, sampling */
	HWPMC_MODE_TC = 3,		/* process scope, counting */
};

/* The first two are states of a row on a CPU, the others of a PMC. */
enum hwpmc_state {
	HWPMC_STATE_DISABLED = 0,	/* by the administrator */
	HWPMC_STATE_FREE = 1,
	HWPMC_STATE_ALLOCATED = 2,
	HWPMC_STATE_STOPPED = 3,
	HWPMC_STATE_RUNNING = 4,
	HWPMC_STATE_DELETED = 5,
};

/* Row disposition, the same on all CPUs. */
enum hwpmc_disp {
	HWPMC_DISP_STANDALONE = 0,	/* system-scope PMCs, disabled CPUs */
	HWPMC_DISP_FREE = 1,
	HWPMC_DISP_THREAD = 2,		/* process-scope PMCs */
	HWPMC_DISP_UNKNOWN = 3,
};

/* FreeBSD's numbers. A class that FreeBSD has removed keeps its old number if that is still
 * free there; classes that exist on Linux only begin at 0x80. */
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
	HWPMC_CLASS_TEST = 0xf0,	/* samples that a test makes; hwpmc(4), testclass */
};

/* Capabilities: of a class, or required by a request. */
#define HWPMC_CAP_INTERRUPT	(1u << 0)	/* interrupt at overflow: sampling */
#define HWPMC_CAP_USER		(1u << 1)	/* count in user mode */
#define HWPMC_CAP_SYSTEM	(1u << 2)	/* count in kernel mode */
#define HWPMC_CAP_EDGE		(1u << 3)	/* count transitions */
#define HWPMC_CAP_THRESHOLD	(1u << 4)	/* compare with a threshold */
#define HWPMC_CAP_READ		(1u << 5)
#define HWPMC_CAP_WRITE		(1u << 6)
#define HWPMC_CAP_INVERT	(1u << 7)	/* invert the threshold */
#define HWPMC_CAP_QUALIFIER	(1u << 8)	/* unit masks */
#define HWPMC_CAP_PRECISE	(1u << 9)
#define HWPMC_CAP_TAGGING	(1u << 10)
#define HWPMC_CAP_CASCADE	(1u << 11)
#define HWPMC_CAP_SYSWIDE	(1u << 12)	/* counts the whole system */
#define HWPMC_CAP_DOMWIDE	(1u << 13)	/* counts a whole package */
#define HWPMC_CAP_ALL		((1u << 14) - 1)

/* Flags of PMCALLOCATE. */
#define HWPMC_F_DESCENDANTS	0x00000002u	/* count present and future descendants too */
#define HWPMC_F_LOG_PROCCSW	0x00000004u	/* log the events of each slice */
#define HWPMC_F_LOG_PROCEXIT	0x00000008u	/* log the events at each exit */
#define HWPMC_F_KGMON		0x00000040u	/* samples go to the kernel histogram */
#define HWPMC_F_CALLCHAIN	0x00000080u	/* samples contain the call chain */
#define HWPMC_F_USERCALLCHAIN	0x00000100u	/* kernel samples: the user's chain too */
#define HWPMC_F_EV_PMU		0x00000200u	/* config contains the raw event */
/* Linux only: count a process from its next exec, and so no code of the tool that starts it. */
#define HWPMC_F_EXEC_START	0x00100000u
/* Linux only, with CALLCHAIN: user frames by unwind tables (_FP: or else by frame pointers) */
#define HWPMC_F_TABLES		0x00200000u
#define HWPMC_F_TABLES_FP	0x00400000u
#define HWPMC_F_TABLES_ALL	0x20000000u	/* files not added (UNWIND_F_NONE): NOT_READY */
/* Linux only: `count` is the number of samples per second of each CPU or thread. PERIOD records
 * contain the period of each sample. */
#define HWPMC_F_FREQUENCY	0x00800000u
#define HWPMC_FREQUENCY_MAX	1000000u	/* largest `count` with it */
/* Linux only, TC: the pid of an attach is a thread's id; that thread alone is counted, and none
 * that it makes. 0, and a start without an attach, mean the calling thread. */
#define HWPMC_F_THREAD		0x01000000u
/* Linux only: payload of samples beside CALLCHAIN (refusal: PAYLOAD), in PRECISE records. */
#define HWPMC_F_EXACT		0x02000000u	/* the address is that of the event */
#define HWPMC_F_BRANCHES	0x04000000u	/* the last branches */
#define HWPMC_F_MEMORY		0x08000000u	/* a memory access */
#define HWPMC_F_REGISTERS	0x10000000u
#define HWPMC_F_PAYLOAD		0x1e000000u	/* all four */
#define HWPMC_F_ALL		0x3ff003ceu

/* Flags of PMCRW. */
#define HWPMC_F_NEWVALUE	0x00000010u	/* set the count to `value` */
#define HWPMC_F_OLDVALUE	0x00000020u	/* return the previous count in `value` */

/* "Any CPU": required for a process-scope PMC. */
#define HWPMC_CPU_ANY		0xffffffffu
#define HWPMC_ID_INVALID	0xffffffffu

/*
 * A PMC's id: cpu [31:20], mode [19:16], class [15:8], row [7:0]. A process-scope PMC has no
 * CPU: bits [31:20] are 0xfff in the owner's first PMC and one less in each later one, so
 * the id of a released PMC is EINVAL until the owner has allocated 4,096 others.
 * An id is valid for its owner only; two owners may have the same id. CPUs from 4,095 up
 * cannot be in an id, and therefore have no PMCs of system scope (CPU_RANGE).
 */
#define HWPMC_ID_CPU(id)	((__u32)(id) >> 20 & 0xfff)
#define HWPMC_ID_MODE(id)	((__u32)(id) >> 16 & 0xf)
#define HWPMC_ID_CLASS(id)	((__u32)(id) >> 8 & 0xff)
#define HWPMC_ID_ROW(id)	((__u32)(id) & 0xff)
#define HWPMC_ID_MAKE(cpu, mode, cl, row)				\
	(((__u32)(cpu) & 0xfff) << 20 | ((__u32)(mode) & 0xf) << 16 |	\
	 ((__u32)(cl) & 0xff) << 8 | ((__u32)(row) & 0xff))

/* Kinds of core on machines whose CPUs are not alike: one bit per kind, in `kinds` of
 * PMCALLOCATE. */
#define HWPMC_KIND_CORE		0x00000001u	/* performance cores */
#define HWPMC_KIND_ATOM		0x00000002u	/* efficient cores */
#define HWPMC_KIND_LOWPOWER	0x00000004u	/* efficient cores of the low-power part */

/* Event numbers (`ev`). */
#define HWPMC_EV_NONE		0
#define HWPMC_EV_TSC		0x1000
#define HWPMC_EV_PERF_MPERF	0x1100
#define HWPMC_EV_PERF_APERF	0x1101
/* Energy in microjoules. All CPUs of a package share one counter. The exception is CORES on
 * AMD, the energy of one core, whose CPUs share one counter. */
#define HWPMC_EV_RAPL_FIRST	0x1200
#define HWPMC_EV_RAPL_PKG	0x1200
#define HWPMC_EV_RAPL_CORES	0x1201
#define HWPMC_EV_RAPL_GPU	0x1202
#define HWPMC_EV_RAPL_DRAM	0x1203
#define HWPMC_EV_RAPL_PLATFORM	0x1204
#define HWPMC_EV_TEST		0x1300	/* events that a test writes to testevents */
/*
 * Class IBS: AMD's instruction-based sampling. With EV_PMU, config has bits of the sampler's control
 * register: of fetches 57 (random count) and 59 (missed L3); of ops 19 (count ops, not cycles), 16
 * (missed L3), 63 and 62:59 (loads of at least (n + 1) * 128 cycles); config1 of Zen 6's second one:
 * of fetches 4:1 (at least n * 128 cycles), of ops 3 (streaming stores). EVENT_BITS: the processor
 * lacks this bit (of config1: + 64). Without EV_PMU: 57 of fetches; 19, where it exists, of ops.
 */
#define HWPMC_EV_IBS_FETCH	0x1400
#define HWPMC_EV_IBS_OP		0x1401
#define HWPMC_EV_IAF_FIRST	0x10000	/* + number of the fixed counter */
#define HWPMC_EV_SOFT_FIRST	0x20000
#define HWPMC_EV_SOFT_LAST	0x20fff

/*
 * Events of class SOFT. The clocks tick 1000, 127 and 8128 times a second on each
 * CPU, whatever runs there. Clocks and page faults can be restricted to user or
 * kernel mode; the other events occur in kernel mode only. LOCK_FAILED needs
 * Linux 5.19.
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
/* First number of the kernel's tracepoints; GETDYNEVENTINFO lists their names. */
#define HWPMC_EV_SOFT_TRACEPOINT	0x20010

/* Cause of a refusal: hdr.reason. Numbers are never reused; new ones are added
 * before HWPMC_WHY__COUNT. Text in brackets describes hdr.detail. */
enum hwpmc_reason {
	HWPMC_WHY_NONE = 0,
	/* malformed call */
	HWPMC_WHY_UNKNOWN_OP = 1,	/* no such operation [its number] */
	HWPMC_WHY_NOT_YET = 2,		/* not supported by this module [number] */
	HWPMC_WHY_RESERVED = 3,		/* a reserved field is not zero */
	HWPMC_WHY_SIZE = 4,		/* too short [minimum], or an unknown field is not 0 */
	HWPMC_WHY_BAD_ADDRESS = 5,	/* bad pointer in the structure */
	HWPMC_WHY_NO_MEMORY = 6,
	HWPMC_WHY_VERSION = 7,		/* client is newer than the module */
	/* owner and privileges */
	HWPMC_WHY_NOT_OWNER = 8,	/* descriptor of another process [its pid] */
	HWPMC_WHY_NO_PMCS = 9,		/* the owner has allocated no PMC */
	HWPMC_WHY_REVOKED = 10,		/* revoked to unload the module */
	HWPMC_WHY_PRIV_SYSTEM = 11,	/* system scope needs CAP_PERFMON [0: counting, which a
					 * tunable can permit; 1: sampling; 2: energy or
					 * frequency, counting too] */
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
	HWPMC_WHY_FLAGS_MODE = 21,	/* flag is not valid in the mode [flag] */
	HWPMC_WHY_CLASS = 22,		/* class not on this machine [class] */
	HWPMC_WHY_CAPS = 23,		/* class lacks a capability [missing] */
	HWPMC_WHY_EVENT = 24,		/* no such event in this class */
	HWPMC_WHY_EVENT_BITS = 25,	/* reserved bits in config [bit number] */
	HWPMC_WHY_EVENT_ROWS = 26,	/* no row can count it; on P4, also: it needs tags */
	HWPMC_WHY_ROWS_BUSY = 27,	/* all suitable rows are in use [last of them] */
	HWPMC_WHY_ROW_DISABLED = 28,	/* by the administrator [row] */
	HWPMC_WHY_PMU_RESERVED = 29,	/* perf or the NMI watchdog has the counters [its MSR] */
	HWPMC_WHY_PMU_RUNNING = 30,	/* firmware or a hypervisor has a counter running [MSR] */
	/* operations on a PMC */
	HWPMC_WHY_ID = 31,		/* no such PMC */
	HWPMC_WHY_SYSTEM_SCOPE = 32,	/* a system-scope PMC cannot be attached or detached */
	HWPMC_WHY_PID = 33,		/* invalid process id [pid] */
	HWPMC_WHY_NO_PROCESS = 34,	/* no such process [pid] */
	HWPMC_WHY_EXITING = 35,		/* process is exiting [pid] */
	HWPMC_WHY_RUNNING = 36,		/* the PMC must be stopped first */
	HWPMC_WHY_ATTACHED = 37,	/* already attached to the process [pid] */
	HWPMC_WHY_TARGET_ROW = 38,	/* the process has another PMC in this row [pid of its
					 * owner, 0: unknown] */
	HWPMC_WHY_NOT_TARGET = 39,	/* no PMC is attached to the process [pid] */
	HWPMC_WHY_NOT_ATTACHED = 40,	/* other PMCs are attached to it, this one is not [pid] */
	HWPMC_WHY_NO_TARGETS = 41,	/* the last target process has exited */
	HWPMC_WHY_NOT_STARTED = 42,	/* stop of a PMC that was never started */
	HWPMC_WHY_RW_FLAGS = 43,	/* NEWVALUE, OLDVALUE or both required */
	HWPMC_WHY_RW_MODE = 44,		/* sampling PMCs have no count */
	HWPMC_WHY_READ_ONLY = 45,	/* counters of the class are read-only */
	HWPMC_WHY_NO_LOG = 46,		/* needs a configured log */
	HWPMC_WHY_LOG_EXISTS = 47,	/* the owner already has a log */
	HWPMC_WHY_LOG_FD = 48,		/* the file cannot be written, or not by the kernel [fd] */
	HWPMC_WHY_LOG_ERROR = 49,	/* an earlier write failed [errno] */
	HWPMC_WHY_NO_RDPMC = 50,	/* RDPMC cannot read the class, or a PMC that counts on
					 * some kinds of core only */
	HWPMC_WHY_MSR_OWNER_ONLY = 51,	/* must be attached to its owner only */
	HWPMC_WHY_MSR_TAKEN = 52,	/* attach after PMCGETMSR */
	/* PMCADMIN, GETPMCINFO */
	HWPMC_WHY_ADMIN_STATE = 53,	/* not DISABLED or FREE */
	HWPMC_WHY_ROW = 54,		/* no such row [highest] */
	HWPMC_WHY_ROW_IN_USE = 55,	/* PMCs use the row [row] */
	HWPMC_WHY_BUFFER = 56,		/* array too small [entries needed] */
	/* the count lacks events of a thread */
	HWPMC_WHY_INCOMPLETE = 57,	/* no memory for a new thread or process */
	/* CONFIGURELOG */
	HWPMC_WHY_RING_SIZE = 58,	/* size is no power of two, or out of range [maximum, KiB] */
	HWPMC_WHY_LOCKED_MEMORY = 59,	/* beyond RLIMIT_MEMLOCK [KiB needed] */
	HWPMC_WHY_LOG_CLOSED = 60,	/* the log was closed: end it and configure another */
	HWPMC_WHY_KGMON = 61,		/* no such command [command] */
	HWPMC_WHY_PMU_REFUSED = 62,	/* access faulted [MSR, or HWPMC_FAULT_RDPMC | index] */
	/* PMCALLOCATE, class P4 */
	HWPMC_WHY_SIBLINGS = 63,	/* threads of a core share the counters [CPU whose sibling
					 * is online] */
	HWPMC_WHY_LOCKDOWN = 64,	/* kernel lockdown forbids samples of kernel mode */
	HWPMC_WHY_BATCH = 65,		/* no such command [command] */
	HWPMC_WHY_BATCH_COUNT = 66,	/* no entries, or too many [maximum] */
	/* PMCALLOCATE */
	HWPMC_WHY_PRIV_KERNEL = 67,	/* kernel mode needs CAP_PERFMON or unprivileged_kernel=1 */
	HWPMC_WHY_EVENT_SIBLINGS = 68,	/* the core's other thread must be offline [CPU whose
					 * sibling is online] */
	/* GETCPUINFO, in a machine without a class of hardware counters */
	HWPMC_WHY_NO_PMU = 69,		/* the processor describes no counters */
	HWPMC_WHY_PMU_GUEST = 70,	/* the hypervisor provides no counters */
	HWPMC_WHY_PMU_KINDS = 71,	/* a kind of core is not supported */
	HWPMC_WHY_PMU_UNKNOWN = 72,	/* the version, or a number of counters, is not supported
					 * [version] */
	HWPMC_WHY_PMU_BROKEN = 73,	/* registers lose values or fault [counters] */
	HWPMC_WHY_EVENT_PRECISE = 74,	/* counts only with precise sampling, not supported */
	/* UNWIND */
	HWPMC_WHY_UNWIND_ROW = 75,	/* row out of order, or invalid rule [row] */
	HWPMC_WHY_UNWIND_LIMIT = 76,	/* beyond kern.hwpmc.unwindtables [KiB needed] */
	HWPMC_WHY_UNWIND_FILES = 77,	/* too many files with the same hash [tables] */
	/* PMCALLOCATE, classes IAP and IAF */
	HWPMC_WHY_KIND = 78,		/* no such kind of core [kinds that exist; 0: CPUs are
					 * alike] */
	HWPMC_WHY_EVENT_KIND = 79,	/* only some kinds have the event; the request must name
					 * kinds [kinds that have it] */
	HWPMC_WHY_CPU_KIND = 80,	/* the CPU is of another kind [its kind] */
	HWPMC_WHY_PMU_SHARED = 81,	/* perfmon 6: perf cannot be kept out [MSR] */
	HWPMC_WHY_EVENT_NODE = 82,	/* the cores of a node share its counters: system scope
					 * only */
	/* GETCPUINFO: why a class is missing (struct hwpmc_classnote) */
	HWPMC_WHY_CLASS_NONE = 83,	/* the module supports none of this processor */
	HWPMC_WHY_CLASS_GUEST = 84,	/* the hypervisor provides none */
	HWPMC_WHY_CLASS_FAULT = 85,	/* its registers fault or read 0 */
	/* GETCPUINFO, PMCALLOCATE, under a hypervisor */
	HWPMC_WHY_EVENT_FILTERED = 86,	/* counts 0, while other events count [event and unit
					 * mask] */
	HWPMC_WHY_ROW_STILL = 87,	/* counters do not count, or their event is filtered
					 * [counters] */
	HWPMC_WHY_NO_INTERRUPT = 88,	/* an overflow of a counter did not interrupt */
	HWPMC_WHY_PMU_MEDIATED = 89,	/* on a host: KVM gave the counters to a guest */
	HWPMC_WHY_EVENT_TYPED = 90,	/* kCFI: no probe has the type of the tracepoint */
	HWPMC_WHY_LEAVING = 91,		/* reboot, halt or kexec has begun */
	HWPMC_WHY_REGISTER_CHANGED = 92, /* another program wrote it while it counted [MSR] */
	HWPMC_WHY_COUNTER_BACK = 93,	/* the count went back: machine moved or restored, or
					 * counter written [row] */
	HWPMC_WHY_COUNTER_TAKEN = 94,	/* the counter stopped: the host has taken it [row] */
	HWPMC_WHY_ROWS_AT_ONCE = 95,	/* the hypervisor provides fewer counters at a time
					 * [their number] */
	HWPMC_WHY_ONLY_LISTED = 96,	/* the hypervisor permits only architectural events
					 * [event] */
	HWPMC_WHY_ROW_MISREAD = 97,	/* RDPMC does not return the written value [counters] */
	HWPMC_WHY_PAYLOAD = 98,		/* PMCALLOCATE: class lacks a payload [missing flags] */
	/* GETCPUINFO: why class IBS is missing */
	HWPMC_WHY_IBS_ENTRY = 99,	/* firmware has assigned no interrupt to it */
	HWPMC_WHY_IBS_IN_USE = 100,	/* PMCALLOCATE: an event of perf samples by it [MSR] */
	HWPMC_WHY__COUNT
};

/* Set in the detail of PMU_REFUSED if RDPMC faulted; the other bits are its operand. It is set
 * in no number of an MSR. */
#define HWPMC_FAULT_RDPMC	0x20000000u

/* ------------------------------------------------------------------------ */
/* Structures                                                                */

/* First member of every argument. The module sets both fields. */
struct hwpmc_hdr {
	__u32	reason;			/* enum hwpmc_reason */
	__s32	detail;			/* see the reason */
};

/*
 * FLUSHLOG (1), CLOSELOG (17), REVOKE (32) have no other fields. REVOKE takes PMCs and logs from
 * all owners except the caller's process. An owner that held a log or a sampling PMC gets
 * SIGBUS; each later operation of every owner fails with ENODEV REVOKED, and poll() returns
 * POLLERR | POLLHUP (POLLHUP alone: the log has ended). Records not yet written to a
 * descriptor are lost; a mapped log ends with its last record. The module can be unloaded when
 * all owners have closed the device, and the last write and the release of every log's file
 * have returned. Errors: EPERM PRIV_ADMIN.
 * FLUSHLOG waits until all records so far, and the counts of running threads for PMCs with
 * LOG_PROCCSW, are written (descriptor form) or in the rings (mapped form), with drops
 * declared. Errors: EINVAL NO_LOG; the errno of a failed write, LOG_ERROR; EINTR; EIO
 * PMU_REFUSED, REGISTER_CHANGED, COUNTER_BACK, COUNTER_TAKEN (undeclared samples are missing).
 * CLOSELOG ends recording and stops the PMCs that need the log. Records already in the rings
 * are still written; then the module releases the log's file. If a ring of a mapped log has no
 * room for declared drops or the CLOSELOG record, the next FLUSHLOG writes them. Errors:
 * EINVAL NO_LOG.
 */
struct hwpmc_op_simple {
	struct hwpmc_hdr hdr;
};

/*
 * CONFIGURELOG (0): begin this owner's log, or, with logfd -1 and no flags, end
 * it: PMCs that need it are stopped, and unwritten records are discarded.
 *
 * Without flags a kernel thread writes the log to the descriptor logfd (a file,
 * pipe or socket; the module keeps a reference) with the owner's credentials. The
 * first failed write ends logging: the owner gets SIGIO, and the next FLUSHLOG
 * returns the errno. With HWPMC_LOG_F_MAPPED (logfd -1) the owner maps the rings
 * (hwpmc_log.h) and reads them itself; poll() on the device waits for records.
 *
 * Errors: EINVAL FLAGS, NO_LOG (-1 without a log), RING_SIZE; EBUSY LOG_EXISTS (also if 16
 * ended logs of this owner are still being written to their files); EBADF LOG_FD; EAGAIN the
 * kernel thread cannot be created; ENOMEM; EPERM LOCKED_MEMORY.
 */
#define HWPMC_LOG_F_MAPPED	0x1u

struct hwpmc_op_configurelog {
	struct hwpmc_hdr hdr;
	__s32	logfd;
	__u32	flags;			/* HWPMC_LOG_F_* */
	__u32	ring_size;		/* bytes per CPU, a power of two, at least a
					 * page; 0: the default. Out: actual size */
	__u32	wakeup;			/* bytes in a ring that wake the reader; 0:
					 * a quarter of it */
};

/* A class, as GETCPUINFO returns it. */
struct hwpmc_classinfo {
	__u32	class;			/* enum hwpmc_class_id */
	__u32	caps;			/* HWPMC_CAP_* */
	__u32	width;			/* bits of a counter */
	__u32	num;			/* rows */
	__u32	first;			/* its first row */
	__u32	__reserved;
};

/* A problem of a class, as GETCPUINFO returns it. */
struct hwpmc_classnote {
	__u32	class;			/* enum hwpmc_class_id */
	__u32	reason;			/* enum hwpmc_reason */
	__s32	detail;			/* see the reason */
	__u32	rows;			/* a bit per row of the class; 0: all rows */
};

/*
 * GETCPUINFO (2): describe the machine. No errors; in a machine without a class of hardware
 * counters hdr.reason is the cause: NO_PMU, PMU_GUEST, PMU_KINDS, PMU_UNKNOWN, PMU_BROKEN,
 * PMU_SHARED. `pmu_state` is the current holder of the hardware counters (on a kernel without
 * kprobes, the holder at the last attempt to allocate one). `notes` has an entry for each
 * class that a processor of this vendor can have and this machine lacks, with one of these
 * reasons or CLASS_NONE, CLASS_GUEST, CLASS_FAULT; and an entry for each problem that the last
 * claim of a class found: EVENT_FILTERED, ROW_STILL, NO_INTERRUPT, ROWS_AT_ONCE, ONLY_LISTED,
 * ROW_MISREAD.
 */
enum hwpmc_pmu_state {
	HWPMC_PMU_NONE = 0,		/* no usable PMU */
	HWPMC_PMU_IDLE = 1,		/* not claimed by this module */
	HWPMC_PMU_CLAIMED = 2,		/* by this module */
	HWPMC_PMU_HELD = 3,		/* by perf or the NMI watchdog */
};

struct hwpmc_op_getcpuinfo {
	struct hwpmc_hdr hdr;
	__u32	cputype;		/* FreeBSD's enum pmc_cputype; 0x400: generic */
	__u32	ncpu;			/* highest possible CPU number + 1 */
	__u32	npmc;			/* rows of a CPU, all classes */
	__u32	nclass;
	struct hwpmc_classinfo classes[HWPMC_CLASS_MAX];
	__u32	pmu_state;		/* enum hwpmc_pmu_state */
	__u32	pmu_version;		/* Intel: perfmon version; AMD: 0, 1, 2 */
	char	cpuid[HWPMC_NAME_MAX];	/* vendor-family-model-stepping */
	__u32	nnotes;
	__u32	__reserved;
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
};

/* GETDRIVERSTATS (3): counters of the module since it was loaded. No errors. */
struct hwpmc_op_getdriverstats {
	struct hwpmc_hdr hdr;
	__u64	intr_ignored;		/* NMIs from other sources */
	__u64	intr_processed;		/* overflows */
	__u64	intr_bufferfull;	/* overflows dropped: ring full */
	__u64	syscalls;		/* operations */
	__u64	syscall_errors;		/* failed operations */
	__u64	buffer_requests;	/* reservations in rings */
	__u64	buffer_requests_failed;	/* failed reservations: ring full */
	__u64	log_sweeps;		/* passes of the drain threads */
	__u64	threads_missed;		/* new threads not followed: no memory */
	__u64	switch_programmed;	/* switch-ins that wrote an event select */
};

/* GETMODULEVERSION (4): `version` in: the caller's HWPMC_API_VERSION; out: the module's.
 * Errors: EPROTONOSUPPORT VERSION: major.minor of the caller is newer. */
struct hwpmc_op_getmoduleversion {
	struct hwpmc_hdr hdr;
	__u32	version;
	__u32	__reserved;
};

/* One row of one CPU, as GETPMCINFO returns it. */
struct hwpmc_pmcinfo {
	char	name[HWPMC_NAME_MAX];	/* "IAP-3", "TSC" */
	__u32	class;
	__u32	enabled;		/* 0: disabled by the administrator */
	__u32	rowdisp;		/* enum hwpmc_disp */
	__s32	ownerpid;		/* -1: none, or process scope */
	__u32	mode;			/* of the owner's PMC */
	__u32	event;
	__u32	flags;
	__s32	users;			/* number of PMCs: > 0 in process scope, < 0 in system
					 * scope */
	__u64	config;			/* raw event */
	__u64	reloadcount;
};

/* GETPMCINFO (5): all rows of one CPU. `npmc` in: entries of the array at
 * `pmcs`; out: rows. Errors: EINVAL CPU_RANGE, BUFFER; ENXIO CPU_OFFLINE;
 * EFAULT BAD_ADDRESS; ENOMEM NO_MEMORY. */
struct hwpmc_op_getpmcinfo {
	struct hwpmc_hdr hdr;
	__u32	cpu;
	__u32	npmc;
	__aligned_u64 pmcs;		/* struct hwpmc_pmcinfo * */
};

/* PMCADMIN (6): disable (or enable, HWPMC_STATE_FREE) a row on a CPU.
 * Errors: EPERM PRIV_ADMIN; EINVAL CPU_RANGE, ROW, ADMIN_STATE; ENXIO
 * CPU_OFFLINE; EBUSY ROW_IN_USE. */
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
 * With HWPMC_F_EV_PMU the event is `config`, in the class's own format:
 *   IAP  event [7:0], umask [15:8], edge [18], any [21], invert [23],
 *        threshold [31:24], as in IA32_PERFEVTSELx; other bits must be 0: the
 *        module sets USR, OS, INT and EN. config1: OFFCORE_RSP for the events
 *        that have one.
 *   IAF  event [7:0] and umask [15:8] of a fixed event.
 *   K8   event [7:0] and [35:32], umask [15:8], edge [18], invert [23],
 *        threshold [31:24], as in PERF_CTL.
 *   P4   perf's raw code of Netburst: event mask [56:41], event [62:57] by its number
 *        in perf's list, compare [18], complement [19], threshold [23:20], edge [24],
 *        active thread [17:16] 0 or 3; other bits must be 0.
 * Without it the event is the number `ev` (TSC, IAF, SOFT). CAP_USER and
 * CAP_SYSTEM select the modes to count in; neither means both.
 *
 * A caller without CAP_PERFMON is delayed, here and in PMCOPEN, if its user claims the hardware
 * more than a hundred times per second.
 *
 * `kinds`, on a machine with several kinds of core (GETKINDS): 0 is valid for architectural
 * events, and for fixed counters that all kinds have; they count on all kinds. Every other
 * event belongs to some kinds, which the caller must name. A process-scope PMC then counts
 * nothing on other kinds; GETUNCOUNTED returns that time. A system-scope PMC counts the event
 * that its CPU's kind of core has.
 *
 * `count` in: the initial value, the sampling period, or with HWPMC_F_FREQUENCY the number of
 * samples per second, up to HWPMC_FREQUENCY_MAX. Out, for a PMC that samples: the nearest valid
 * value, which is used.
 *
 * Errors in this order: EINVAL MODE, CPU_RANGE, CPU_WANT_ANY, CPU_WANT_ONE; ENXIO CPU_OFFLINE;
 * EPERM PRIV_SYSTEM; EINVAL FLAGS, FLAGS_MODE, CLASS; EPERM PRIV_SYSTEM [2]; EOPNOTSUPP CAPS,
 * PAYLOAD; EPERM LOCKDOWN, PRIV_KERNEL; EINVAL EVENT; EOPNOTSUPP EVENT_TYPED; EINVAL KIND, CPU_KIND,
 * EVENT_KIND, EVENT_PRECISE, EVENT_BITS, EVENT_ROWS, SIBLINGS, ROWS_*; EPERM ROW_DISABLED;
 * EBUSY LEAVING, PMU_MEDIATED, PMU_RESERVED, PMU_RUNNING; EINVAL EVENT_SIBLINGS; EIO
 * PMU_REFUSED; ENOMEM.
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
	__u32	kinds;			/* HWPMC_KIND_* to count on; 0: all */
	__u64	count;
	__u64	config;			/* with EV_PMU */
	__u64	config1;
	__u64	config2;		/* must be 0 */
};

/* The same, with a name of the event for logs, of which at most 63 characters are used. SOFT
 * events have the kernel's names instead. */
struct hwpmc_op_pmcallocate_named {
	struct hwpmc_op_pmcallocate op;
	char	name[HWPMC_NAME_MAX];
};

/* PMCATTACH (8), PMCDETACH (9), PMCGETMSR (10), PMCOPEN (39) and the page of a thread. */
#include "hwpmc_target.h"

/*
 * PMCRELEASE (11), PMCSTART (14), PMCSTOP (15).
 * Errors of all: EINVAL ID; ESRCH NO_PMCS, NOT_OWNER. PMCSTART: EBADFD NO_LOG;
 * ESRCH NO_TARGETS; ENXIO CPU_OFFLINE. PMCSTART attaches a process-scope PMC that
 * was never attached to its owner, with the errors of PMCATTACH. PMCSTOP: EINVAL
 * NOT_STARTED; ENXIO CPU_OFFLINE. Both: EIO PMU_REFUSED (PMCSTOP only for a PMC
 * that samples or logs); the PMC is then stopped. PMCSTOP of a PMC that samples or
 * logs: EIO REGISTER_CHANGED, COUNTER_BACK, COUNTER_TAKEN, until it is started again;
 * samples are then missing without being counted as drops. Starting a running PMC and
 * stopping a stopped PMC succeed.
 */
struct hwpmc_op_pmc {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	__reserved;
};

/*
 * PMCRW (12): OLDVALUE returns the count, NEWVALUE then sets it.
 * The count has 64 bits whatever the width of the hardware counter. It is exact:
 * it includes all events of all target threads on all CPUs before the call.
 * Errors: EINVAL ID, RW_FLAGS, RW_MODE; EBUSY RUNNING (NEWVALUE); EOPNOTSUPP
 * READ_ONLY; ENXIO CPU_OFFLINE; ENOMEM INCOMPLETE (value is returned, but lacks
 * events of a thread for which there was no memory); EIO PMU_REFUSED (an access to
 * a counter register faulted, so the whole count is unreliable; to claim the counters
 * again, release all PMCs); EIO REGISTER_CHANGED, COUNTER_BACK, COUNTER_TAKEN (the
 * counter did not count all the time; the error remains until NEWVALUE or PMCSETCOUNT).
 * With both flags the new value is set even if one of these errors or INCOMPLETE is
 * returned.
 */
struct hwpmc_op_pmcrw {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	flags;
	__u64	value;
};

/* PMCSETCOUNT (13): set the count, the period or the frequency of a stopped PMC. Errors:
 * EINVAL ID; EBUSY RUNNING; EOPNOTSUPP READ_ONLY. */
struct hwpmc_op_pmcsetcount {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	__reserved;
	__u64	count;
};

/* WRITELOG (16): write a USERDATA record. Errors: EINVAL NO_LOG. */
struct hwpmc_op_writelog {
	struct hwpmc_hdr hdr;
	__u32	userdata;
	__u32	__reserved;
};

/*
 * GETDYNEVENTINFO (18): the named events of class SOFT. Their numbers are valid
 * until the next boot. `nevent` in: entries of the array at `events`; out: number of
 * events. Errors: EINVAL CLASS, BUFFER [entries needed]; EFAULT BAD_ADDRESS.
 */
struct hwpmc_dynevent {
	char	name[HWPMC_NAME_MAX];
	__u32	ev;
	__u32	reason;			/* 0, or why PMCALLOCATE refuses it here: EVENT_TYPED */
};

struct hwpmc_op_getdyneventinfo {
	struct hwpmc_hdr hdr;
	__u32	class;
	__u32	nevent;			/* in: entries of the array; out: events */
	__aligned_u64 events;		/* struct hwpmc_dynevent * */
};

/*
 * KGMON (33): the histogram of kernel addresses. System-scope sampling PMCs with
 * HWPMC_F_KGMON add their samples to it while it is on. The machine has one histogram. It
 * keeps its contents after the PMCs are released, until it is reset. For READ, `nentry` in:
 * entries of the array at `entries` (0: return the number only); out: number of entries. An
 * address may have several entries. Each command returns `on` and `users`.
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
	__u32	on;			/* out: samples are added */
	__u32	users;			/* out: PMCs with HWPMC_F_KGMON */
	__u64	kernel;			/* out: samples in the histogram */
	__u64	user;			/* out: user-mode samples, not in it */
	__u64	lost;			/* out: kernel samples, histogram full */
};

/* GETCAPS (19): capabilities of a PMC's row. Errors: EINVAL ID. */
struct hwpmc_op_getcaps {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	caps;
};

/*
 * BATCH (34): read, start or stop `n` PMCs of the owner in one call, as PMCRW with OLDVALUE,
 * PMCSTART or PMCSTOP would. The system-scope PMCs of one CPU are processed at one moment: with
 * interrupts off, in the order of their rows. All CPUs work at the same time. The process-scope
 * PMCs are processed likewise on each CPU where a target runs; for a thread that is switched in
 * during the call, all of them or none count. The differences between two batches therefore
 * cover the same instructions for all PMCs of a CPU, and for all PMCs of the calling thread,
 * except for the few instructions between the reads of two PMCs.
 *
 * The order of the entries does not matter, and several entries may name one PMC. In each
 * entry `error` is 0 or the errno that the single operation would return, and hdr is the
 * reason. The failure of an entry does not affect other entries, and BATCH itself then
 * succeeds; `failed` is the number of entries that failed.
 *
 * `entry_size` is sizeof(struct hwpmc_batch_entry). The rule for the extension of arguments,
 * see above, applies to entries too. Errors: EINVAL BATCH, BATCH_COUNT; EINVAL, E2BIG SIZE;
 * EFAULT BAD_ADDRESS (before the command, if the array cannot be written); ENOMEM
 * NO_MEMORY; EINTR.
 */
enum hwpmc_batch_command {
	HWPMC_BATCH_READ = 0,
	HWPMC_BATCH_START = 1,
	HWPMC_BATCH_STOP = 2,
};

#define HWPMC_BATCH_MAX		16384	/* entries of one call */

struct hwpmc_batch_entry {
	struct hwpmc_hdr hdr;		/* out */
	__u32	pmcid;
	__s32	error;			/* out: 0 or an errno */
	__aligned_u64 value;		/* out, READ: the count, also with INCOMPLETE */
};

struct hwpmc_op_batch {
	struct hwpmc_hdr hdr;
	__u32	command;		/* enum hwpmc_batch_command */
	__u32	n;
	__u32	entry_size;
	__u32	failed;			/* out */
	__aligned_u64 entries;		/* struct hwpmc_batch_entry * */
};

/*
 * UNWIND (35): add the unwind table (hwpmc_unwind.h) of a file to the tables of the owner, or
 * replace the table of that file; with nrow 0, remove it, or, with HWPMC_UNWIND_F_NONE, store
 * that the file has none. For the owner's PMCs with HWPMC_F_TABLES the module walks call chains
 * by this table where the file is mapped. In a file that was not added a chain of a PMC with
 * HWPMC_F_TABLES_ALL ends (NOT_READY). Inode and device are those of the file's MAP_IN records,
 * and the build-id must be equal (length 0: a file without one). The module copies the rows.
 * Tables end with their owner, or when it is revoked. They are charged to RLIMIT_MEMLOCK, as
 * rings are. Errors: ESRCH NOT_OWNER; EINVAL FLAGS, RESERVED (build-id), UNWIND_ROW; E2BIG
 * UNWIND_LIMIT, UNWIND_FILES; EPERM LOCKED_MEMORY; EFAULT BAD_ADDRESS; ENOMEM NO_MEMORY; EINTR.
 */
#define HWPMC_UNWIND_F_VDSO	0x1u	/* table of the vdso: no inode, device, build-id */
#define HWPMC_UNWIND_F_NONE	0x2u	/* the file has no table: nrow is 0 */

struct hwpmc_op_unwind {
	struct hwpmc_hdr hdr;
	__u64	inode;
	__u32	major, minor;		/* of its device */
	__u32	flags;			/* HWPMC_UNWIND_F_* */
	__u32	nrow;
	__aligned_u64 rows;		/* const struct hwpmc_unwind_row * */
	__u32	build_id_len;
	__u8	build_id[20];
};

/*
 * GETCHAINSTATS (36): the numbers of user chains of PMCs with HWPMC_F_TABLES since the module
 * was loaded. The index is the way in which chains end: enum hwpmc_chain_end of hwpmc_log.h. No
 * errors.
 */
struct hwpmc_op_getchainstats {
	struct hwpmc_hdr hdr;
	__u64	chains[16];
};

/*
 * GETKINDS (37): the kinds of core of the machine, and the kind and the rows of one CPU. If
 * CPUs are not alike, a CPU may lack some rows of a class. Errors: EINVAL CPU_RANGE; ENXIO
 * CPU_OFFLINE.
 */
struct hwpmc_op_getkinds {
	struct hwpmc_hdr hdr;
	__u32	cpu;
	__u32	kind;			/* out: HWPMC_KIND_* of the CPU; 0: all CPUs are alike */
	__u32	kinds;			/* out: HWPMC_KIND_* of the machine */
	__u32	__reserved;
	__u64	rows;			/* out: bit per row of GETPMCINFO that the CPU has */
};

/*
 * GETUNCOUNTED (38): a process-scope PMC with `kinds` counts nothing while a thread runs on
 * a core of another kind. `ns` is the CPU time of all its target threads on such cores, since
 * it was allocated, in nanoseconds. `slices` is the number of slices, from a switch-in to a
 * switch-out, that began there. Both are 0 without `kinds`. Errors: EINVAL ID.
 */
struct hwpmc_op_getuncounted {
	struct hwpmc_hdr hdr;
	__u32	pmcid;
	__u32	kinds;			/* out: as allocated */
	__u64	ns;			/* out */
	__u64	slices;			/* out */
};

/* ------------------------------------------------------------------------ */
/* Operations. Numbers are never reused; the ioctl type is 0xEF.             */

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
	HWPMC_OP_BATCH = 34,
	HWPMC_OP_UNWIND = 35,
	HWPMC_OP_GETCHAINSTATS = 36,
	HWPMC_OP_GETKINDS = 37,
	HWPMC_OP_GETUNCOUNTED = 38,
	HWPMC_OP_PMCOPEN = 39,
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
#define HWPMC_IOC_PMCALLOCATE_NAMED \
				HWPMC_IOWR(PMCALLOCATE, hwpmc_op_pmcallocate_named)
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
#define HWPMC_IOC_BATCH		HWPMC_IOWR(BATCH, hwpmc_op_batch)
#define HWPMC_IOC_UNWIND	HWPMC_IOWR(UNWIND, hwpmc_op_unwind)
#define HWPMC_IOC_GETCHAINSTATS	HWPMC_IOWR(GETCHAINSTATS, hwpmc_op_getchainstats)
#define HWPMC_IOC_GETKINDS	HWPMC_IOWR(GETKINDS, hwpmc_op_getkinds)
#define HWPMC_IOC_GETUNCOUNTED	HWPMC_IOWR(GETUNCOUNTED, hwpmc_op_getuncounted)
#define HWPMC_IOC_PMCOPEN	HWPMC_IOWR(PMCOPEN, hwpmc_op_pmcopen)

/* Sizes of the first release: the minimum that the module accepts. */
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
#define HWPMC_SIZE_V1_BATCH		32
#define HWPMC_SIZE_V1_BATCH_ENTRY	24
#define HWPMC_SIZE_V1_UNWIND		64
#define HWPMC_SIZE_V1_GETCHAINSTATS	136
#define HWPMC_SIZE_V1_GETKINDS		32
#define HWPMC_SIZE_V1_GETUNCOUNTED	32
#define HWPMC_SIZE_V1_PMCOPEN		144

#ifdef __cplusplus
#undef class
#endif
#endif /* _UAPI_HWPMC_H */
