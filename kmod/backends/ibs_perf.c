// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ibs_perf.c - see ibs_perf.h. Probes of three functions of perf's driver give the answers that
 * perf itself gives where another event has the hardware. They exist on all kernels
 * since 5.10, and their addresses are taken, so they are not inlined.
 */
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "ibs_perf.h"

static bool ibs_keeping_out;	/* written under hwpmc_lock, read in the probes */
static bool ibs_any_refused;	/* since load: set in the probes */

/* In the place of perf_ibs_init(). */
static noinline int refuse_event(void)
{
	return -EBUSY;
}

/* In the place of perf_ibs_add(): the event stays open, and unscheduled. */
static noinline int refuse_schedule(void)
{
	return -ENOSPC;
}

/* In the place of perf_ibs_start(), which ends a throttling of an event that was scheduled
 * before. */
static noinline int ignore_start(void)
{
	return 0;
}

static int divert_perf(struct pt_regs *regs, int (*answer)(void))
{
	WRITE_ONCE(ibs_any_refused, true);
	regs->ip = (unsigned long)answer;
	return 1;
}

/* perf asks each driver in turn whether an event is its own: others must get no answer. */
static int event_opens(struct kprobe *kp, struct pt_regs *regs)
{
	const struct perf_event *event = (const struct perf_event *)regs->di;

	if (!READ_ONCE(ibs_keeping_out) || event->attr.type != event->pmu->type)
		return 0;
	return divert_perf(regs, refuse_event);
}

static int event_is_scheduled(struct kprobe *kp, struct pt_regs *regs)
{
	return READ_ONCE(ibs_keeping_out) ? divert_perf(regs, refuse_schedule) : 0;
}

static int event_starts(struct kprobe *kp, struct pt_regs *regs)
{
	return READ_ONCE(ibs_keeping_out) ? divert_perf(regs, ignore_start) : 0;
}

/* A probe without it may be optimised into a form that cannot divert a call. */
static void after_probe(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe ibs_probes[] = {
	{ .symbol_name = "perf_ibs_init", .pre_handler = event_opens, .post_handler = after_probe },
	{ .symbol_name = "perf_ibs_add", .pre_handler = event_is_scheduled,
	  .post_handler = after_probe },
	{ .symbol_name = "perf_ibs_start", .pre_handler = event_starts,
	  .post_handler = after_probe },
};

static bool ibs_probes_ready;	/* constant after load */

static void unregister_first(unsigned int n)
{
	while (n--)
		unregister_kprobe(&ibs_probes[n]);
}

bool hwpmc_ibs_perf_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(ibs_probes); i++) {
		ret = register_kprobe(&ibs_probes[i]);
		if (!ret)
			continue;
		unregister_first(i);
		pr_info("no instruction-based sampling: no probe of perf's driver (%d)\n", ret);
		return false;
	}
	ibs_probes_ready = true;
	return true;
}

void hwpmc_ibs_perf_exit(void)
{
	if (!ibs_probes_ready)
		return;
	unregister_first(ARRAY_SIZE(ibs_probes));
	/* A task may have been switched away in an answer, which goes with the module. */
	if (ibs_any_refused)
		synchronize_rcu_tasks();
	ibs_probes_ready = false;
}

void hwpmc_ibs_perf_keep_out(void)
{
	WRITE_ONCE(ibs_keeping_out, true);
}

void hwpmc_ibs_perf_let_in(void)
{
	WRITE_ONCE(ibs_keeping_out, false);
}
