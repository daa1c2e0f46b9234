/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc_log.h - data interface: the records of a log, and the rings that a program
 * maps to read them. hwpmc_log(5) describes the same in prose.
 *
 * A log is a stream of records. Each begins with struct hwpmc_log_hdr; its length
 * is a multiple of 8 bytes and at most HWPMC_LOG_MAX. Numbers are in the byte
 * order of the machine that wrote the log; the magic in the first record shows it.
 *
 * Each CPU has one ring of records. In a stream that holds several rings, such as
 * a file, a HWPMC_LOG_CPU record names the CPU of the records that follow it.
 * Records of one CPU are in time order, with one exception: a record may be older
 * than its predecessor by at most the time that writing the predecessor took (an
 * NMI during a switch). Between CPUs only the time orders records: a sample may
 * precede the MAP_IN or follow the PROCEXIT that it belongs to.
 *
 * A log that the module writes to a descriptor (HWPMC_LOG_INIT_SYNC) is a sequence of
 * pieces, each of which ends with a SYNC record. The records of a piece are older than its
 * SYNC, and the records that follow are not. A reader that keeps one piece and sorts it by
 * time therefore has all records in order: an object that a record names was described
 * before it. The exception is a record that was being written at the time of a SYNC; no
 * other record can depend on it yet. CLOSELOG is the last record.
 *
 * Conservation: records that could not be written are counted by cause and
 * declared in DROPNOTIFY records. For each sampling PMC, overflows = samples +
 * drops; the numbers of HWPMC_DROP_UNCOUNTED are lower bounds, on both sides of the equation.
 * If periods differ (HWPMC_F_FREQUENCY), PERIOD records contain the numbers of events
 * that samples and drops stand for.
 *
 * Types have FreeBSD's numbers; types from 64 on exist on Linux only. Numbers are
 * never reused and new fields are appended. A reader must skip types that it does
 * not know and ignore bytes after the fields that it knows.
 */
#ifndef _UAPI_HWPMC_LOG_H
#define _UAPI_HWPMC_LOG_H

#include <linux/types.h>
#ifdef __cplusplus
#define class class_id		/* fields of this name, which is C++'s own */
#endif

#define HWPMC_LOG_MAGIC		0x474f4c434d505748ULL	/* "HWPMCLOG" */
/* Format version: major << 16 | minor. A reader must reject another major. */
#define HWPMC_LOG_SCHEMA	0x00010000u
#define HWPMC_LOG_ALIGN		8
#define HWPMC_LOG_MAX		16384	/* bytes of one record */
#define HWPMC_LOG_PATH_MAX	4096	/* with the terminating zero */
#define HWPMC_LOG_COMM		16	/* with the terminating zero */
#define HWPMC_LOG_BUILD_ID	20
#define HWPMC_LOG_DEPTH_MAX	512	/* frames of one chain */
#define HWPMC_LOG_CPU_UNKNOWN	0xffff	/* records of a CPU that was not recorded; the module
					 * writes no such record */

enum hwpmc_log_type {
	HWPMC_LOG_CLOSELOG = 1,		/* hwpmc_log_closelog */
	HWPMC_LOG_DROPNOTIFY = 2,	/* hwpmc_log_drop */
	HWPMC_LOG_INITIALIZE = 3,	/* hwpmc_log_initialize */
	HWPMC_LOG_PMCALLOCATE = 5,	/* hwpmc_log_allocate */
	HWPMC_LOG_PMCATTACH = 6,	/* hwpmc_log_attach */
	HWPMC_LOG_PMCDETACH = 7,	/* hwpmc_log_attach, no path */
	HWPMC_LOG_PROCCSW = 8,		/* hwpmc_log_value */
	HWPMC_LOG_PROCEXEC = 9,		/* hwpmc_log_exec */
	HWPMC_LOG_PROCEXIT = 10,	/* hwpmc_log_value, tid 0 */
	HWPMC_LOG_PROCFORK = 11,	/* hwpmc_log_fork */
	HWPMC_LOG_SYSEXIT = 12,		/* hwpmc_log_task: a process exited */
	HWPMC_LOG_USERDATA = 13,	/* hwpmc_log_hdr, id is the user's value */
	HWPMC_LOG_MAP_IN = 14,		/* hwpmc_log_map */
	HWPMC_LOG_MAP_OUT = 15,		/* hwpmc_log_unmap */
	HWPMC_LOG_CALLCHAIN = 16,	/* hwpmc_log_sample */
	HWPMC_LOG_PMCALLOCATEDYN = 17,	/* hwpmc_log_allocate */
	HWPMC_LOG_THR_CREATE = 18,	/* hwpmc_log_task */
	HWPMC_LOG_THR_EXIT = 19,	/* hwpmc_log_task */
	HWPMC_LOG_PROC_CREATE = 20,	/* hwpmc_log_task */

