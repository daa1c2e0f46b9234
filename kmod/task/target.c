// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * target.c - targets, threads, links: the objects and their lists, no policy. Called
 * from process context, from the fork, exec and exit probes, and from the switch path
 * (interrupts off, run queue's lock held).
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "../core/cursor.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "migrations.h"
#include "prealloc.h"
#include "registry.h"
#include "target.h"
#include "userpage.h"
#include "walk.h"

unsigned int hwpmc_npending;

static struct kmem_cache *target_cache, *thread_cache;
static struct preempt_ops *preempt_ops;	/* switch.c's; constant */
static LLIST_HEAD(unhooked);
/* See hwpmc_threads_settle_locked(); hwpmc_targets_lock. */
static HLIST_HEAD(pending);
static HLIST_HEAD(dismissed);

struct hwpmc_target *hwpmc_target_alloc(struct task_struct *task, gfp_t gfp)
{
	struct hwpmc_target *target;
	unsigned int i;

	target = hwpmc_prealloc_or_new(&hwpmc_prealloc_targets, gfp);
	if (!target)
		return NULL;
	target->signal = task->signal;
	/* A task keeps no reference to its process's number once it has been reaped. */
	target->pid = get_task_pid(task, PIDTYPE_TGID);
	INIT_LIST_HEAD(&target->threads);
	INIT_LIST_HEAD(&target->cursors);
	INIT_LIST_HEAD(&target->empty_node);
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

	if (!thread)
		return NULL;
	preempt_notifier_init(&thread->notifier, preempt_ops);
	INIT_HLIST_NODE(&thread->waiting);
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
	hwpmc_registry_add_target_locked(target);
}

static void target_remove_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	list_del_init(&target->empty_node);
	hwpmc_registry_del_target_locked(target);
}

void hwpmc_link_activate_locked(struct hwpmc_link *link)
{
	struct hwpmc_target *target = link->target;
	u64 bit = BIT_ULL(link->pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	if (link->pmc->process.counting && !((target->dormant | target->disabled) & bit))
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
	link->attach = pmc->process.attaches;
}

static void thread_prepare_locked(struct hwpmc_thread *thread, void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	lockdep_assert_held(&hwpmc_targets_lock);
	/* Another PMC of the row was inherited meanwhile: the attach will be refused. */
	if (thread->target->link[pmc->row].pmc)
		return;
	memset(&thread->phase[pmc->row], 0, sizeof(thread->phase[0]));
	hwpmc_thread_forget_migrations_locked(thread, pmc);
}

void hwpmc_link_prepare(struct hwpmc_target *target, struct hwpmc_pmc *pmc)
{
	if (!hwpmc_pmc_counts_off_cpu(pmc) && !(READ_ONCE(target->used_rows) & BIT_ULL(pmc->row)))
		return;
	rcu_read_lock();
	hwpmc_walk_threads(target, thread_prepare_locked, pmc);
	rcu_read_unlock();
}

void hwpmc_link_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc,
		       const struct hwpmc_link *inherited)
{
	struct hwpmc_link *link = &target->link[pmc->row];
	u64 bit = BIT_ULL(pmc->row);
	struct hwpmc_thread *thread;

	lockdep_assert_held(&hwpmc_targets_lock);
	/* A child that is being made has one thread at most. */
	if (inherited)
		list_for_each_entry(thread, &target->threads, node)
			thread_prepare_locked(thread, pmc);
	trace_hwpmc_process_linktarget(pmc, target->pid);
	atomic64_set(&link->total, 0);
	link->initial = 0;
	link->children = 0;
	if (pmc->slow_path)
		WRITE_ONCE(target->slow_path, target->slow_path | bit);
	list_add_tail(&link->node, &pmc->process.links);
	WRITE_ONCE(link->pmc, pmc);
	target->rows |= bit;
	link_set_state_locked(link, inherited);
	hwpmc_link_activate_locked(link);
	pmc->process.nthreads += target->nthreads;
}

/* A thread's own link has ended (own.h). */
static void own_unlinked_locked(struct hwpmc_target *process, unsigned int row)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (!--process->link[row].owned)
		WRITE_ONCE(process->active, process->active & ~BIT_ULL(row));
}

void hwpmc_unlink_locked(struct hwpmc_target *target, struct hwpmc_pmc *pmc)
{
	struct hwpmc_link *link = &target->link[pmc->row];
	u64 bit = BIT_ULL(pmc->row);

	lockdep_assert_held(&hwpmc_targets_lock);
	trace_hwpmc_process_unlinktarget(pmc, target->pid);
	WRITE_ONCE(target->active, target->active & ~bit);
	target->dormant &= ~bit;
	target->disabled &= ~bit;
	target->rows &= ~bit;
	target->attaching_rows &= ~bit;
	WRITE_ONCE(target->unlinks, target->unlinks + 1);
	WRITE_ONCE(target->used_rows, target->used_rows | bit);
	WRITE_ONCE(target->slow_path, target->slow_path & ~bit);
	hwpmc_cursors_del(&pmc->process.cursors, &link->node);
	WRITE_ONCE(link->pmc, NULL);
	pmc->process.nthreads -= target->nthreads;
	if (target->process)
		own_unlinked_locked(target->process, pmc->row);
}

/* A target, and so each of its PMCs, has n more threads. */
static void count_threads_locked(struct hwpmc_target *target, int n)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, target->rows)
		target->link[nr].pmc->process.nthreads += n;
	target->nthreads += n;
}

