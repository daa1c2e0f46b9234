/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* descent.h - the descendants of a process at a moment. */
#ifndef HWPMC_DESCENT_H
#define HWPMC_DESCENT_H

struct task_struct;

struct hwpmc_descent {
	struct task_struct **task;	/* leaders, a reference each */
	unsigned int n;
};

/* ancestor: a leader. -ENOMEM, or 0 and then hwpmc_descent_put(). */
int hwpmc_descent_get(struct hwpmc_descent *d, const struct task_struct *ancestor);
void hwpmc_descent_put(struct hwpmc_descent *d);

#endif /* HWPMC_DESCENT_H */
