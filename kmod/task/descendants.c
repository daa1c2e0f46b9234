// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * descendants.c - finds the descendants of a process. The time depends on the number of
 * processes only, not on the shape of their tree: a user can make chains of thousands,
 * and the caller holds hwpmc_lock meanwhile. Process context.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "../core/owner.h"
#include "descendants.h"
#include "target.h"

enum verdict { VERDICT_UNKNOWN, VERDICT_YES, VERDICT_NO };

struct node {
	struct task_struct *task;	/* a leader; a reference */
	struct task_struct *parent;	/* only compared */
	u8 verdict;
};

static int node_compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static struct node *node_find(struct node *nodes, unsigned int n,
			      const struct task_struct *task)
{
	unsigned int low = 0, high = n;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (nodes[mid].task == task)
			return &nodes[mid];
		if (nodes[mid].task < task)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Go up to an ancestor whose verdict is known, then give it to all nodes in between:
 * each node is decided once. */
static void node_decide(struct node *nodes, unsigned int n, struct node *node,
			const struct task_struct *ancestor)
{
	struct node *top = node, *next;
	unsigned int steps;
	u8 verdict = VERDICT_UNKNOWN;

	for (steps = 0; verdict == VERDICT_UNKNOWN; steps++) {
		next = top->parent == ancestor ? NULL : node_find(nodes, n, top->parent);
		if (top->parent == ancestor)
			verdict = VERDICT_YES;
		else if (!next || next == top || steps > n)
			verdict = VERDICT_NO;
		else
			verdict = next->verdict;
		if (verdict == VERDICT_UNKNOWN)
			top = next;
	}
	for (; node != top; node = node_find(nodes, n, node->parent))
		node->verdict = verdict;
	top->verdict = verdict;
}

static unsigned int count_processes(void)
{
	struct task_struct *task;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_process(task)
		n++;
	rcu_read_unlock();
	return n;
}

static unsigned int nodes_collect(struct node *nodes, unsigned int room)
{
	struct task_struct *task;
	unsigned int n = 0;

	rcu_read_lock();
	for_each_process(task) {
		if (n == room)
			break;
		if (task->flags & PF_KTHREAD || !atomic_read(&task->signal->live))
			continue;
		get_task_struct(task);
		nodes[n++] = (struct node){
			.task = task,
			.parent = rcu_dereference(task->real_parent)->group_leader,
		};
	}
	rcu_read_unlock();
	return n;
}

void hwpmc_descent_put(struct hwpmc_descent *d)
{
	while (d->n)
		put_task_struct(d->task[--d->n]);
	kvfree(d->task);
	d->task = NULL;
}

int hwpmc_descent_get(struct hwpmc_descent *d, const struct task_struct *ancestor)
{
	/* Processes forked meanwhile are found in the next pass (attach.c). */
	unsigned int room = count_processes() + 64, n, i;
	struct node *nodes;

	*d = (struct hwpmc_descent){};
	nodes = kvmalloc_array(room, sizeof(*nodes), GFP_KERNEL_ACCOUNT);
	d->task = kvmalloc_array(room, sizeof(*d->task), GFP_KERNEL_ACCOUNT);
	if (!nodes || !d->task) {
		kvfree(nodes);
		hwpmc_descent_put(d);
		return -ENOMEM;
	}
	n = nodes_collect(nodes, room);
	sort(nodes, n, sizeof(*nodes), node_compare, NULL);
	for (i = 0; i < n; i++) {
		if (nodes[i].verdict == VERDICT_UNKNOWN)
			node_decide(nodes, n, &nodes[i], ancestor);
		if (nodes[i].verdict == VERDICT_YES)
			d->task[d->n++] = nodes[i].task;
		else
			put_task_struct(nodes[i].task);
		if (!(i % 1024))
			cond_resched();
	}
	kvfree(nodes);
	return 0;
}

/* ---- what a process leaves to its parent --------------------------------- */

/* Their values may be added: one configuration, inherited, or two that are equal. */
static bool counts_same_event(const struct hwpmc_pmc *a, const struct hwpmc_pmc *b)
{
	return a == b || (a->owner->kernel && b->owner->kernel &&
			  a->row == b->row && a->select.sel == b->select.sel &&
			  a->select.extra == b->select.extra);
}

void hwpmc_descent_move_values_locked(struct hwpmc_target *from,
				      struct hwpmc_target *to)
{
	unsigned int nr;

	lockdep_assert_held(&hwpmc_targets_lock);
	for_each_row(nr, from->rows & from->slow_path) {
		struct hwpmc_link *link = &from->link[nr], *parent = &to->link[nr];

		if (!link->pmc->owner->kernel || !parent->pmc ||
		    !counts_same_event(link->pmc, parent->pmc))
			continue;
		/* Events alone: the initial value is no event of the child. */
		parent->children += atomic64_xchg(&link->total, 0) +
				    link->children;
		link->initial = 0;
		link->children = 0;
	}
}

void hwpmc_descent_exit_locked(struct hwpmc_target *target)
{
	struct hwpmc_target *parent;

	lockdep_assert_held(&hwpmc_targets_lock);
	rcu_read_lock();
	parent = hwpmc_target_find(rcu_dereference(current->real_parent));
	if (parent && parent != target)
		hwpmc_descent_move_values_locked(target, parent);
	rcu_read_unlock();
}
