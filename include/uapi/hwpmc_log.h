/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc_log.h - the data contract: the records of a log, and how a program maps
 * the rings that they come in. hwpmc_log(5) is this page in prose.
 *
 * A log is a stream of records. Each begins with struct hwpmc_log_hdr, is a
 * multiple of 8 bytes long and at most HWPMC_LOG_MAX. Numbers are in the byte
 * order of the machine that wrote it; the magic in the first record shows which.
 *
 * Records come from one ring a CPU. A stream that holds several rings, such as
 * a file, says with a HWPMC_LOG_CPU record whose records follow, until the next.
 * Within one CPU records are in the order of their time, except that a record may
 * be older than the one before it by as long as it took to write that (an NMI
 * over a switch). Between CPUs only the time relates them: a reader must expect
 * samples before the MAP_IN, and after the PROCEXIT, that belong to them.
 *
 * Conservation: what could not be written is counted by cause and declared in
 * DROPNOTIFY records. For each sampling PMC, overflows = samples + drops.
 *
 * Types keep FreeBSD's numbers; types from 64 on are Linux's own. Numbers are
 * never reused, layouts only grow at their end; a reader skips types that it
 * does not know and ignores what is behind the fields that it knows.
 */
#ifndef _UAPI_HWPMC_LOG_H
#define _UAPI_HWPMC_LOG_H

#include <linux/types.h>

#define HWPMC_LOG_MAGIC		0x474f4c434d505748ULL	/* "HWPMCLOG" */
/* Of the format: major << 16 | minor. A reader refuses another major. */
#define HWPMC_LOG_SCHEMA	0x00010000u
#define HWPMC_LOG_ALIGN		8
#define HWPMC_LOG_MAX		16384	/* bytes of one record */
#define HWPMC_LOG_PATH_MAX	4096	/* with the terminating zero */
#define HWPMC_LOG_COMM		16	/* with the terminating zero */
#define HWPMC_LOG_BUILD_ID	20
#define HWPMC_LOG_DEPTH_MAX	512	/* frames of one chain */

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
	HWPMC_LOG_SYSEXIT = 12,		/* hwpmc_log_task: a process is gone */
	HWPMC_LOG_USERDATA = 13,	/* hwpmc_log_hdr, id is the datum */
	HWPMC_LOG_MAP_IN = 14,		/* hwpmc_log_map */
	HWPMC_LOG_MAP_OUT = 15,		/* hwpmc_log_unmap */
	HWPMC_LOG_CALLCHAIN = 16,	/* hwpmc_log_sample */
	HWPMC_LOG_PMCALLOCATEDYN = 17,	/* hwpmc_log_allocate */
	HWPMC_LOG_THR_CREATE = 18,	/* hwpmc_log_task */
	HWPMC_LOG_THR_EXIT = 19,	/* hwpmc_log_task */
	HWPMC_LOG_PROC_CREATE = 20,	/* hwpmc_log_task */

	HWPMC_LOG_CPU = 64,		/* hwpmc_log_hdr, id is the CPU */
	HWPMC_LOG_CONTEXT = 65,		/* hwpmc_log_context */
	HWPMC_LOG_THROTTLE = 66,	/* hwpmc_log_throttle */
	HWPMC_LOG_COMM_NAME = 67,	/* hwpmc_log_task: it changed its name */
	HWPMC_LOG_CLOCK = 68,		/* hwpmc_log_clock: a later reading */
	HWPMC_LOG_NOTE = 69,		/* hwpmc_log_note: "key=value", by a tool */
	HWPMC_LOG_PADDING = 70,		/* hwpmc_log_hdr and bytes to skip */
};

/* Begins every record. */
struct hwpmc_log_hdr {
	__u16	len;			/* bytes, this header included */
	__u8	type;			/* enum hwpmc_log_type */
	__u8	flags;			/* of the type; else 0 */
	__u32	id;			/* of the type: mostly the PMC's id */
	__u64	time;			/* by the log's clock */
};

/* ------------------------------------------------------------------------ */
/* The log itself                                                            */

/* What `time` is, and two points of it: time = tick, ns of the two clocks. */
enum hwpmc_log_clock_kind {
	HWPMC_CLOCK_TSC = 1,		/* ticks of the time-stamp counter */
	HWPMC_CLOCK_MONOTONIC = 2,	/* nanoseconds of CLOCK_MONOTONIC */
};

/*
 * INITIALIZE: the first record of a log, id 0. Readings of the clock follow as
 * CLOCK records (one at each flush, one before CLOSELOG): with two of them a
 * reader knows the frequency better than the kernel did when it booted.
 */
