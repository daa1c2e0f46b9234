// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* main.c - initialises the parts of the module at load, and ends them at unload. */
#include <linux/init.h>
#include <linux/module.h>

#include "core/class.h"
#include "core/cpu.h"
#include "core/total.h"
#include "core/work.h"
#include "ctl/device.h"
#include "debug/debug.h"
#include "debug/trace.h"
#include "debug/tunables.h"
#include "inkernel/inkernel.h"
#include "log/map_retry.h"
#include "log/rt_defer.h"
#include "pmc/hooks.h"
#include "pmc/hotplug.h"
#include "pmc/look.h"
#include "pmc/owner.h"
#include "pmc/wrap.h"
#include "sampling/kgmon.h"
#include "sampling/log.h"
#include "sampling/lost_pmi.h"
#include "sampling/sample.h"
#include "sampling/scratch.h"
#include "sampling/throttle.h"
#include "sampling/unwind_maps.h"
#include "soft/soft.h"
#include "task/rdpmc_cr4.h"
#include "task/rdpmc_switch.h"
#include "task/switch.h"
#include "task/target.h"
#include "task/userpage.h"
#include "machine.h"

/*
 * Neither __init nor inlined into __init code: on Linux 5.10 a static key that __init
 * code enables, here by debugflags=, has no effect in the __init section itself.
 */
static noinline void trace_loaded(void)
{
	trace_hwpmc_module_init(hwpmc_machine.nclass, hwpmc_nrows);
}

static int __init machine_init(void)
{
	return hwpmc_machine_probe(&hwpmc_machine) ?: hwpmc_classes_init();
}

static int __init targets_init(void)
{
	return hwpmc_targets_init(&hwpmc_preempt_ops);
}

/*
 * The parts in the order in which they begin; they end in reverse, also those that began before
 * one that failed. A part has an init, a setup that cannot fail, or nothing to begin with: its
 * exit works too where it was never used.
 */
static const struct part {
	int (*init)(void);
	void (*setup)(void);
	void (*exit)(void);
} parts[] __refconst = {
	{ .init = hwpmc_device_params },
	{ .setup = hwpmc_tunables_check },
	{ .setup = hwpmc_debug_init, .exit = hwpmc_debug_exit },
	{ .init = hwpmc_work_init, .exit = hwpmc_work_exit },
	{ .init = hwpmc_totals_init, .exit = hwpmc_totals_exit },
	{ .init = machine_init, .exit = hwpmc_classes_exit },
	{ .setup = hwpmc_log_clock_init },
	{ .exit = hwpmc_userpage_exit },
	{ .exit = hwpmc_kgmon_exit },
	{ .init = hwpmc_scratch_init, .exit = hwpmc_scratch_exit },
	{ .exit = hwpmc_unwind_maps_end },
	{ .init = targets_init, .exit = hwpmc_targets_exit },
	{ .init = hwpmc_hotplug_init, .exit = hwpmc_hotplug_exit },
	{ .exit = hwpmc_wrap_exit },
	{ .exit = hwpmc_look_exit },
	{ .setup = hwpmc_throttle_init, .exit = hwpmc_throttle_exit },
	{ .exit = hwpmc_overdue_exit },
	{ .exit = hwpmc_nmi_exit },
	{ .setup = hwpmc_rdpmc_init, .exit = hwpmc_rdpmc_exit },
	{ .exit = hwpmc_inkernel_exit },
	{ .exit = hwpmc_map_retries_exit },
	{ .setup = hwpmc_rt_defer_init, .exit = hwpmc_rt_defer_exit },
	{ .init = hwpmc_owners_init, .exit = hwpmc_owners_exit },
	{ .init = hwpmc_hooks_init, .exit = hwpmc_hooks_exit },
	{ .exit = hwpmc_soft_settle },
	{ .init = hwpmc_leave_init, .exit = hwpmc_leave_exit },
	{ .init = hwpmc_tunables_init, .exit = hwpmc_tunables_exit },
	{ .exit = hwpmc_inkernel_shutdown },
	{ .init = hwpmc_device_init, .exit = hwpmc_device_exit },
	{ .setup = trace_loaded },
};

/* The first n of them. */
static void end_parts(unsigned int n)
{
	while (n--)
		if (parts[n].exit)
			parts[n].exit();
}

static int __init hwpmc_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].init ? parts[i].init() : 0;
		if (ret) {
			end_parts(i);
			return ret;
		}
		if (parts[i].setup)
			parts[i].setup();
	}
	return 0;
}

static void __exit hwpmc_exit(void)
{
	end_parts(ARRAY_SIZE(parts));
}

module_init(hwpmc_init);
module_exit(hwpmc_exit);

MODULE_DESCRIPTION("Hardware performance monitoring counters");
MODULE_AUTHOR("The hwpmc for Linux authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("0.1.0");
