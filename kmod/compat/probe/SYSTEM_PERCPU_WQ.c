// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* About 6.17, and in stable kernels: system_wq is to go, system_percpu_wq its name. */
#include <linux/workqueue.h>

struct workqueue_struct *probe(void);

struct workqueue_struct *probe(void)
{
	return system_percpu_wq;
}