	HWPMC_LOG_CPU = 64,		/* hwpmc_log_hdr, id is the CPU, or
					 * HWPMC_LOG_CPU_UNKNOWN */
	HWPMC_LOG_CONTEXT = 65,		/* hwpmc_log_context */
	HWPMC_LOG_THROTTLE = 66,	/* hwpmc_log_throttle */
	HWPMC_LOG_COMM_NAME = 67,	/* hwpmc_log_task: comm changed */
	HWPMC_LOG_CLOCK = 68,		/* hwpmc_log_clock: a later reading */
	HWPMC_LOG_NOTE = 69,		/* hwpmc_log_note: "key=value", by a tool */
	HWPMC_LOG_PADDING = 70,		/* hwpmc_log_hdr and bytes to skip */
	HWPMC_LOG_SYNC = 71,		/* hwpmc_log_hdr: all older records precede it */
	HWPMC_LOG_CPU_KIND = 72,	/* hwpmc_log_cpu_kind */
	HWPMC_LOG_PERIOD = 73,		/* hwpmc_log_period */
	HWPMC_LOG_LOSS = 74,		/* hwpmc_log_loss */
	HWPMC_LOG_PRECISE = 75,		/* hwpmc_log_precise */
};

/* First member of every record. */
struct hwpmc_log_hdr {
	__u16	len;			/* bytes, this header included */
	__u8	type;			/* enum hwpmc_log_type */
	__u8	flags;			/* depends on the type; 0 if it has none */
	__u32	id;			/* depends on the type; mostly the PMC's id */
	__u64	time;			/* in ticks of the log's clock */
};

/* ------------------------------------------------------------------------ */
/* Log and clocks                                                            */

/*
 * The clock of hdr.time. It never goes back. It stops while the machine is suspended to memory
 * or disk; in suspend to idle the TSC runs on.
 */
enum hwpmc_log_clock_kind {
	HWPMC_CLOCK_TSC = 1,		/* ticks of the time-stamp counter; a suspend that
					 * restarts it adds an offset */
	HWPMC_CLOCK_MONOTONIC = 2,	/* nanoseconds of CLOCK_MONOTONIC */
};

/*
 * INITIALIZE: the first record of a log, id 0. CLOCK records are later readings of the
 * clocks (one at each flush, one before CLOSELOG). Two readings give the frequency of the
 * log's clock more precisely than `khz`, which was measured at boot.
 */
struct hwpmc_log_initialize {
	struct hwpmc_log_hdr hdr;
	__u64	magic;			/* HWPMC_LOG_MAGIC */
	__u32	schema;			/* HWPMC_LOG_SCHEMA */
	__u32	api;			/* HWPMC_API_VERSION of the module */
	__u32	cputype;		/* as GETCPUINFO */
	__u32	ncpu;
	__u32	clock;			/* enum hwpmc_log_clock_kind */
	__u32	khz;			/* of the clock, as the kernel measured it */
	__u64	tick;			/* the log's clock; all three are read at one time */
	__u64	monotonic;		/* CLOCK_MONOTONIC, ns */
	__u64	realtime;		/* CLOCK_REALTIME, ns */
	__s32	owner;			/* process id of the log's owner */
	__u32	flags;			/* HWPMC_LOG_INIT_* */
	char	cpuid[64];
};

#define HWPMC_LOG_INIT_PRIVILEGED 1	/* samples contain kernel addresses */
#define HWPMC_LOG_INIT_SYNC	2	/* the log has SYNC records */

