// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Switches, forks and exits are seen by tracepoints that are found by name, mappings by
 * kprobes.
 */
#include <linux/kprobes.h>
#include <linux/tracepoint.h>

static void find(struct tracepoint *tp, void *arg)
{
	if (tp->name)
		tracepoint_probe_register(tp, arg, NULL);
}

int need(struct kprobe *kp, void *arg);
int need(struct kprobe *kp, void *arg)
{
	for_each_kernel_tracepoint(find, arg);
	unregister_kprobe(kp);
	return register_kprobe(kp);
}
