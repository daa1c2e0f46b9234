// SPDX-License-Identifier: BSD-2-Clause
/*
 * calmmod.c - insmod returns when sched_switch has no probe. The driver registers one for
 * 200 ms after an attach, and holds its lock while it unregisters it, which waits for each
 * CPU.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static void find(struct tracepoint *tp, void *found)
{
	if (!strcmp(tp->name, "sched_switch"))
		*(struct tracepoint **)found = tp;
}

static int __init calm_init(void)
{
	struct tracepoint *tp = NULL;

	for_each_kernel_tracepoint(find, &tp);
	if (!tp)
		return -ENOENT;
	while (rcu_access_pointer(tp->funcs)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(1);
	}
	return 0;
}

static void __exit calm_exit(void)
{
}

module_init(calm_init);
module_exit(calm_exit);
MODULE_DESCRIPTION("Waits until sched_switch has no probe, for tests that hold or occupy a CPU");
MODULE_LICENSE("Dual BSD/GPL");