/* CLOCK: a reading of the three clocks, as in INITIALIZE. */
struct hwpmc_log_clock {
	struct hwpmc_log_hdr hdr;
	__u64	tick;
	__u64	monotonic;
	__u64	realtime;
};

/* CLOSELOG: the last record that the module writes. */
struct hwpmc_log_closelog {
	struct hwpmc_log_hdr hdr;
};

/* Cause of a drop. Numbers are never reused. */
enum hwpmc_drop_cause {
	HWPMC_DROP_FULL = 0,		/* the ring was full: the reader is too slow */
	HWPMC_DROP_LATE = 1,		/* the address is unknown: the counter was being
					 * stopped, or periods elapsed before a late
					 * interrupt or without an interrupt */
	HWPMC_DROP_CLOSED = 2,		/* the log was closed or had failed */
	HWPMC_DROP_BUSY = 3,		/* a mapping was not read: its mmap lock was held, or
					 * too many were waiting (real-time kernels), or the
					 * owner may no longer inspect the program (all its
					 * mappings count as one) */
	HWPMC_DROP_PAUSED = 4,		/* periods that elapsed while sampling was paused */
	HWPMC_DROP_FILTERED = 5,	/* hardware that cannot select a mode took samples of
					 * the mode that the PMC does not sample */
	HWPMC_DROP_UNCOUNTED = 6,	/* samples lost because a buffer of the hardware was full:
					 * a lower bound, for the hardware counts none of them */
	HWPMC_DROP__COUNT
};

/* Number of entries of the arrays below. It never changes: HWPMC_DROP__COUNT may grow, and
 * causes from this number on are in struct hwpmc_log_drop_pair. */
#define HWPMC_DROP_FIXED	4

/* Drops of one cause from HWPMC_DROP_FIXED on. */
struct hwpmc_log_drop_pair {
	__u64	samples, others;
};

/*
 * DROPNOTIFY: the records of this CPU that were dropped since its previous DROPNOTIFY, id 0.
 * Samples and other records are counted separately. If ncause is greater than
 * HWPMC_DROP_FIXED, ncause - HWPMC_DROP_FIXED pairs follow; if it is less, a reader ignores
 * the entries from ncause on.
 */
struct hwpmc_log_drop {
	struct hwpmc_log_hdr hdr;
	__u32	cpu;
	__u32	ncause;			/* number of causes that the writer counts */
	__u64	since;			/* time of the first dropped record */
	__u64	samples[HWPMC_DROP_FIXED];
	__u64	others[HWPMC_DROP_FIXED];
};

/*
 * CPU_KIND: the kind of core of a CPU, on a machine with several kinds (GETKINDS); id is the
 * CPU. It is written into the CPU's own ring, before its samples: when the log begins, and
 * when the CPU goes online. A reader takes the kind of a sample, or of a value, from its CPU.
 */
struct hwpmc_log_cpu_kind {
	struct hwpmc_log_hdr hdr;
	__u32	kind;			/* HWPMC_KIND_*, one bit */
	__u32	__reserved;
};

/* ------------------------------------------------------------------------ */
/* PMCs                                                                      */

/* With HWPMC_F_FREQUENCY in `count`: no frequency was asked for, but each sample has the number
 * of events that it stands for. Only readers of other formats make such records. */
#define HWPMC_LOG_OWN_PERIODS	(~0ULL)

/* PMCALLOCATE, PMCALLOCATEDYN (SOFT events): id is the PMC's. */
struct hwpmc_log_allocate {
	struct hwpmc_log_hdr hdr;
	__u32	class;			/* enum hwpmc_class_id */
	__u32	ev;
	__u32	flags;			/* HWPMC_F_* */
	__u32	caps;
	__u32	mode;			/* enum hwpmc_mode */
	__u32	cpu;
	__u64	config, config1;
	__u64	count;			/* sampling period in events; with HWPMC_F_FREQUENCY
					 * samples per second, or HWPMC_LOG_OWN_PERIODS */
	char	name[64];		/* event name from the kernel or from the owner,
					 * or ""; a tool may write another name in a NOTE
					 * "event" */
};

/* PMCATTACH, PMCDETACH: id is the PMC's. */
struct hwpmc_log_attach {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	__reserved;
	char	path[];			/* path of its executable; zero terminated */
};

