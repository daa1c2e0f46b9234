// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * descent.c - who descends from a process, in a time that depends on how many
 * processes there are and not on how they hang together: a user can make chains of
 * thousands, and everybody waits for hwpmc_lock meanwhile. Process context.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "descent.h"

enum verdict { UNKNOWN, YES, NO };

struct node {
	struct task_struct *task;	/* a leader; a reference */
	struct task_struct *parent;	/* only compared */
	u8 verdict;
};

static int compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return x->task < y->task ? -1 : x->task > y->task;
}

static struct node *find(struct node *nodes, unsigned int n,
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

/* Up to one that is known, and down again: each node is decided once. */
static void decide(struct node *nodes, unsigned int n, struct node *node,
		   const struct task_struct *ancestor)
{
	struct node *top = node, *next;
	unsigned int steps;
	u8 verdict = UNKNOWN;

	for (steps = 0; verdict == UNKNOWN; steps++) {
		next = top->parent == ancestor ? NULL : find(nodes, n, top->parent);
		if (top->parent == ancestor)
			verdict = YES;
		else if (!next || next == top || steps > n)
			verdict = NO;
		else
			verdict = next->verdict;
		if (verdict == UNKNOWN)
			top = next;
	}
	for (; node != top; node = find(nodes, n, node->parent))
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

static unsigned int collect(struct node *nodes, unsigned int room)
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
	/* Those that come meanwhile are found next time. */
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
	n = collect(nodes, room);
	sort(nodes, n, sizeof(*nodes), compare, NULL);
	for (i = 0; i < n; i++) {
		if (nodes[i].verdict == UNKNOWN)
			decide(nodes, n, &nodes[i], ancestor);
		if (nodes[i].verdict == YES)
			d->task[d->n++] = nodes[i].task;
		else
			put_task_struct(nodes[i].task);
		if (!(i % 1024))
			cond_resched();
	}
	kvfree(nodes);
	return 0;
}
