// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_mediated.c - see x86_mediated.h.
 *
 * perf has two numbers that exclude each other: of its events that include guests, and of
 * guests with a mediated PMU. KVM asks perf before it makes such a guest and is refused
 * with EBUSY while there is such an event; perf refuses such an event with EOPNOTSUPP while
 * there is such a guest. The module counts guests too, so it is to KVM as such an event: a
 * probe of what KVM asks gives the answer that perf would give. Whether there is a guest
 * already is perf's to say: a claim tries to open such an event.
 */
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "x86_guard.h"
#include "x86_mediated.h"

static struct kprobe probe;
static bool probe_ready;	/* constant after load */
static bool keeping_out;	/* written under hwpmc_lock, read in the probe */
static bool any_refused;	/* since load: set in the probe */

/* In the place of perf_create_mediated_pmu(). */
static noinline int refuse_guest(void)
{
	return -EBUSY;
}

static int guest_asks(struct kprobe *kp, struct pt_regs *regs)
{
	if (!READ_ONCE(keeping_out))
		return 0;
	WRITE_ONCE(any_refused, true);
	regs->ip = (unsigned long)refuse_guest;
	return 1;
}

/* A probe without it may be optimised into a form that cannot divert a call. */
static void guest_asked(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

void hwpmc_x86_mediated_init(void)
{
	int ret;

	probe = (struct kprobe){
		.symbol_name = "perf_create_mediated_pmu",
		.pre_handler = guest_asks, .post_handler = guest_asked,
	};
	ret = register_kprobe(&probe);
	probe_ready = !ret;
	/* Older kernels have no mediated PMU. */
	if (ret && ret != -ENOENT)
		pr_info("guests with KVM's mediated PMU are not kept out: no probe of perf (%d)\n",
			ret);
}

void hwpmc_x86_mediated_exit(void)
{
	if (!probe_ready)
		return;
	unregister_kprobe(&probe);
	/* A task may have been switched away in refuse_guest(), which goes with the module.
	 * Takes up to a second, so not without need. */
	if (any_refused)
		synchronize_rcu_tasks();
	probe_ready = false;
}

bool hwpmc_x86_mediated_keep_out(void)
{
	if (!probe_ready)
		return true;
	/* First: a guest that asks between the two is refused. */
	WRITE_ONCE(keeping_out, true);
	if (hwpmc_x86_guard_asks() != -EOPNOTSUPP)
		return true;
	hwpmc_x86_mediated_let_in();
	return false;
}

void hwpmc_x86_mediated_let_in(void)
{
	WRITE_ONCE(keeping_out, false);
}