/* PROCCSW: the events of a thread from switch-in to switch-out, in several records if FLUSHLOG
 * was called in between. In class SOFT also the migrations of a thread off CPU, if they were
 * read before it ran again; cpu is then the CPU of the reader.
 * PROCEXIT: the events of a process while it was a target. id is the PMC's. */
struct hwpmc_log_value {
	struct hwpmc_log_hdr hdr;
	__s32	pid, tid;
	__u32	cpu;
	__u32	__reserved;
	__u64	value;
};

/* THROTTLE: sampling exceeded its share of CPU time and is paused (flags 0), or is
 * resumed (flags 1), on this CPU; id is the PMC's, or HWPMC_ID_INVALID for all PMCs. In
 * process scope a pause ends for a thread when it leaves the CPU (flags 1), and begins again
 * if it returns before the pause of the CPU is over (flags 0). Counters count on in a pause,
 * from the first interrupt on: periods that elapse in it are declared as drops,
 * HWPMC_DROP_PAUSED. */
struct hwpmc_log_throttle {
	struct hwpmc_log_hdr hdr;
	__u32	cpu;
	__u32	percent;		/* CPU time that sampling used; 100: no
					 * other interrupt was handled */
};

/* hdr.flags of LOSS */
#define HWPMC_LOSS_OVER		0x01	/* the counter was found to count again */

/*
 * LOSS: a counter of a CPU did not count all events of a PMC that was started; id is the PMC's.
 * A record is written when that is found. A second one, with HWPMC_LOSS_OVER and the same
 * reason and .since, is written when the counter is found to count again, possibly after it was
 * stopped and started. If another reason is found before that, the first loss is over, and the
 * second loss has its own two records. The records may be in the ring of any CPU.
 */
struct hwpmc_log_loss {
	struct hwpmc_log_hdr hdr;
	__u32	cpu;
	__u32	reason;			/* enum hwpmc_reason, with which reads fail (EIO) */
	__s32	detail;			/* detail of .reason */
	__u32	__reserved;
	__u64	since;			/* when it was last found to count, or the PMC was
					 * started: events may be missing from then on */
};

/* ------------------------------------------------------------------------ */
/* Samples                                                                   */

/* CONTEXT: the thread of the samples of this CPU that follow. */
struct hwpmc_log_context {
	struct hwpmc_log_hdr hdr;	/* id: 0 */
	__s32	pid, tid;		/* 0, 0: the idle task */
};

/* hdr.flags of CALLCHAIN */
#define HWPMC_SAMPLE_USER	0x01	/* in user mode; else kernel mode */
#define HWPMC_SAMPLE_HIDDEN	0x02	/* in kernel mode, addresses hidden: kernel
					 * frames are omitted, pc[0] is
					 * HWPMC_PC_HIDDEN */
#define HWPMC_SAMPLE_CUT	0x04	/* truncated at the depth limit */
#define HWPMC_SAMPLE_FAULT	0x08	/* the user chain ends where the stack was
					 * not in memory */
#define HWPMC_SAMPLE_SPLIT	0x10	/* kernel frames, HWPMC_PC_USER, then user
					 * frames */
#define HWPMC_SAMPLE_32BIT	0x20	/* user frames of a 32-bit program */
#define HWPMC_SAMPLE_ENDS	0x40	/* the user chain ends early: the last entry is
					 * HWPMC_PC_END(reason) */
#define HWPMC_SAMPLE_TABLES	0x80	/* user frames by unwind tables; complete unless
					 * ENDS or CUT is set */

#define HWPMC_PC_HIDDEN		(~0ULL)		/* stands for a kernel address */
/* Marks among the entries of pc[]; no addresses. */
#define HWPMC_PC_USER		(~0ULL - 1)	/* user frames follow */
#define HWPMC_PC_FP		(~0ULL - 2)	/* the frames that follow were found by frame
						 * pointers, which the program may not have */
#define HWPMC_PC_END(reason)	(~0ULL - 16 - (reason))	/* enum hwpmc_chain_end */
/* The reason of such a mark. A result of 16 or more means that pc is not such a mark. */
#define HWPMC_PC_REASON(pc)	(~0ULL - 16 - (pc))

