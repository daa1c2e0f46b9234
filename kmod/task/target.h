/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * target.h - a measured process (thread group) and the threads of it.
 *
 * hwpmc_targets_lock protects the two hashes, links, and the fields marked so below. A
 * leaf lock that is taken with a run queue's lock held: under it nothing may be
 * allocated, freed, printed or woken.
 */
#ifndef HWPMC_TARGET_H
#define HWPMC_TARGET_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "../core/pmc.h"
#include "hash.h"
#include "registry.h"

/* A PMC attached to a target. One per row of a target, or none (pmc NULL). */
struct hwpmc_link {
	struct hwpmc_pmc *pmc;		/* hwpmc_targets_lock; read in switches */
	struct hwpmc_target *target;	/* that contains this link; constant */
	struct list_head node;		/* in pmc->process.links; hwpmc_targets_lock */
	atomic64_t total;		/* slow path: counted by this target */
	/* Owner in the kernel: value of the process before its first event, 0 where the
	 * link was inherited; counted by children that have exited.
	 * hwpmc_targets_lock. */
	u64 initial;
	u64 children;
	u32 attach;			/* pmc->process.attaches when it, or the link that it
					 * was inherited from, was made;
					 * hwpmc_targets_lock */
	u32 owned;			/* process: threads with a PMC of their own on
					 * the row, where .pmc is NULL; hwpmc_targets_lock */
};

/*
 * Made by the first attach, or by a fork of a parent with DESCENDANTS; ends with its
 * last thread or its last link. Freed by RCU, because the switch path reads it.
 */
struct hwpmc_target {
	struct hwpmc_hash_entry hash;	/* by .signal; hwpmc_targets_lock, RCU */
	struct signal_struct *signal;	/* the key; never dereferenced */
	struct pid *pid;		/* of the thread group; a reference */
	u64 rows;			/* with a link; hwpmc_targets_lock */
	u64 used_rows;			/* that had a link before; hwpmc_targets_lock */
	u64 active;			/* of .rows: they count; hwpmc_targets_lock,
					 * read in switches */
	u64 slow_path;			/* of .rows: pmc->slow_path; as .active */
	u64 dormant;			/* of .rows: count after the next exec;
					 * hwpmc_targets_lock */
	u64 disabled;			/* of .rows: owner in the kernel, which has not
					 * enabled them for this process;
					 * hwpmc_targets_lock */
	struct list_head threads;	/* hwpmc_targets_lock */
	struct list_head cursors;	/* of walks over them; see core/cursor.h */
	unsigned int nthreads;		/* hwpmc_targets_lock */
	bool removed;			/* from the hash by an operation, which releases it
					 * when its threads have left; hwpmc_targets_lock */
	struct list_head removed_node;	/* hwpmc_lock */
	unsigned int attaching;		/* attaches that go on (attach.c): the last one drops
					 * the target if no link or no thread is left;
					 * hwpmc_targets_lock */
	u64 attaching_rows;		/* of .rows: links that they have made;
					 * hwpmc_targets_lock */
	u32 unlinks;			/* links that have ended so far;
					 * hwpmc_targets_lock, read anywhere */
	/* Target of one thread (own.h): the thread, and the target of its process, whose
	 * .attaching counts this one. NULL: the target is a process. Constant. */
	struct hwpmc_thread *only;
	struct hwpmc_target *process;
	struct list_head empty_node;	/* process: in the list of own.c;
					 * hwpmc_targets_lock */
	struct rcu_head rcu;
	struct hwpmc_link link[];	/* by row, hwpmc_nrows of them */
};

enum hwpmc_thread_state {
	HWPMC_THREAD_PENDING,	/* in the hash; its notifier is not in the task's list */
	HWPMC_THREAD_LINKED,	/* the notifier is in the list */
	HWPMC_THREAD_UNHOOKED,	/* in neither, for good */
};

struct hwpmc_userpage;

/*
 * A thread of a target. In the hash from its attach or creation to its exit. With
 * .target NULL it is dismissed: it removes itself at its next switch, unless an attach
 * revives it before.
 */
