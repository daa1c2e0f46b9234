// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* About 6.17, and in stable kernels: a queue says that its items are bound to a CPU. */
#include <linux/workqueue.h>

unsigned int probe(void);

unsigned int probe(void)
{
	return WQ_PERCPU;
}