/* The end of the user part of a chain that was walked by unwind tables. */
enum hwpmc_chain_end {
	HWPMC_CHAIN_COMPLETE = 0,	/* at the outermost function; no mark */
	HWPMC_CHAIN_NO_MAPPING = 1,	/* the module has no mapping of the code */
	HWPMC_CHAIN_NO_TABLE = 2,	/* the file of the code has no table; without
					 * HWPMC_F_TABLES_ALL also NOT_READY */
	HWPMC_CHAIN_NO_RULE = 3,	/* the table has no rule for the code */
	HWPMC_CHAIN_FAULT = 4,		/* the stack was not in memory; with FAULT */
	HWPMC_CHAIN_BROKEN = 5,		/* the stack held no return address there */
	HWPMC_CHAIN_DEPTH = 6,		/* at the depth limit: no mark, but CUT */
	HWPMC_CHAIN_NOT_READY = 7,	/* the owner has not added the file's table yet, or
					 * could not */
	HWPMC_CHAIN__COUNT
};

/*
 * CALLCHAIN: a sample; id is the PMC's. pc[0] is the sampled address, the others
 * are return addresses, callee first, and marks; pc[] has (len - 16) / 8 entries.
 */
struct hwpmc_log_sample {
	struct hwpmc_log_hdr hdr;
	__u64	pc[];
};

/* hdr.flags of PERIOD */
#define HWPMC_PERIOD_DROPPED	0x01	/* number of events of dropped samples */

/*
 * PERIOD: the number of events that the next sample of the PMC `id` on this CPU stands for.
 * Each sample of a PMC with HWPMC_F_FREQUENCY has a PERIOD record before it, in the same ring.
 * With HWPMC_PERIOD_DROPPED id is 0, and `period` is the number of events of all samples of
 * such PMCs that the following DROPNOTIFY record declares.
 */
struct hwpmc_log_period {
	struct hwpmc_log_hdr hdr;
	__u64	period;			/* events */
};

/*
 * hdr.flags of PRECISE: the hardware that the words are from, and their order. The first numbers
 * are those of FreeBSD's multipart records. Numbers are never reused.
 */
enum hwpmc_precise_kind {
	HWPMC_PRECISE_NONE = 0,		/* no words, marks only */
	HWPMC_PRECISE_IBS_FETCH = 2,	/* enum hwpmc_precise_ibs_fetch */
	HWPMC_PRECISE_IBS_OP = 3,	/* enum hwpmc_precise_ibs_op */
	HWPMC_PRECISE_LBR = 4,		/* reserved: branch records */
	HWPMC_PRECISE_PEBS = 5,		/* reserved: Intel PEBS, all formats but the next */
	HWPMC_PRECISE_ARCH_PEBS = 6,	/* reserved: Intel architectural PEBS */
	HWPMC_PRECISE_TEST = 255,	/* enum hwpmc_precise_test: class TEST (hwpmc(4)) */
};

/* Words of AMD IBS, registers as the processor manual defines them, in FreeBSD's order. */
enum hwpmc_precise_ibs_fetch {
	HWPMC_IBS_FETCH_CTL = 0,
	HWPMC_IBS_FETCH_EXTCTL = 1,
	HWPMC_IBS_FETCH_LINADDR = 2,	/* virtual address of the fetch */
	HWPMC_IBS_FETCH_PHYSADDR = 3,	/* its physical address */
};

enum hwpmc_precise_ibs_op {
	HWPMC_IBS_OP_CTL = 0,
	HWPMC_IBS_OP_RIP = 1,		/* virtual address of the instruction */
	HWPMC_IBS_OP_DATA = 2,
	HWPMC_IBS_OP_DATA2 = 3,
	HWPMC_IBS_OP_DATA3 = 4,
	HWPMC_IBS_OP_DC_LINADDR = 5,	/* virtual address of the access */
	HWPMC_IBS_OP_DC_PHYSADDR = 6,	/* its physical address */
	HWPMC_IBS_OP_BRTARGET = 7,	/* virtual address that a branch went to */
	HWPMC_IBS_OP_DATA4 = 8,
};