struct hwpmc_thread {
	struct preempt_notifier notifier;
	struct hwpmc_hash_entry hash;	/* by .task; hwpmc_targets_lock, RCU */
	struct task_struct *task;	/* the key; alive while in the hash */
	struct hwpmc_target *target;	/* hwpmc_targets_lock; read in switches */
	enum hwpmc_thread_state state;	/* hwpmc_targets_lock */
	struct list_head node;		/* in target->threads; hwpmc_targets_lock */
	struct hlist_node waiting;	/* in the list of those that a stop of all CPUs
					 * would settle: pending, or dismissed with a
					 * notifier; hwpmc_targets_lock */
	struct hwpmc_target *own;	/* PMCs of this thread alone, or NULL;
					 * hwpmc_targets_lock; read in switches */
	struct hwpmc_userpage *page;	/* for RDPMC, or NULL; set by the thread itself
					 * under hwpmc_targets_lock */
	/* Migrations to another CPU, counted by the scheduler's probe; and those of
	 * them that each row of class SOFT has counted, by cmpxchg() (migrations.c). */
	u32 migrations;
	u32 migrations_seen[HWPMC_SOFT_ROWS];
	union {
		struct llist_node unhooked; /* until hwpmc_unhooked_free() */
		struct rcu_head rcu;
	};
	/* By row, of sampling PMCs. Accessed on the CPU where the thread runs, and, before
	 * the row counts, by hwpmc_link_locked() and hwpmc_targets_forget_period(). */
	struct hwpmc_phase phase[];
};

/* ops: the notifiers of threads. */
int hwpmc_targets_init(struct preempt_ops *ops);
void hwpmc_targets_exit(void);

struct hwpmc_target *hwpmc_target_alloc(struct task_struct *task, gfp_t gfp);
void hwpmc_target_free(struct hwpmc_target *target);
struct hwpmc_thread *hwpmc_thread_alloc(gfp_t gfp);
void hwpmc_thread_free(struct hwpmc_thread *thread);

/* Into the hash; hwpmc_target_dismiss_locked() takes it out. */
void hwpmc_target_insert_locked(struct hwpmc_target *target);

/*
 * Before the link of an attach, which keeps the target: its threads forget what an earlier
 * PMC of the row has left. Until the link is made no other of the row may end: .unlinks.
 */
void hwpmc_link_prepare(struct hwpmc_target *target, struct hwpmc_pmc *pmc);
/* inherited: the parent's link, NULL: the link is an attach's, and prepared. */
void hwpmc_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       const struct hwpmc_link *inherited);
/* The process counts from here on, unless the PMC is stopped, or the link is dormant or
 * disabled. The CPUs follow in hwpmc_switch_sync_followers(). */
void hwpmc_link_activate_locked(struct hwpmc_link *link);
void hwpmc_unlink_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc);

/* A new thread into the hash, without a target: its exit finds it from here on. */
void hwpmc_thread_publish_locked(struct hwpmc_thread *thread, struct task_struct *task);
/* Add a new, published or dismissed thread to a target; dismiss it. */
void hwpmc_thread_join_locked(struct hwpmc_thread *thread,
			      struct hwpmc_target *target,
			      struct task_struct *task);
void hwpmc_thread_leave_locked(struct hwpmc_thread *thread);
/* Put the notifier into the list of a task that is current or does not run. */
void hwpmc_thread_hook_locked(struct hwpmc_thread *thread);
/* Remove from the hash and the task's list; hwpmc_unhooked_free() frees it later. */
void hwpmc_thread_unhook_locked(struct hwpmc_thread *thread);
/* Free unhooked threads: the switch path cannot, it holds a run queue's lock. Any context
 * without that lock. */
void hwpmc_unhooked_free(void);

/* Dismiss the thread that it has, if any, and remove the target from the hash; it has no
 * links. */
void hwpmc_target_dismiss_locked(struct hwpmc_target *target);
/*
 * For operations: the target, without links, has any number of threads. Remove it from the
 * hash; then, without the lock, dismiss its threads and free it. hwpmc_lock is not released
 * between the two.
 */
void hwpmc_target_remove_locked(struct hwpmc_target *target);
void hwpmc_target_release(struct hwpmc_target *target);
/* Where a target has no links or no threads, and no attach goes on: unlink what it has left,
 * and remove. */
bool hwpmc_target_remove_if_empty_locked(struct hwpmc_target *target);

/* Is this PMC attached to the task's process? Any lock, or none. */
bool hwpmc_attached_to(const struct hwpmc_pmc *pmc, const struct task_struct *task);

/* Pending threads. */
extern unsigned int hwpmc_npending;	/* hwpmc_targets_lock */

/*
 * In stop_machine(): hook threads that are pending, remove those that are dismissed. At most
 * HWPMC_SETTLE_BATCH are hooked, or a quarter as many removed, so that the stop does not last
 * longer with more threads.
 */
#define HWPMC_SETTLE_BATCH	240
void hwpmc_threads_settle_locked(void);
/* Would that do anything? */
bool hwpmc_threads_wait(void);

#endif /* HWPMC_TARGET_H */