struct hwpmc_log_initialize {
	struct hwpmc_log_hdr hdr;
	__u64	magic;			/* HWPMC_LOG_MAGIC */
	__u32	schema;			/* HWPMC_LOG_SCHEMA */
	__u32	api;			/* HWPMC_API_VERSION of the module */
	__u32	cputype;		/* as GETCPUINFO */
	__u32	ncpu;
	__u32	clock;			/* enum hwpmc_log_clock_kind */
	__u32	khz;			/* of the clock, the kernel's guess */
	__u64	tick;			/* the clock … */
	__u64	monotonic;		/* … CLOCK_MONOTONIC, ns … */
	__u64	realtime;		/* … and CLOCK_REALTIME, ns, at one moment */
	__s32	owner;			/* its process */
	__u32	flags;			/* HWPMC_LOG_INIT_* */
	char	cpuid[64];
};

#define HWPMC_LOG_INIT_PRIVILEGED 1	/* kernel addresses are shown */

/* CLOCK */
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

/* Why a record was dropped. Numbers as those of the types. */
enum hwpmc_drop_cause {
	HWPMC_DROP_FULL = 0,		/* no room in the ring: reader too slow */
	HWPMC_DROP_LATE = 1,		/* no longer known where: overflow of a
					 * counter that was being stopped, or
					 * periods that passed before a late
					 * interrupt came, or without one */
	HWPMC_DROP_CLOSED = 2,		/* the log was closed or had failed */
	HWPMC_DROP_BUSY = 3,		/* an event within the module's own work */
	HWPMC_DROP__COUNT
};

/*
 * DROPNOTIFY: records of this CPU that are missing since the last DROPNOTIFY:
 * they would stand somewhere between it and this one. Samples and the others
 * apart; id: 0.
 */
struct hwpmc_log_drop {
	struct hwpmc_log_hdr hdr;
	__u32	cpu;
	__u32	ncause;			/* entries of the two arrays that follow */
	__u64	since;			/* time of the first that is missing */
	__u64	samples[HWPMC_DROP__COUNT];
	__u64	others[HWPMC_DROP__COUNT];
};

/* ------------------------------------------------------------------------ */
/* PMCs                                                                      */

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
	__u64	count;			/* the period of sampling */
	char	name[64];		/* of the event, where the kernel knows it;
					 * a tool adds it as a NOTE "event.ID" */
};

/* PMCATTACH, PMCDETACH: id is the PMC's. */
struct hwpmc_log_attach {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	__reserved;
	char	path[];			/* of its program; zero terminated */
};

/* PROCCSW: events from switch-in to switch-out; or, of class SOFT, moves of a thread
 * at rest that were read before it ran again, and cpu is the reader's. PROCEXIT: of a
 * process, over its life as a target. id is the PMC's. */
struct hwpmc_log_value {
	struct hwpmc_log_hdr hdr;
	__s32	pid, tid;
	__u32	cpu;
	__u32	__reserved;
	__u64	value;
};

/* THROTTLE: sampling cost too much here and stands still (flags 0) or goes on
 * (flags 1) on this CPU; id is the PMC's, or HWPMC_ID_INVALID: all. */
struct hwpmc_log_throttle {
	struct hwpmc_log_hdr hdr;
	__u32	cpu;
	__u32	percent;		/* of time that sampling had taken; 100:
					 * nothing else came through */
};

/* ------------------------------------------------------------------------ */
/* Samples                                                                   */

/* CONTEXT: the samples of this CPU that follow are of this thread. */
struct hwpmc_log_context {
	struct hwpmc_log_hdr hdr;	/* id: 0 */
	__s32	pid, tid;		/* 0, 0: the idle task */
};

/* hdr.flags of CALLCHAIN */
#define HWPMC_SAMPLE_USER	0x01	/* hit user mode; else the kernel */
#define HWPMC_SAMPLE_HIDDEN	0x02	/* hit the kernel, its addresses are not
					 * shown: kernel frames are left out, pc[0]
					 * is HWPMC_PC_HIDDEN */
#define HWPMC_SAMPLE_CUT	0x04	/* the chain goes on: depth limit */
#define HWPMC_SAMPLE_FAULT	0x08	/* the user chain ends at memory that is
					 * not there at the moment */
#define HWPMC_SAMPLE_SPLIT	0x10	/* kernel frames, HWPMC_PC_USER, then user
					 * frames */
#define HWPMC_SAMPLE_32BIT	0x20	/* user frames of a 32-bit program */

#define HWPMC_PC_HIDDEN		(~0ULL)		/* an address of the kernel */
#define HWPMC_PC_USER		(~0ULL - 1)	/* mark, not an address */