/* Words of class TEST, as the test has given them. */
enum hwpmc_precise_test {
	HWPMC_TEST_WORD = 0,
	HWPMC_TEST_ADDRESS = 1,		/* counts as a virtual address */
	HWPMC_TEST_PHYSICAL = 2,	/* counts as a physical address */
	HWPMC_TEST_LATENCY = 3,
};

/* Bits of `present`. */
#define HWPMC_PRECISE_WORDS	0x0000ffffffffffffULL	/* a word for each bit that is set */
#define HWPMC_PRECISE_EXACT	(1ULL << 63)	/* pc[0] of the sample is the address of the
						 * instruction that the event happened to */

/*
 * PRECISE: what the hardware recorded about the next sample of the PMC `id` on this CPU. The
 * record is in the same ring directly before its sample, with the same time. Bit n of `present`, n < 48, means that the kind's word n is present;
 * word[] has the present words in the order of their numbers. Other bits are marks without a
 * word; a reader ignores marks and words that it does not know, and bytes after the words.
 *
 * The hardware sets a word only if it is valid for this sample, and the module leaves out words
 * that the owner may not read: physical addresses, and virtual addresses of the kernel, unless
 * the PMC was allocated with CAP_PERFMON. A word that is left out is not in `present`.
 *
 * Exact addresses: the mark of the PRECISE record decides for its sample. A sample without such
 * a record is exact if its PMC has HWPMC_F_EXACT (PMCALLOCATE record), so that samples that
 * consist of an exact address need no further record; a sample of this PMC that is not exact
 * has a PRECISE record without the mark. A hidden address (HWPMC_SAMPLE_HIDDEN) is never exact.
 */
struct hwpmc_log_precise {
	struct hwpmc_log_hdr hdr;	/* flags: enum hwpmc_precise_kind */
	__u64	present;
	__u64	word[];
};

/* ------------------------------------------------------------------------ */
/* Processes, threads, mappings                                              */

/* hdr.flags: the record describes state from before the log began. */
#define HWPMC_LOG_SNAPSHOT	0x01
/* hdr.flags of MAP_IN */
#define HWPMC_MAP_HAS_BUILD_ID	0x02	/* build_id holds build_id_len bytes */
#define HWPMC_MAP_ANON		0x04	/* executable memory without a file */
#define HWPMC_MAP_HAS_SLIDE	0x08	/* slide is set */
#define HWPMC_MAP_HAS_FILE	0x10	/* ends with struct hwpmc_log_file */
#define HWPMC_MAP_UNREAD	0x20	/* the first page of the file was not in memory, so its
					 * build-id could not be read. A record with HAS_FILE,
					 * without this flag and HAS_BUILD_ID, is of a file whose
					 * first page has no build-id */
#define HWPMC_MAP_COPY		0x40	/* anonymous memory with code of the file, as far as its
					 * pages were compared (16 at most) */
/* hdr.flags of PROCEXEC */
#define HWPMC_EXEC_HAS_PLACE	0x02	/* ends with struct hwpmc_log_place */

/* PROC_CREATE, THR_CREATE, SYSEXIT, THR_EXIT, COMM_NAME: id 0. A PROC_CREATE or THR_CREATE
 * without a name, and with a parent, is of a thread with the name of the thread `parent`. */
struct hwpmc_log_task {
	struct hwpmc_log_hdr hdr;
	__s32	pid, tid;		/* PROC_CREATE and SYSEXIT: tid = pid */
	__s32	parent;			/* process id; 0: unknown */
	__u32	flags;			/* HWPMC_TASK_* */
	char	comm[HWPMC_LOG_COMM];	/* "" at exits */
};

#define HWPMC_TASK_KERNEL	0x01	/* a kernel thread */

/* hdr.flags of PROCFORK: the child has the memory of its parent, not a copy (CLONE_VM). Until
 * it executes a program, mappings of either are those of both. */
#define HWPMC_FORK_SHARED	0x02

/* PROCFORK: id 0. */
struct hwpmc_log_fork {
	struct hwpmc_log_hdr hdr;
	__s32	parent, child;
};

/* PROCEXEC: a process executed a program; MAP_INs of its new map follow. id 0. With
 * HWPMC_EXEC_HAS_PLACE the last bytes of the record are a struct hwpmc_log_place. */
