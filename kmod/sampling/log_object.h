/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * log_object.h - the fields of a log; for sampling/log.c and the files of log/, not
 * for writers of records.
 */
#ifndef HWPMC_LOG_OBJECT_H
#define HWPMC_LOG_OBJECT_H

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "log.h"

struct cgroup_subsys_state;
struct file;
struct mm_struct;
struct page;
struct task_struct;

/* The part of one CPU. */
struct hwpmc_log_cpu {
	struct hwpmc_ring ring;
	struct irq_work wake;		/* from NMI to the reader */
	/* After a wake-up for an event of the kernel the next one waits for this timer: .quiet.
	 * .owed: there was an event that wants one. Of this CPU. */
	struct hrtimer later;
	bool quiet, owed;
	struct hwpmc_log *log;
	struct page **pages;		/* the ring's page, then the data; constant */
	void *data;			/* vmap of the data, twice; constant */
	u64 written;			/* bytes that the drain thread has written */
};

struct hwpmc_log {
	struct hwpmc_owner *owner;	/* a reference; constant */
	struct hwpmc_log_cpu __percpu *cpus;
	refcount_t users;		/* owner or .end, mappings, operations that wait */
	u32 ring_size;			/* constant */
	unsigned int npages;		/* of a CPU: the ring's and its data's; constant */
	bool mapped;			/* read by mapping, not by descriptor; constant */
	bool privileged;		/* perfmon_capable() when it was made */
	bool open;			/* records may be written; hwpmc_lock, read
					 * anywhere */
	bool closing;			/* only CLOSELOG may still be written; set once */
	bool quiet;			/* closed, and no record is on its way, except to a ring
					 * that was full: FLUSHLOG writes these; set once,
					 * release */
	bool unclosed;			/* it ended while it was open; hwpmc_lock, set once */
	/* Of a log that ends, log/end.c: */
	struct delayed_work end;
	struct list_head end_node;	/* in the list of them; ends_lock */
	bool ending;			/* set once, before .end is queued */
	bool silent;			/* no writer is left; only in .end */
	bool owner_waits;		/* counted in owner->ending; only in .end */
	struct mutex snapshot_lock;	/* one snapshot at a time; of the next three */
	bool has_modules;		/* has records of all loaded modules, */
	bool has_processes;		/* of all processes; set once */
	bool has_walk_maps;		/* and those were noted for walks by unwind tables */
	struct mutex end_lock;		/* of .ended */
	bool ended;			/* CLOSELOG was written, */
	unsigned int end_cpu;		/* to this CPU's ring */
	int error;			/* errno of the failed write, or 0; set once */
	struct list_head node;		/* of log/cpu_kinds.c; hwpmc_lock, read under RCU */

	/* For the drain thread, which only a log with a descriptor has. */
	struct file *file;		/* NULL: none, or put after CLOSELOG */
	const struct cred *cred;
	struct cgroup_subsys_state *memory, *io;	/* its maker's cgroups, or NULL; */
	unsigned long file_size;	/* its RLIMIT_FSIZE; constant, log/limits.h */
	struct task_struct *drainer;
	loff_t pos;
	u64 progress;			/* bytes written, all CPUs */
	u64 asked;			/* flushes requested; flushers.lock */
	u64 answered;			/* flushes done by the thread */
	bool discard;			/* drop what is left; set once */
	bool drained;			/* the thread has written all, or failed; set once */
	bool told;			/* it is to put the file though it has failed; set
					 * once */
	bool gone;			/* it has put the file; set once */
	u64 seen;			/* .progress at the last look at the thread, */
	bool urged;			/* the first of which was, */
	bool killed;			/* and it was killed; all only in .end */
	wait_queue_head_t flushers;

	/* Memory charged to RLIMIT_MEMLOCK of this mm; NULL: none. */
	struct mm_struct *mm;
	unsigned long locked;		/* pages */
};

/* Write DROPNOTIFY for the drops of all CPUs. False: some ring has no room for it.
 * Process context. */
bool hwpmc_log_declare_all(struct hwpmc_log *log);

#endif /* HWPMC_LOG_OBJECT_H */
