/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * owner.h - one open of /dev/hwpmc by one thread group.
 * Made by open, ends at the last close of the descriptor. Its exec drops what it
 * holds, the object stays.
 */
#ifndef HWPMC_OWNER_H
#define HWPMC_OWNER_H

#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "class.h"
#include "pmc.h"

struct hwpmc_log;

struct hwpmc_owner {
	struct pid *tgid;		/* never changes */
	struct pid_namespace *pid_ns;	/* whose numbers its log tells; constant */
	wait_queue_head_t log_wait;	/* the log's reader: drain thread, poll() */
	struct hwpmc_log *log;		/* hwpmc_lock, RCU; NULL: none */
	unsigned int nsampling;		/* system-scope PMCs that sample; hwpmc_lock */
	bool samples_system;		/* any of these; read anywhere */
	kuid_t uid;			/* of who opened it; constant */
	bool kernel;			/* of another module, see inkernel/ */
	u32 losses;			/* its PMCs have lost their last target so often;
					 * hwpmc_targets_lock, read anywhere */
	u32 losses_signalled;		/* of .losses, by SIGIO or .lost; only grows */
	bool revoked;			/* all was taken from it, for good; set under
					 * hwpmc_lock, read anywhere */
	struct list_head node;		/* all owners; hwpmc_lock, RCU */
	struct list_head pmcs;		/* hwpmc_lock, RCU */
	/* Process-scope PMCs by row: found without a search. hwpmc_lock, RCU. */
	struct hwpmc_pmc __rcu *by_row[HWPMC_ROW_MAX];
	struct work_struct drop;	/* after its exec */
	struct work_struct *lost;	/* in-kernel: queued when a PMC has lost its
					 * last target; constant */
	struct list_head inkernel;	/* inkernel/process.c: in its list */
	struct rcu_head rcu;
};

/* Numbers of a process and a thread as the owner knows them. Any context. */
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

/* All of them. hwpmc_lock, RCU. */
extern struct list_head hwpmc_owners;
/* Into the list. -EMFILE: the unprivileged user has kern.hwpmc.maxowners. Takes
 * hwpmc_lock. */
int hwpmc_owner_join(struct hwpmc_owner *owner);
/*
 * hwpmc_lock for an operation of the owner; 0, or why not, and then without it. While
 * it is held nothing may wait for what a user can delay without end: memory of a
 * program (its pages can be a file system of its own), its mmap_lock, writes to its files.
 */
int hwpmc_owner_lock(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
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

void hwpmc_owner_add(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc);
void hwpmc_owner_remove(struct hwpmc_pmc *pmc);
/* Would a PMC with this id be a second one on the same counters? */
bool hwpmc_owner_holds(struct hwpmc_owner *owner, unsigned int row, u32 mode,
		       u32 cpu);
/* 0, or -EIO: nobody vouches for its samples. Under hwpmc_lock or RCU. */
int hwpmc_owner_msr_fault(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/*
 * SIGIO to an owner, if the process handles it or waits for it: FreeBSD ignores
 * the signal by default, Linux would end the process. Interrupts on, no lock of
 * ours but hwpmc_lock; may be preempted or not.
 */
void hwpmc_sigio(struct pid *tgid);
/* For each; under rcu_read_lock. */
void hwpmc_owners_each_rcu(void (*fn)(struct hwpmc_owner *, void *), void *arg);
/* The current thread group executed a program: what it owned must go. Any
 * context that may be preempted or not; the work is done later. */
void hwpmc_owner_exec(void);

#endif /* HWPMC_OWNER_H */
