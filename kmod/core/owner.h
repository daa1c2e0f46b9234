/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * owner.h - one open of /dev/hwpmc by one thread group.
 * Made by open, freed after the last close of the descriptor. An exec or the exit of the
 * thread group releases its PMCs and its log; the object stays.
 */
#ifndef HWPMC_OWNER_H
#define HWPMC_OWNER_H

#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "class.h"
#include "pmc.h"

struct hwpmc_log;
struct hwpmc_tables;

struct hwpmc_owner {
	struct pid *tgid;		/* never changes */
	struct pid_namespace *pid_ns;	/* of the pids in its log; constant */
	wait_queue_head_t log_wait;	/* the log's reader: drain thread, poll() */
	struct hwpmc_log *log;		/* hwpmc_lock, RCU; NULL: none */
	bool had_mapped_log;		/* ever; set under hwpmc_lock, read anywhere */
	atomic_t mapped_logs;		/* mapped ones to which records may still come */
	struct hwpmc_tables *tables;	/* for unwinding; hwpmc_lock, RCU; NULL: none */
	unsigned int nsampling;		/* system-scope PMCs that sample; hwpmc_lock */
	bool samples_system;		/* .nsampling is not 0; read anywhere */
	kuid_t uid;			/* that limits count for: the opener, or who
					 * made its user namespace; constant */
	kuid_t opener_uid, opener_euid;	/* who opened it: core/sigio.c; constant */
	bool kernel;			/* of another module, see inkernel/; constant */
	u32 losses;			/* its PMCs have lost their last target so often;
					 * hwpmc_targets_lock, read anywhere */
	u32 losses_signalled;		/* of .losses, by SIGIO or .lost; only grows */
	atomic_t sigio_looks;		/* core/sigio.c has so many left to decide whether to
					 * send one; 0: none is due */
	bool revoked;			/* by PMCREVOKE, for good; set under hwpmc_lock,
					 * read anywhere */
	bool paused;			/* an operation of it has let go of hwpmc_lock and
					 * goes on; set and cleared under hwpmc_lock, read
					 * anywhere */
	wait_queue_head_t resumed;	/* the end of .paused */
	struct list_head node;		/* all owners; hwpmc_lock, RCU */
	struct list_head pmcs;		/* hwpmc_lock, RCU */
	/* Process-scope PMCs by row, for lookups. hwpmc_lock, RCU. */
	struct hwpmc_pmc __rcu *by_row[HWPMC_ROW_MAX];
	/* System-scope PMCs by CPU and row, for lookups; and their number by row.
	 * hwpmc_lock; lookups also under RCU. */
	struct xarray system;
	unsigned int nsystem[HWPMC_ROW_MAX];
	u32 numbered;			/* process-scope PMCs that were allocated; hwpmc_lock */
	bool exec_watched;		/* it is one of those that need the exec probe;
					 * hwpmc_lock */
	bool executed;			/* hwpmc_owner_exec() has marked what is to be
					 * released; read and cleared by the work item */
	refcount_t users;		/* the open descriptor, and logs */
	atomic_t ending;		/* logs that end, and that its process is to wait for */
	atomic_t unfinished;		/* logs that end, whose drain thread is there */
	struct list_head closed_node;	/* in the list of those whose descriptor is closed;
					 * closed_lock */
	struct wait_queue_entry exit;	/* at the exit of its process: pmc/owner.c */
	struct work_struct *lost;	/* of an owner in the kernel: queued when a PMC
					 * has lost its last target; constant */
	struct list_head inkernel;	/* in inkernel/process.c's list; hwpmc_lock */
	struct rcu_head rcu;
};

/* Pid and tid in the owner's PID namespace. Any context. */
static inline s32 hwpmc_owner_tgid_nr(const struct hwpmc_owner *owner,
				      struct task_struct *task)
{
	return likely(owner->pid_ns == &init_pid_ns) ?
		task->tgid : task_tgid_nr_ns(task, owner->pid_ns);
}

static inline s32 hwpmc_owner_tid_nr(const struct hwpmc_owner *owner,
				     struct task_struct *task)
{
	return likely(owner->pid_ns == &init_pid_ns) ?
		task->pid : task_pid_nr_ns(task, owner->pid_ns);
}