/* After each change of its state or its target. */
static void thread_set_waiting_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hlist_del_init(&thread->waiting);
	if (thread->state == HWPMC_THREAD_UNHOOKED)
		return;
	if (!thread->target)
		hlist_add_head(&thread->waiting, &dismissed);
	else if (thread->state == HWPMC_THREAD_PENDING)
		hlist_add_head(&thread->waiting, &pending);
}

void hwpmc_thread_publish_locked(struct hwpmc_thread *thread, struct task_struct *task)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	thread->task = task;
	thread->state = HWPMC_THREAD_PENDING;
	hwpmc_npending++;
	hwpmc_registry_add_thread_locked(thread);
}

void hwpmc_thread_join_locked(struct hwpmc_thread *thread,
			      struct hwpmc_target *target,
			      struct task_struct *task)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (!thread->task) {
		hwpmc_thread_publish_locked(thread, task);
	} else {	/* what it may have of an earlier target */
		memset(thread->phase, 0, array_size(hwpmc_nrows, sizeof(thread->phase[0])));
		memset32(thread->migrations_seen, thread->migrations, HWPMC_SOFT_ROWS);
	}
	list_add_tail(&thread->node, &target->threads);
	count_threads_locked(target, 1);
	WRITE_ONCE(thread->target, target);
	thread_set_waiting_locked(thread);
}

void hwpmc_thread_leave_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (!thread->target)
		return;
	hwpmc_cursors_del(&thread->target->cursors, &thread->node);
	count_threads_locked(thread->target, -1);
	WRITE_ONCE(thread->target, NULL);
	thread_set_waiting_locked(thread);
}

void hwpmc_thread_hook_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	if (thread->state != HWPMC_THREAD_PENDING)
		return;
	thread->state = HWPMC_THREAD_LINKED;
	hwpmc_npending--;
	hlist_add_head(&thread->notifier.link, &thread->task->preempt_notifiers);
	thread_set_waiting_locked(thread);
}

void hwpmc_thread_unhook_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_registry_del_thread_locked(thread);
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
	thread_set_waiting_locked(thread);
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

void hwpmc_target_remove_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	target_remove_locked(target);
	target->removed = true;
}

static void leave_one_locked(struct hwpmc_thread *thread, void *unused)
{
	hwpmc_thread_leave_locked(thread);
}

void hwpmc_target_release(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_lock);
	hwpmc_walk_threads(target, leave_one_locked, NULL);
	hwpmc_target_free(target);
}

bool hwpmc_target_remove_if_empty_locked(struct hwpmc_target *target)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (target->attaching || (target->rows && target->nthreads))
		return false;
	for_each_row(nr, target->rows)
		hwpmc_unlink_locked(target, target->link[nr].pmc);
	hwpmc_target_remove_locked(target);
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

/* As hwpmc_thread_hook_locked(), with a third of the instructions for each. */
static unsigned int hook_pending_locked(unsigned int most)
{
	struct hlist_node *node = pending.first;
	unsigned int n = 0;

	lockdep_assert_held(&hwpmc_targets_lock);
	for (; node && n < most; n++) {
		struct hwpmc_thread *thread =
			hlist_entry(node, struct hwpmc_thread, waiting);

		node = node->next;
		INIT_HLIST_NODE(&thread->waiting);
		thread->state = HWPMC_THREAD_LINKED;
		hlist_add_head(&thread->notifier.link, &thread->task->preempt_notifiers);
	}
	WRITE_ONCE(pending.first, node);
	if (node)
		node->pprev = &pending.first;
	hwpmc_npending -= n;
	return n;
}

void hwpmc_threads_settle_locked(void)
{
	unsigned int left;

	lockdep_assert_held(&hwpmc_targets_lock);
	left = HWPMC_SETTLE_BATCH - hook_pending_locked(HWPMC_SETTLE_BATCH);
	/* To remove one takes four times the instructions. */
	for (left /= 4; left && !hlist_empty(&dismissed); left--)
		hwpmc_thread_unhook_locked(hlist_entry(dismissed.first,
						       struct hwpmc_thread, waiting));
}

bool hwpmc_threads_wait(void)
{
	return !hlist_empty(&pending) || !hlist_empty(&dismissed);
}

static void free_all(void)
{
	kmem_cache_destroy(thread_cache);
	kmem_cache_destroy(target_cache);
	hwpmc_registry_exit();
}

int hwpmc_targets_init(struct preempt_ops *ops)
{
	size_t size = offsetof(struct hwpmc_target, link[hwpmc_nrows]);
	bool made = !hwpmc_registry_init();

	preempt_ops = ops;
	target_cache = kmem_cache_create("hwpmc_target", size, 0,
					 SLAB_ACCOUNT, NULL);
	thread_cache = kmem_cache_create("hwpmc_thread",
					 offsetof(struct hwpmc_thread,
						  phase[hwpmc_nrows]),
					 0, SLAB_ACCOUNT, NULL);
	hwpmc_prealloc_targets.cache = target_cache;
	hwpmc_prealloc_threads.cache = thread_cache;
	if (made && target_cache && thread_cache)
		return 0;
	free_all();
	return -ENOMEM;
}

void hwpmc_targets_exit(void)
{
	hwpmc_registry_stop_growing();
	hwpmc_prealloc_drop();
	hwpmc_unhooked_free();
	rcu_barrier();
	free_all();
}
