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

static int __init hwpmc_init(void)
{
	int ret = hwpmc_device_params();

	if (ret)
		return ret;
	hwpmc_tunables_check();
	hwpmc_debug_init();
	ret = hwpmc_work_init();
	if (ret)
		goto err_work;
	ret = hwpmc_totals_init();
	if (ret)
		goto err_totals;
	ret = hwpmc_machine_probe(&hwpmc_machine);
	ret = ret ?: hwpmc_classes_init();
	if (ret)
		goto err_classes;
	hwpmc_log_clock_init();
	hwpmc_throttle_init();
	hwpmc_rt_defer_init();
	hwpmc_rdpmc_init();
	ret = hwpmc_owners_init();
	if (ret)
		goto err_owners;
	ret = hwpmc_leave_init();
	if (ret)
		goto err_leave;
	ret = hwpmc_scratch_init();
	if (ret)
		goto err_scratch;
	ret = hwpmc_hooks_init();
	if (ret)
		goto err_hooks;
	ret = hwpmc_targets_init(&hwpmc_preempt_ops);
	if (ret)
		goto err_hooks;
	ret = hwpmc_hotplug_init();
	if (ret)
		goto err_cpus;
	ret = hwpmc_tunables_init();
	if (ret)
		goto err_tunables;
	ret = hwpmc_device_init();
	if (ret)
		goto err_device;
	trace_loaded();
	return 0;

err_device:
	hwpmc_tunables_exit();
err_tunables:
	hwpmc_hotplug_exit();
err_cpus:
	hwpmc_targets_exit();
err_hooks:
	hwpmc_scratch_exit();
err_scratch:
	hwpmc_leave_exit();
err_leave:
	hwpmc_owners_exit();
err_owners:
	hwpmc_classes_exit();
err_classes:
	hwpmc_totals_exit();
err_totals:
	hwpmc_work_exit();
err_work:
	hwpmc_debug_exit();
	return ret;
}

static void __exit hwpmc_exit(void)
{
	hwpmc_device_exit();
	hwpmc_inkernel_shutdown();
	hwpmc_tunables_exit();
	hwpmc_leave_exit();
	hwpmc_soft_settle();
	hwpmc_hooks_exit();
	hwpmc_owners_exit();
	hwpmc_rt_defer_exit();
	hwpmc_map_retries_exit();
	hwpmc_inkernel_exit();
	hwpmc_rdpmc_exit();
	hwpmc_nmi_exit();
	hwpmc_overdue_exit();
	hwpmc_throttle_exit();
	hwpmc_look_exit();
	hwpmc_wrap_exit();
	hwpmc_hotplug_exit();
	hwpmc_targets_exit();
	hwpmc_unwind_maps_end();
	hwpmc_scratch_exit();
	hwpmc_kgmon_exit();
	hwpmc_userpage_exit();
	hwpmc_classes_exit();
	hwpmc_totals_exit();
	hwpmc_work_exit();
	hwpmc_debug_exit();
}

module_init(hwpmc_init);
module_exit(hwpmc_exit);

MODULE_DESCRIPTION("Hardware performance monitoring counters");
MODULE_AUTHOR("The hwpmc for Linux authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION("0.1.0");
