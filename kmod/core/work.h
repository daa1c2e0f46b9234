/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * work.h - the module's own workqueues. Not those of the kernel: a queue runs a limited
 * number of items at one time, and users can make the kernel or this module queue many
 * that sleep. The number of items here does not depend on what users do: each is a
 * static object, or one of each CPU.
 */
#ifndef HWPMC_WORK_H
#define HWPMC_WORK_H

#include <linux/workqueue.h>

/* Items run on any CPU: a real-time thread that occupies one delays none of them. */
extern struct workqueue_struct *hwpmc_wq;
/* Items run on the CPU that they are queued on. Nothing waits for one without a limit,
 * or with a lock held. */
extern struct workqueue_struct *hwpmc_cpu_wq;

int hwpmc_work_init(void);
/* Waits for items that are queued. */
void hwpmc_work_exit(void);

/* Any context but NMI. */
static inline bool hwpmc_work(struct work_struct *work)
{
	return queue_work(hwpmc_wq, work);
}

static inline bool hwpmc_work_later(struct delayed_work *work, unsigned long delay)
{
	return queue_delayed_work(hwpmc_wq, work, delay);
}

/* Changes the delay of work that is pending. */
static inline bool hwpmc_work_again(struct delayed_work *work, unsigned long delay)
{
	return mod_delayed_work(hwpmc_wq, work, delay);
}

#endif /* HWPMC_WORK_H */
