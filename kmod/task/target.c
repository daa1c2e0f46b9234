// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * target.c - targets, threads, links: the objects and their lists, no policy. Called
 * from process context, from the fork, exec and exit probes, and from the switch path
 * (interrupts off, run queue's lock held).
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../core/owner.h"
#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "rdpmc.h"
#include "prealloc.h"
#include "switch.h"
#include "target.h"

/* hwpmc_hashsize buckets each. hwpmc_targets_lock, RCU. */
static struct hlist_head *targets __ro_after_init, *threads __ro_after_init;
static unsigned int hash_bits __ro_after_init;

unsigned int hwpmc_nthreads, hwpmc_npending;

static struct kmem_cache *target_cache, *thread_cache;
static LLIST_HEAD(unhooked);

static struct hlist_head *hash_bucket(struct hlist_head *table, const void *key)
{
	return &table[hash_ptr(key, hash_bits)];
}

struct hwpmc_target *hwpmc_target_find(const struct task_struct *task)
{
	struct signal_struct *signal = task->signal;
	struct hwpmc_target *target;

	/* Interrupts off are an RCU read-side section, here and below. */
	hlist_for_each_entry_rcu(target, hash_bucket(targets, signal), hash,
				 irqs_disabled())
		if (target->signal == signal)
			return target;
	return NULL;
}

struct hwpmc_thread *hwpmc_thread_find(const struct task_struct *task)
{
	struct hwpmc_thread *thread;

	hlist_for_each_entry_rcu(thread, hash_bucket(threads, task), hash,
				 irqs_disabled())
		if (thread->task == task)
			return thread;
	return NULL;
}

struct hwpmc_target *hwpmc_target_alloc(struct task_struct *task, gfp_t gfp)
{
	struct hwpmc_target *target;
	unsigned int i;

	target = hwpmc_prealloc_or_new(&hwpmc_prealloc_targets, gfp);
	if (!target)
		return NULL;
	target->signal = task->signal;
	target->pid = get_pid(task_tgid(task));
	INIT_LIST_HEAD(&target->threads);
	for (i = 0; i < hwpmc_nrows; i++)
		target->link[i].target = target;
	return target;
}

static void target_free_rcu(struct rcu_head *rcu)
{
	struct hwpmc_target *target =
		container_of(rcu, struct hwpmc_target, rcu);

	put_pid(target->pid);
	kmem_cache_free(target_cache, target);
}

void hwpmc_target_free(struct hwpmc_target *target)
{
	if (target)
		call_rcu(&target->rcu, target_free_rcu);
}

struct hwpmc_thread *hwpmc_thread_alloc(gfp_t gfp)
{
	struct hwpmc_thread *thread =
		hwpmc_prealloc_or_new(&hwpmc_prealloc_threads, gfp);

	if (thread)
		preempt_notifier_init(&thread->notifier, &hwpmc_preempt_ops);
	return thread;
}

static void thread_free_rcu(struct rcu_head *rcu)
{
	struct hwpmc_thread *thread =
		container_of(rcu, struct hwpmc_thread, rcu);

	hwpmc_userpage_put(thread->page);
	kmem_cache_free(thread_cache, thread);
}

void hwpmc_thread_free(struct hwpmc_thread *thread)
{
	if (thread)
		call_rcu(&thread->rcu, thread_free_rcu);
}

void hwpmc_target_insert_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hlist_add_head_rcu(&target->hash, hash_bucket(targets, target->signal));
}

static void target_remove_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hlist_del_init_rcu(&target->hash);
}

void hwpmc_link_activate_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	u64 bit = BIT_ULL(link->pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (link->pmc->counting && !((target->dormant | target->disabled) & bit))
		WRITE_ONCE(target->active, target->active | bit);
}

/* The bits of a row without a link are 0. */
static void link_set_state_locked(struct hwpmc_link *link,
				  const struct hwpmc_link *inherited)
{
	struct hwpmc_target *target = link->target;
	struct hwpmc_pmc *pmc = link->pmc;
	u64 bit = BIT_ULL(pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (inherited) {
		target->dormant |= inherited->target->dormant & bit;
		target->disabled |= inherited->target->disabled & bit;
		link->attach = inherited->attach;
		return;
	}
	if (pmc->flags & HWPMC_F_EXEC_START)
		target->dormant |= bit;
	if (pmc->owner->kernel)
		target->disabled |= bit;
	link->attach = pmc->attaches;
}

void hwpmc_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       const struct hwpmc_link *inherited)
{
	struct hwpmc_link *link = &target->link[pmc->row];
	u64 bit = BIT_ULL(pmc->row);
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	list_for_each_entry(thread, &target->threads, node) {
		thread->period_left[pmc->row] = 0;
		hwpmc_thread_forget_migrations_locked(thread, pmc);
	}
	trace_hwpmc_process_linktarget(pmc, target->pid);
	atomic64_set(&link->total, 0);
	link->initial = 0;
	link->children = 0;
	if (pmc->slow_path)
		WRITE_ONCE(target->slow_path, target->slow_path | bit);
	list_add_tail(&link->node, &pmc->links);
	WRITE_ONCE(link->pmc, pmc);
	target->rows |= bit;
	link_set_state_locked(link, inherited);
	hwpmc_link_activate_locked(link);
	pmc->nthreads += target->nthreads;
}

