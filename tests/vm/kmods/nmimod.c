// SPDX-License-Identifier: BSD-2-Clause
/*
 * nmimod.c - owns up to the NMIs that the emulated PMU raises without a cause, as the
 * driver of another device would to its own: so what the kernel still reports as
 * unknown while it is loaded is somebody else's fault. With `slow` it takes so many
 * instructions more each time, as a kernel that is built to find faults does. A write to
 * `off` keeps the writer so many instructions with interrupts off.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <asm/nmi.h>
#include <asm/processor.h>

#include "vpmu_guest.h"

static unsigned int slow;
module_param(slow, uint, 0644);

static int stay_off(const char *text, const struct kernel_param *kp)
{
	unsigned long flags;
	unsigned int n, i;
	int ret = kstrtouint(text, 0, &n);

	if (ret)
		return ret;
	local_irq_save(flags);
	for (i = 0; i < n; i++)
		cpu_relax();
	local_irq_restore(flags);
	return 0;
}

static const struct kernel_param_ops off_ops = { .set = stay_off };
module_param_cb(off, &off_ops, NULL, 0200);

static int claim(unsigned int type, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(slow); i++)
		cpu_relax();
	return vpmu_query(VPMU_CLAIM, 0, 0) ? NMI_HANDLED : NMI_DONE;
}

static int __init nmimod_init(void)
{
	return register_nmi_handler(NMI_LOCAL, claim, 0, "nmimod");
}

static void __exit nmimod_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "nmimod");
}

module_init(nmimod_init);
module_exit(nmimod_exit);
MODULE_DESCRIPTION("Claims the emulated PMU's NMIs without a cause");
MODULE_LICENSE("Dual BSD/GPL");
