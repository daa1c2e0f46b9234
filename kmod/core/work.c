// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* work.c - makes and ends the module's workqueues. Process context, at load and unload. */
#include <linux/errno.h>

#include "../compat/workqueue.h"
#include "work.h"

struct workqueue_struct *hwpmc_wq, *hwpmc_cpu_wq;

int hwpmc_work_init(void)
{
	/* With a rescuer each: items also run when no worker can be made. */
	hwpmc_wq = alloc_workqueue("hwpmc", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!hwpmc_wq)
		return -ENOMEM;
	hwpmc_cpu_wq = alloc_workqueue("hwpmc_cpu", HWPMC_WQ_PERCPU |
				       WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (hwpmc_cpu_wq)
		return 0;
	destroy_workqueue(hwpmc_wq);
	return -ENOMEM;
}

void hwpmc_work_exit(void)
{
	destroy_workqueue(hwpmc_cpu_wq);
	destroy_workqueue(hwpmc_wq);
}
