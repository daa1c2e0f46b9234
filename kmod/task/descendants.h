/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* descendants.h - the descendants of a process now, and how its values go to its parent. */
#ifndef HWPMC_DESCENDANTS_H
#define HWPMC_DESCENDANTS_H

struct hwpmc_target;
struct task_struct;

struct hwpmc_descent {
	struct task_struct **task;	/* leaders, a reference each */
	unsigned int n;
};

/* ancestor: a leader. -ENOMEM; after 0 the caller calls hwpmc_descent_put(). */
int hwpmc_descent_get(struct hwpmc_descent *d, const struct task_struct *ancestor);
void hwpmc_descent_put(struct hwpmc_descent *d);

/* Owners in the kernel: add what a process has counted to .children of its parent's
 * links. */
void hwpmc_descent_move_values_locked(struct hwpmc_target *from,
				      struct hwpmc_target *to);
/* The last thread of a target, current, exits: add its values to its parent's. */
void hwpmc_descent_exit_locked(struct hwpmc_target *target);

#endif /* HWPMC_DESCENDANTS_H */