/*
 * CALLCHAIN: a sample; id is the PMC's. pc[0] is where it hit, the others are
 * return addresses, callee first; there are (len - 16) / 8 of them.
 */
struct hwpmc_log_sample {
	struct hwpmc_log_hdr hdr;
	__u64	pc[];
};

/* ------------------------------------------------------------------------ */
/* Processes, threads, mappings                                              */

/* hdr.flags: the record describes what was there before the log began. */
#define HWPMC_LOG_SNAPSHOT	0x01
/* hdr.flags of MAP_IN */
#define HWPMC_MAP_HAS_BUILD_ID	0x02	/* build_id holds build_id_len bytes */
#define HWPMC_MAP_ANON		0x04	/* executable memory without a file */

/* PROC_CREATE, THR_CREATE, SYSEXIT, THR_EXIT, COMM_NAME: id 0. */
struct hwpmc_log_task {
	struct hwpmc_log_hdr hdr;
	__s32	pid, tid;		/* tid: of PROC_CREATE and SYSEXIT = pid */
	__s32	parent;			/* process; 0 where it is not known */
	__u32	flags;			/* HWPMC_TASK_* */
	char	comm[HWPMC_LOG_COMM];	/* "" at exits */
};

#define HWPMC_TASK_KERNEL	0x01	/* a kernel thread */

/* PROCFORK: id 0. */
struct hwpmc_log_fork {
	struct hwpmc_log_hdr hdr;
	__s32	parent, child;
};

/* PROCEXEC: the process has a new memory map, of which MAP_INs follow. id 0. */
struct hwpmc_log_exec {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__s32	tid;			/* of the thread that called exec */
	char	comm[HWPMC_LOG_COMM];
	char	path[];			/* zero terminated */
};

/*
 * MAP_IN: executable memory appears in a process, or in the kernel (pid -1: the
 * kernel itself and its modules). Replaces what overlaps with it. id 0.
 */
struct hwpmc_log_map {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	build_id_len;
	__u64	start, end;		/* addresses; end is behind the last */
	__u64	offset;			/* in the file, of `start` */
	__u64	inode;
	__u32	major, minor;		/* of its device */
	__u8	build_id[HWPMC_LOG_BUILD_ID];
	__u32	__reserved;
	char	path[];			/* zero terminated; "[vdso]", "[kernel]",
					 * "[name]" of a module, "//anon" */
};

/* MAP_OUT: it is gone. id 0. */
struct hwpmc_log_unmap {
	struct hwpmc_log_hdr hdr;
	__s32	pid;
	__u32	__reserved;
	__u64	start, end;
};

/* NOTE: what a tool knows and the module does not; id as the key wants it. Keys:
 * "command", "hostname", "release", "event" (id: PMC), "version", "period",
 * "kernel-start" (of _stext) and "kernel-build-id" (hexadecimal), … Unknown keys
 * mean nothing. */
struct hwpmc_log_note {
	struct hwpmc_log_hdr hdr;
	char	text[];			/* "key=value", zero terminated */
};

/* ------------------------------------------------------------------------ */
/* Mapped rings                                                              */

/*
 * With HWPMC_LOG_F_MAPPED the owner maps each CPU's ring, MAP_SHARED, at offset
 * HWPMC_LOG_MAP_OFFSET(cpu): one page of struct hwpmc_log_ring, then the data
 * twice, one behind the other, so that records that cross the end can be read as
 * one piece: HWPMC_LOG_MAP_SIZE(ring size) bytes in all.
 *
 * Records lie from tail to head, both counted in bytes since the beginning
 * (position in the data: modulo size). The module writes head, the reader
 * tail: load head with acquire, read, store tail with release. A tail that makes
 * no sense costs its owner records and nobody else anything.
 */
struct hwpmc_log_ring {
	__u64	head;			/* by the module */
	__u64	size;			/* of the data, a power of two */
	__u32	cpu;
	__u32	page;			/* bytes before the data */
	/* Dropped here so far, declared or not yet, by enum hwpmc_drop_cause. */
	__u64	samples_dropped[HWPMC_DROP__COUNT];
	__u64	others_dropped[HWPMC_DROP__COUNT];
	__u64	__reserved[5];
	__u64	tail;			/* by the reader; a cache line of its own */
};

#define HWPMC_LOG_MAP_SHIFT	36
#define HWPMC_LOG_MAP_OFFSET(cpu) ((__u64)(cpu) << HWPMC_LOG_MAP_SHIFT)
#define HWPMC_LOG_MAP_SIZE(size, page) ((page) + 2 * (size))

#endif /* _UAPI_HWPMC_LOG_H */