/* Its descriptor is closed: nothing finds it any more. Limits of its user count it until its
 * logs have come to their end. hwpmc_lock. */
void hwpmc_owner_leave(struct hwpmc_owner *owner);
/* All owners. hwpmc_lock, RCU. */
extern struct list_head hwpmc_owners;
/* Add to the list. -EMFILE: an unprivileged user has kern.hwpmc.maxowners already. Takes
 * hwpmc_lock. */
int hwpmc_owner_join(struct hwpmc_owner *owner);
/*
 * Take hwpmc_lock for an operation of the owner. 0; on a refusal the lock is not held.
 * While it is held nothing may wait for what a user can delay without a limit: a
 * program's memory (its pages can be of a user's file system), its mmap_lock, writes to
 * its files.
 */
int hwpmc_owner_lock(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/*
 * An operation of the owner lets go of hwpmc_lock for what takes long, and takes it again.
 * Operations of other owners come between. Nothing happens to this owner's PMCs and log:
 * its other operations wait in hwpmc_owner_lock(), REVOKE in hwpmc_owner_settle(), and the
 * work item of its exec comes later. Descriptors are closed when their operations are over.
 * Not of owners in the kernel, which may be ended at any time that hwpmc_lock is free.
 * Only .revoked may be set meanwhile.
 */
void hwpmc_owner_pause(struct hwpmc_owner *owner);
void hwpmc_owner_resume(struct hwpmc_owner *owner);
/* Wait for the end of a pause; hwpmc_lock is let go meanwhile. A reference to the owner. */
void hwpmc_owner_settle(struct hwpmc_owner *owner);
/* Its PMC with this id, or NULL. Under rcu_read_lock or hwpmc_lock. */
struct hwpmc_pmc *hwpmc_owner_find(struct hwpmc_owner *owner, u32 id);
/* The same for process scope, where the row finds it; row < hwpmc_nrows. */
static inline struct hwpmc_pmc *hwpmc_owner_find_process(struct hwpmc_owner *owner,
							 u32 id)
{
	unsigned int row = array_index_nospec(HWPMC_ID_ROW(id), HWPMC_ROW_MAX);
	struct hwpmc_pmc *pmc;

	pmc = rcu_dereference_check(owner->by_row[row],
				    lockdep_is_held(&hwpmc_lock));
	return pmc && pmc->id == id ? pmc : NULL;
}

/* -ENOMEM. */
int hwpmc_owner_add(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc);
void hwpmc_owner_remove(struct hwpmc_pmc *pmc);
/* Would a PMC with this id be a second one on the same counters? */
bool hwpmc_owner_holds(struct hwpmc_owner *owner, unsigned int row, u32 mode,
		       u32 cpu);
/* 0, or -EIO: an MSR access faulted or a register was changed, so its samples are unreliable.
 * hwpmc_lock or RCU. */
int hwpmc_owner_check_samples(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/*
 * Send SIGIO to a process that handles it or waits for it. No other: FreeBSD ignores the
 * signal by default, Linux ends the process. A process that blocks all
 * signals is looked at again for a second.
 * hwpmc_lock or RCU; interrupts on, no other lock of the module; preemption on or off; on
 * real-time kernels on.
 */
void hwpmc_sigio(struct hwpmc_owner *owner);
void hwpmc_sigio_exit(void);
/* Call fn for each owner; under rcu_read_lock. */
void hwpmc_owners_each_rcu(void (*fn)(struct hwpmc_owner *, void *), void *arg);
/* The current thread group has executed a program: its PMCs and its log are released, by
 * a work item. In the exec probe. */
void hwpmc_owner_exec(void);
/* The work item. The parts of the module that release call it at load. */
void hwpmc_owner_exec_init(work_func_t fn);
/* At unload, after the probe is unregistered: waits for the work item. */
void hwpmc_owner_exec_exit(void);
/* Drop a reference; the last one frees the owner, by RCU. */
void hwpmc_owner_put(struct hwpmc_owner *owner);

#endif /* HWPMC_OWNER_H */
