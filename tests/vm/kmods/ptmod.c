// SPDX-License-Identifier: BSD-2-Clause
/*
 * ptmod.c - does at each NMI what perf's handler does on Intel's processors while an event of
 * Intel PT exists: unmasks LVTPC, switches all counters off, acknowledges what has overflowed,
 * and with `restore` switches them on again. It comes before the other handlers, as perf's.
 */
#include <linux/hardirq.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/version.h>
#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#define STATUS		0x38e
#define CTRL		0x38f
#define ACK		0x390

static unsigned int restore;
module_param(restore, uint, 0644);

static void count_irq(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	this_cpu_inc(irq_stat.counts[IRQ_COUNT_APIC_PERF]);
#else
	this_cpu_inc(irq_stat.apic_perf_irqs);
#endif
}

static int handle(unsigned int type, struct pt_regs *regs)
{
	u32 low, high, ctrl[2];

	apic->write(APIC_LVTPC, APIC_DM_NMI);
	rdmsr(CTRL, ctrl[0], ctrl[1]);
	wrmsr(CTRL, 0, 0);
	rdmsr(STATUS, low, high);
	if (low | high) {
		wrmsr(ACK, low, high);
		count_irq();
	}
	if (READ_ONCE(restore))
		wrmsr(CTRL, ctrl[0], ctrl[1]);
	return NMI_DONE;
}

static int __init ptmod_init(void)
{
	return register_nmi_handler(NMI_LOCAL, handle, NMI_FLAG_FIRST, "ptmod");
}

static void __exit ptmod_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "ptmod");
}

module_init(ptmod_init);
module_exit(ptmod_exit);
MODULE_DESCRIPTION("Switches the counters off at each NMI, as perf with Intel PT");
MODULE_LICENSE("Dual BSD/GPL");
