/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * workqueue.h - the flag of a queue whose items run on the CPU where they are queued.
 * Before there was one, every queue without WQ_UNBOUND was such a queue.
 */
#ifndef HWPMC_COMPAT_WORKQUEUE_H
#define HWPMC_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

#include "have.h"

#ifdef HAVE_WQ_PERCPU
#define HWPMC_WQ_PERCPU		WQ_PERCPU
#else
#define HWPMC_WQ_PERCPU		0
#endif

#endif /* HWPMC_COMPAT_WORKQUEUE_H */
