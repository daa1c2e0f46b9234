// SPDX-License-Identifier: BSD-2-Clause
/*
 * reservemod.c - reserves a counter and a select as perf does: by the addresses counter= and
 * select= of MSRs. Loads where both could be reserved, and has released them then; else
 * insmod fails with EBUSY (the counter) or ENOSPC (the select).
 */
#include <linux/module.h>
#include <asm/nmi.h>

static unsigned int counter, select;
module_param(counter, uint, 0);
module_param(select, uint, 0);

static int __init reservemod_init(void)
{
	if (!reserve_perfctr_nmi(counter))
		return -EBUSY;
	release_perfctr_nmi(counter);
	if (!reserve_evntsel_nmi(select))
		return -ENOSPC;
	release_evntsel_nmi(select);
	return 0;
}

static void __exit reservemod_exit(void)
{
}

module_init(reservemod_init);
module_exit(reservemod_exit);
MODULE_DESCRIPTION("reserves as perf does");
MODULE_LICENSE("Dual BSD/GPL");
