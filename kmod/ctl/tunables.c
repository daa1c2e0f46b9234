// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* tunables.c - module parameters and sysctls. Process context. */
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "../compat/sysctl.h"
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
	}
	HWPMC_SYSCTL_END
};

static struct ctl_table_header *header;

int hwpmc_tunables_init(void)
{
	header = register_sysctl("kern/hwpmc", tunables);
	return header ? 0 : -ENOMEM;
}

void hwpmc_tunables_exit(void)
{
	unregister_sysctl_table(header);
}
