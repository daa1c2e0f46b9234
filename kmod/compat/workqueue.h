/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * workqueue.h - the queue of schedule_work(), which was renamed; newer kernels warn
 * of the old name. Any context but NMI.
 */
#ifndef HWPMC_COMPAT_WORKQUEUE_H
#define HWPMC_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

#include "have.h"

/* As schedule_delayed_work(), but changes the delay of work that is pending. */
static inline bool hwpmc_reschedule_work(struct delayed_work *work, unsigned long delay)
{
#ifdef HAVE_SYSTEM_PERCPU_WQ
	return mod_delayed_work(system_percpu_wq, work, delay);
#else
	return mod_delayed_work(system_wq, work, delay);
#endif
}

#endif /* HWPMC_COMPAT_WORKQUEUE_H */