void hwpmc_unlink_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc)
{
	struct hwpmc_link *link = &target->link[pmc->row];
	u64 bit = BIT_ULL(pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	trace_hwpmc_process_unlinktarget(pmc, target->pid);
	hwpmc_link_take_migrations_locked(link);
	WRITE_ONCE(target->active, target->active & ~bit);
	target->dormant &= ~bit;
	target->disabled &= ~bit;
	target->rows &= ~bit;
	WRITE_ONCE(target->slow_path, target->slow_path & ~bit);
	list_del(&link->node);
	WRITE_ONCE(link->pmc, NULL);
	pmc->nthreads -= target->nthreads;
}

/* A target, and so each of its PMCs, has n more threads. */
static void count_threads_locked(struct hwpmc_target *target, int n)
{
	u64 rows = target->rows;

	lockdep_assert_held(&hwpmc_targets_lock);
	while (rows) {
		target->link[__ffs64(rows)].pmc->nthreads += n;
		rows &= rows - 1;
	}
	target->nthreads += n;
}

void hwpmc_thread_join_locked(struct hwpmc_thread *thread,
			      struct hwpmc_target *target,
			      struct task_struct *task)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	list_add_tail(&thread->node, &target->threads);
	count_threads_locked(target, 1);
	WRITE_ONCE(thread->target, target);
	if (thread->task) {		/* revived: still in the hash and hooked */
		memset(thread->period_left, 0, array_size(hwpmc_nrows, sizeof(u64)));
		memset32(thread->migrations_seen, thread->migrations, HWPMC_SOFT_ROWS);
		return;
	}
	thread->task = task;
	thread->state = HWPMC_THREAD_PENDING;
	hwpmc_nthreads++;
	hwpmc_npending++;
	hlist_add_head_rcu(&thread->hash, hash_bucket(threads, task));
}

void hwpmc_thread_leave_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (!thread->target)
		return;
	list_del(&thread->node);
	count_threads_locked(thread->target, -1);
	WRITE_ONCE(thread->target, NULL);
}

void hwpmc_thread_hook_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (thread->state != HWPMC_THREAD_PENDING)
		return;
	thread->state = HWPMC_THREAD_LINKED;
	hwpmc_npending--;
	hlist_add_head(&thread->notifier.link, &thread->task->preempt_notifiers);
}

void hwpmc_thread_unhook_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	/* It was dismissed, a CPU waits for the lock to unhook it, and an attach that
	 * has revived it finds that it exits. */
	if (thread->state == HWPMC_THREAD_UNHOOKED)
		return;
	hlist_del_rcu(&thread->hash);
	hwpmc_nthreads--;
	/*
	 * Not hlist_del(): the caller may be a notifier of this list, and the walk
	 * goes on from this entry's ->next. The entry outlives the walk, which has
	 * preemption off, because it is freed by RCU.
	 */
	if (thread->state == HWPMC_THREAD_LINKED)
		__hlist_del(&thread->notifier.link);
	else
		hwpmc_npending--;
	thread->state = HWPMC_THREAD_UNHOOKED;
	llist_add(&thread->unhooked, &unhooked);
}

void hwpmc_unhooked_free(void)
{
	struct llist_node *all = llist_del_all(&unhooked);
	struct hwpmc_thread *thread, *next;

	llist_for_each_entry_safe(thread, next, all, unhooked)
		hwpmc_thread_free(thread);
}

void hwpmc_target_dismiss_locked(struct hwpmc_target *target)
{
	struct hwpmc_thread *thread, *next;

	lockdep_assert_held(&hwpmc_targets_lock);
	list_for_each_entry_safe(thread, next, &target->threads, node)
		hwpmc_thread_leave_locked(thread);
	target_remove_locked(target);
}

bool hwpmc_target_drop_if_empty_locked(struct hwpmc_target *target)
{
	u64 rows = target->rows;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (rows && target->nthreads)
		return false;
	for (; rows; rows &= rows - 1)
		hwpmc_unlink_locked(target, target->link[__ffs64(rows)].pmc);
	hwpmc_target_dismiss_locked(target);
	return true;
}

bool hwpmc_attached_to(const struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	struct hwpmc_target *target;
	bool yes;

	rcu_read_lock();
	target = hwpmc_target_find(task);
	yes = target && READ_ONCE(target->link[pmc->row].pmc) == pmc;
	rcu_read_unlock();
	return yes;
}

void hwpmc_threads_each_locked(void (*fn)(struct hwpmc_thread *))
{
	struct hwpmc_thread *thread;
	struct hlist_node *next;
	int i;

	for (i = 0; i < hwpmc_hashsize; i++)
		hlist_for_each_entry_safe(thread, next, &threads[i], hash)
			fn(thread);
}

static void free_all(void)
{
	kmem_cache_destroy(thread_cache);
	kmem_cache_destroy(target_cache);
	kvfree(threads);
	kvfree(targets);
}

int hwpmc_targets_init(void)
{
	size_t size = offsetof(struct hwpmc_target, link[hwpmc_nrows]);

	hash_bits = ilog2(hwpmc_hashsize);
	targets = kvcalloc(hwpmc_hashsize, sizeof(*targets), GFP_KERNEL);
	threads = kvcalloc(hwpmc_hashsize, sizeof(*threads), GFP_KERNEL);
	target_cache = kmem_cache_create("hwpmc_target", size, 0,
					 SLAB_ACCOUNT, NULL);
	thread_cache = kmem_cache_create("hwpmc_thread",
					 offsetof(struct hwpmc_thread,
						  period_left[hwpmc_nrows]),
					 0, SLAB_ACCOUNT, NULL);
	hwpmc_prealloc_targets.cache = target_cache;
	hwpmc_prealloc_threads.cache = thread_cache;
	if (targets && threads && target_cache && thread_cache)
		return 0;
	free_all();
	return -ENOMEM;
}

void hwpmc_targets_exit(void)
{
	hwpmc_prealloc_drop();
	hwpmc_unhooked_free();
	rcu_barrier();
	free_all();
}