struct hwpmc_log_exec {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__s32	tid;			/* of the thread that called exec */
	char	comm[HWPMC_LOG_COMM];
	char	path[];			/* zero terminated */
};

/* The addresses at which the kernel loaded an ELF program and its interpreter. */
struct hwpmc_log_place {
	__u64	entry;			/* first instruction: of the interpreter, if the
					 * program has one */
	__u64	interpreter;		/* load base of the interpreter; 0: none */
	__u64	base;			/* load base of the program; 0: its file has
					 * absolute addresses */
};

/* The state of a file when it was mapped. Times are ns of CLOCK_REALTIME. */
struct hwpmc_log_file {
	__u64	size;			/* bytes */
	__s64	mtime;			/* last change of the contents */
	__s64	ctime;			/* last change of the inode */
};

/*
 * MAP_IN: an executable mapping of a process, or, with pid -1, of the kernel or a
 * module. It replaces all mappings that it overlaps. id 0. With HWPMC_MAP_HAS_FILE the
 * last bytes of the record are a struct hwpmc_log_file.
 */
struct hwpmc_log_map {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	build_id_len;
	__u64	start, end;		/* addresses [start, end) */
	__u64	offset;			/* of `start` in the file */
	__u64	inode;			/* as /proc/PID/maps has it */
	__u32	major, minor;		/* device of the file, as there */
	__u8	build_id[HWPMC_LOG_BUILD_ID];
	__s32	slide;			/* pages of 4096 bytes by which addresses in the ELF
					 * file exceed its offsets. Load base of the file:
					 * start - offset - slide pages */
	char	path[];			/* zero terminated; "[vdso]", "[kernel]",
					 * "[name]" of a module, "//anon" */
};

/* MAP_OUT: a mapping was removed. id 0. */
struct hwpmc_log_unmap {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	__reserved;
	__u64	start, end;
};

/* NOTE: information from a tool. The meaning of id depends on the key. Keys are "command",
 * "hostname", "release", "event" (id: PMC), "version", "period", "kernel-start" (address of
 * _stext) and "kernel-build-id" (both hexadecimal), and others. A reader ignores unknown
 * keys. */
struct hwpmc_log_note {
	struct hwpmc_log_hdr hdr;
	char	text[];			/* "key=value", zero terminated */
};

/* ------------------------------------------------------------------------ */
/* Mapped rings                                                              */

/*
 * With HWPMC_LOG_F_MAPPED the owner maps each CPU's ring, MAP_SHARED, at offset
 * HWPMC_LOG_MAP_OFFSET(cpu), HWPMC_LOG_MAP_SIZE(ring size, page) bytes: one page of
 * struct hwpmc_log_ring, then the data mapped twice in a row, so that a record
 * that crosses the end is contiguous.
 *
 * The records are between tail and head. Both are in bytes since the log began; modulo
 * size they are offsets in the data. The module writes head, and the reader writes tail:
 * load head with acquire, read the records, store tail with release. An invalid tail
 * loses records of this owner only.
 */
struct hwpmc_log_ring {
	__u64	head;			/* written by the module */
	__u64	size;			/* of the data, a power of two */
	__u32	cpu;
	__u32	page;			/* bytes before the data */
	/* Drops of this CPU so far, declared or not, by enum hwpmc_drop_cause. */
	__u64	samples_dropped[HWPMC_DROP_FIXED];
	__u64	others_dropped[HWPMC_DROP_FIXED];
	/* Drops of cause 4, and of all causes from 5 on. 0 if the module has no such cause. */
	struct hwpmc_log_drop_pair more_dropped[2];
	__u64	__reserved;
	__u64	tail;			/* written by the reader; own cache line */
	__u64	__reserved2[7];
	/* Drops of causes 5, 6 ... 10, each; those of later causes are in more_dropped[1] alone. */
	struct hwpmc_log_drop_pair each_dropped[6];
};

#define HWPMC_LOG_MAP_SHIFT	36
#define HWPMC_LOG_MAP_OFFSET(cpu) ((__u64)(cpu) << HWPMC_LOG_MAP_SHIFT)
#define HWPMC_LOG_MAP_SIZE(size, page) ((page) + 2 * (size))

#ifdef __cplusplus
#undef class
#endif
#endif /* _UAPI_HWPMC_LOG_H */
