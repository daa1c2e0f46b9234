// SPDX-License-Identifier: BSD-2-Clause
/*
 * suspendmod.c - puts the one CPU that is online through the last step of a suspend
 * and the first of a resume, with the loss of the counters' state between them. What
 * comes before and after in a real one, devices and the other CPUs, is left out:
 * the virtual machine's files come through devices that do not bear it.
 *
 * Writing 1 to parameters/now does it, 0 does nothing.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/syscore_ops.h>
#include <asm/msr.h>
#include <asm/processor.h>

#include "vpmu_guest.h"

static void lose_intel(void)
{
	unsigned int i;

	wrmsr_safe(0x38f, 0, 0);		/* global control, fixed control */
	wrmsr_safe(0x38d, 0, 0);
	for (i = 0; i < 8; i++) {
		wrmsr_safe(0x186 + i, 0, 0);
		wrmsr_safe(0xc1 + i, 0, 0);
	}
	for (i = 0; i < 4; i++)
		wrmsr_safe(0x309 + i, 0, 0);
}

static void lose_amd(void)
{
	unsigned int i;

	wrmsr_safe(0xc0000301, 0, 0);	/* global control, version 2 */
	for (i = 0; i < 6; i++) {
		wrmsr_safe(0xc0010200 + 2 * i, 0, 0);
		wrmsr_safe(0xc0010201 + 2 * i, 0, 0);
	}
	wrmsr_safe(0xc0011030, 0, 0);	/* instruction-based sampling: fetches, ops */
	wrmsr_safe(0xc0011033, 0, 0);
}

/* S3 ends with clocks that begin anew: the TSC at 0, MPERF and APERF (option power=N) earlier
 * than they were. */
static void restart_clocks(void)
{
	wrmsr_safe(0x10, 0, 0);
	vpmu_knob(VPMU_KNOB_CLOCK, 0);
}

static int nap(void)
{
	unsigned long flags;
	int ret;

	if (num_online_cpus() > 1)
		return -EBUSY;
	local_irq_save(flags);
	ret = syscore_suspend();
	if (!ret) {
		if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
			lose_intel();
		else
			lose_amd();
		restart_clocks();
		syscore_resume();
	}
	local_irq_restore(flags);
	return ret;
}

static int set_now(const char *value, const struct kernel_param *kp)
{
	return value[0] == '1' ? nap() : 0;
}

static const struct kernel_param_ops now_ops = { .set = set_now };
module_param_cb(now, &now_ops, NULL, 0200);

static int __init suspendmod_init(void)
{
	return 0;
}

static void __exit suspendmod_exit(void)
{
}

module_init(suspendmod_init);
module_exit(suspendmod_exit);
MODULE_DESCRIPTION("The last step of a suspend, the first of a resume");
MODULE_LICENSE("Dual BSD/GPL");
