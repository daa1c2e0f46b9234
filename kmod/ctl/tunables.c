// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* tunables.c - module parameters and sysctls. Process context. */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "../compat/sysctl.h"
#include "hwpmc_log.h"	/* uapi */
#include "tunables.h"

int hwpmc_unprivileged_syspmcs;
module_param_named(unprivileged_syspmcs, hwpmc_unprivileged_syspmcs, int, 0444);
MODULE_PARM_DESC(unprivileged_syspmcs,
		 "1: anybody may allocate system-scope PMCs (0)");

int hwpmc_unprivileged_proc_debug = 1;
module_param_named(unprivileged_proc_debug, hwpmc_unprivileged_proc_debug, int,
		   0444);
MODULE_PARM_DESC(unprivileged_proc_debug,
		 "0: only the privileged attach to processes other than their own (1)");

int hwpmc_mincount = 1000;
module_param_named(mincount, hwpmc_mincount, int, 0444);
MODULE_PARM_DESC(mincount, "smallest sampling period, 1 or more (1000)");

int hwpmc_callchaindepth = 128;
module_param_named(callchaindepth, hwpmc_callchaindepth, int, 0444);
MODULE_PARM_DESC(callchaindepth, "frames of a call chain, 1 to 512 (128)");

int hwpmc_selfcost = 50;
module_param_named(selfcost, hwpmc_selfcost, int, 0444);
MODULE_PARM_DESC(selfcost,
		 "percent of a CPU's time that sampling may take, 0: all (50)");

static int most_depth = HWPMC_LOG_DEPTH_MAX, all_percent = 100;

static struct ctl_table tunables[] = {
	{
		.procname = "unprivileged_syspmcs",
		.data = &hwpmc_unprivileged_syspmcs,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	},
	{
		.procname = "unprivileged_proc_debug",
		.data = &hwpmc_unprivileged_proc_debug,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = SYSCTL_ONE,
	},
	{
		.procname = "mincount",
		.data = &hwpmc_mincount,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ONE,
	},
	{
		.procname = "callchaindepth",
		.data = &hwpmc_callchaindepth,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ONE,
		.extra2 = &most_depth,
	},
	{
		.procname = "selfcost",
		.data = &hwpmc_selfcost,
		.maxlen = sizeof(int),
		.mode = 0644,
		.proc_handler = proc_dointvec_minmax,
		.extra1 = SYSCTL_ZERO,
		.extra2 = &all_percent,
	}
	HWPMC_SYSCTL_END
};

static struct ctl_table_header *header;

int hwpmc_tunables_init(void)
{
	hwpmc_callchaindepth = clamp(hwpmc_callchaindepth, 1, most_depth);
	hwpmc_selfcost = clamp(hwpmc_selfcost, 0, all_percent);
	header = register_sysctl("kern/hwpmc", tunables);
	return header ? 0 : -ENOMEM;
}

void hwpmc_tunables_exit(void)
{
	unregister_sysctl_table(header);
}
