// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Counters follow threads by preempt notifiers. */
#include <linux/preempt.h>
#include <linux/sched.h>

static void in(struct preempt_notifier *notifier, int cpu)
{
}

static void out(struct preempt_notifier *notifier, struct task_struct *next)
{
}

static struct preempt_ops ops = { .sched_in = in, .sched_out = out };

void need(struct preempt_notifier *notifier);
void need(struct preempt_notifier *notifier)
{
	preempt_notifier_inc();
	preempt_notifier_init(notifier, &ops);
	preempt_notifier_register(notifier);
	preempt_notifier_unregister(notifier);
	preempt_notifier_dec();
}
