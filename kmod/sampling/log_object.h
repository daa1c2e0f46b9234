/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * log_object.h - what a log consists of; for log.c and the files of log/, not for
 * writers of records.
 */
#ifndef HWPMC_LOG_OBJECT_H
#define HWPMC_LOG_OBJECT_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/wait.h>

#include "log.h"

struct file;
struct mm_struct;
struct page;
struct task_struct;

/* One CPU's part. */
struct hwpmc_log_cpu {
	struct hwpmc_ring ring;
	struct irq_work wake;		/* from NMI to the reader */
	struct hwpmc_log *log;
	struct page **pages;		/* the ring's page, then the data; constant */
	void *data;			/* vmap of the data, twice; constant */
	u64 written;			/* by the drain thread, up to here */
};

struct hwpmc_log {
	struct hwpmc_owner *owner;	/* constant */
	struct hwpmc_log_cpu __percpu *cpus;
	refcount_t users;		/* the owner, mappings, flushes that wait */
	u32 ring_size;			/* constant */
	unsigned int npages;		/* of a CPU: one and the data's; constant */
	bool mapped;			/* form; constant */
	bool privileged;		/* perfmon_capable() when it was made */
	bool open;			/* records may be written; hwpmc_lock, read
					 * anywhere */
	bool closing;			/* only what ends it; set once */
	bool has_modules;		/* the modules that were loaded are in it, */
	bool has_processes;		/* and all processes; hwpmc_lock, set once */
	struct mutex end_lock;		/* of the next: */
	bool ended;			/* CLOSELOG is in the stream */
	int error;			/* of the write that failed, or 0; set once */

	/* Descriptor form: the drain thread's. */
	struct file *file;
	const struct cred *cred;
	struct task_struct *drainer;
	loff_t pos;
	u64 progress;			/* bytes written in all */
	u64 asked;			/* flushes; flushers.lock */
	u64 answered;			/* of them, by the thread */
	bool discard;			/* no more writes; set once */
	bool drained;			/* the thread writes no more; set once */
	wait_queue_head_t flushers;

	/* Memory that was charged to somebody's RLIMIT_MEMLOCK. */
	struct mm_struct *mm;
	unsigned long locked;		/* pages */
};

/* Declare the drops of all CPUs. False: some have no room for it. Process context. */
bool hwpmc_log_declare_all(struct hwpmc_log *log);

#endif /* HWPMC_LOG_OBJECT_H */
