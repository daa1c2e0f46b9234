// SPDX-License-Identifier: BSD-2-Clause
/*
 * calmmod.c - its loading waits until nobody has a probe of sched_switch. The driver has
 * one for 200 ms after an attach, and holds its lock while it takes it away, which needs
 * each CPU.
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
MODULE_DESCRIPTION("Waits until nobody looks at switches, for tests of what comes then");
MODULE_LICENSE("Dual BSD/GPL");
