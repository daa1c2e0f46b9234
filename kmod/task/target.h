/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * target.h - a measured process (thread group) and the threads of it.
 *
 * hwpmc_targets_lock protects the two hashes, links, and what is marked so
 * below. A leaf lock that is taken with a run queue's lock held: under it nothing
 * may be allocated, freed, printed or woken.
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

/* A PMC attached to a target. One per row of a target, or none (pmc NULL). */
struct hwpmc_link {
	struct hwpmc_pmc *pmc;		/* hwpmc_targets_lock; read in switches */
	struct hwpmc_target *target;	/* whose link this is */
	struct list_head node;		/* in pmc->links; hwpmc_targets_lock */
	atomic64_t total;		/* special: this target's share */
	u64 children;			/* in-kernel: of those that have exited;
					 * hwpmc_targets_lock */
	u32 attach;			/* the one of pmc->attaches that made it, or
					 * its parent's; hwpmc_targets_lock */
};

/*
 * Made by the first attach, or by fork from a parent with DESCENDANTS; ends with
 * the last thread or the last link. Freed by RCU: the switch path reads it.
 */
struct hwpmc_target {
	struct hlist_node hash;		/* by signal_struct */
	struct signal_struct *signal;	/* the key; never followed */
	struct pid *pid;		/* the thread group's */
	u64 rows;			/* with a link; hwpmc_targets_lock */
	u64 active;			/* to be counted; hwpmc_targets_lock, read
					 * in switches */
	u64 slow_path;			/* of .rows: they log or sample; as .active */
	u64 dormant;			/* wait for an exec; hwpmc_targets_lock */
	struct list_head threads;	/* hwpmc_targets_lock */
	unsigned int nthreads;		/* hwpmc_targets_lock */
	bool attaching;			/* its threads are being joined; an empty
					 * one is not yet dead; hwpmc_targets_lock */
	struct rcu_head rcu;
	struct hwpmc_link link[];	/* by row, hwpmc_nrows of them */
};

enum hwpmc_thread_state {
	HWPMC_THREAD_PENDING,	/* in the hash; its notifier not yet in its list */
	HWPMC_THREAD_LINKED,	/* the notifier fires */
};

struct hwpmc_userpage;

/*
 * A thread of a target. In the hash from attach (or creation) to its exit; with
 * .target NULL it is dismissed: it unlinks itself at its next switch.
 */
struct hwpmc_thread {
	struct preempt_notifier notifier;
	struct hlist_node hash;		/* by task; hwpmc_targets_lock, RCU */
	struct task_struct *task;	/* the key; alive while in the hash */
	struct hwpmc_target *target;	/* hwpmc_targets_lock; read in switches */
	enum hwpmc_thread_state state;	/* hwpmc_targets_lock */
	struct list_head node;		/* in target->threads; hwpmc_targets_lock */
	struct hwpmc_userpage *page;	/* in which it reads its counters, or NULL;
					 * set by itself, under hwpmc_targets_lock */
	/* How often it was given another CPU: touched by who moves it. And how much
	 * of that a row of class SOFT was told: exchanged (migrations.c). */
	u32 migrations;
	u32 migrations_seen[HWPMC_SOFT_ROWS];
	union {
		struct llist_node unhooked; /* waits to be freed */
		struct rcu_head rcu;
	};
	/* By row: events to the next sample, 0: a whole period. Touched where it
	 * runs, and by hwpmc_link_locked(). */
	u64 period_left[];
};

int hwpmc_targets_init(void);
void hwpmc_targets_exit(void);

/* Under hwpmc_targets_lock or RCU; in sched_switch: interrupts off. */
struct hwpmc_target *hwpmc_target_find(const struct task_struct *task);
struct hwpmc_thread *hwpmc_thread_find(const struct task_struct *task);

struct hwpmc_target *hwpmc_target_alloc(struct task_struct *task, gfp_t gfp);
void hwpmc_target_free(struct hwpmc_target *target);
struct hwpmc_thread *hwpmc_thread_alloc(gfp_t gfp);
void hwpmc_thread_free(struct hwpmc_thread *thread);

/* Into the hash; hwpmc_target_dismiss_locked() takes it out. */
void hwpmc_target_insert_locked(struct hwpmc_target *target);

void hwpmc_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       bool dormant);
void hwpmc_unlink_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc);

/* A new or revived thread joins a target; it leaves it. */
void hwpmc_thread_join_locked(struct hwpmc_thread *thread,
			      struct hwpmc_target *target,
			      struct task_struct *task);
void hwpmc_thread_leave_locked(struct hwpmc_thread *thread);
/* Put the notifier into the list of a task that does not run, or is current. */
void hwpmc_thread_hook_locked(struct hwpmc_thread *thread);
/* Out of the hash and the task's list; freed later by hwpmc_unhooked_free(). */
void hwpmc_thread_unhook_locked(struct hwpmc_thread *thread);
/* Free what the switch path could not. Process context. */
void hwpmc_unhooked_free(void);

/* Dismiss all threads and remove the target from the hash; it has no links. */
void hwpmc_target_dismiss_locked(struct hwpmc_target *target);
/* Where a target has no links or no threads: unlink what it has left, and dismiss. */
bool hwpmc_target_drop_if_empty_locked(struct hwpmc_target *target);

/* Is this PMC attached to the task's process? Any lock, or none. */
bool hwpmc_attached_to(const struct hwpmc_pmc *pmc, const struct task_struct *task);

/* How many threads there are in the hash, and how many of them pending. */
extern unsigned int hwpmc_nthreads, hwpmc_npending;	/* hwpmc_targets_lock */

/* For each thread in the hash; under hwpmc_targets_lock or stop_machine(). */
void hwpmc_threads_each_locked(void (*fn)(struct hwpmc_thread *));

/* migrations.c: a thread that does not run was given another CPU. In the scheduler,
 * interrupts off. */
void hwpmc_thread_migrated_irqoff(struct task_struct *task);
/* How often a thread was moved since it was told last, to a row that
 * was loaded; or to the PMC, if the link counts, for all threads of the process. */
void hwpmc_thread_add_migrations_irqoff(struct hwpmc_thread *thread,
					unsigned int nr);
void hwpmc_link_take_migrations_locked(struct hwpmc_link *link);
/* And: no move that was until now is of this PMC. */
void hwpmc_thread_forget_migrations_locked(struct hwpmc_thread *thread,
					   const struct hwpmc_pmc *pmc);
void hwpmc_link_forget_migrations_locked(struct hwpmc_link *link);

#endif /* HWPMC_TARGET_H */
