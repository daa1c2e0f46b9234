// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * amd_guests.c - see amd_guests.h.
 *
 * The probes run on the CPU that KVM turns SVM on or off on: after it is on, and after it is
 * off. Contexts as in backend.h; the probes' handlers have preemption off.
 */
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <asm/cpufeature.h>

#include "../compat/msr.h"
#include "amd_guests.h"
#include "amd_regs.h"

DEFINE_PER_CPU(u64, hwpmc_amd_withheld);
DEFINE_PER_CPU(u64, hwpmc_amd_host_rows);
static DEFINE_PER_CPU(bool, counters_ours);
static DEFINE_PER_CPU(bool, differed);	/* EFER, at the last look */

bool hwpmc_amd_guests_untried;
static const struct hwpmc_x86_bank *guest_bank;	/* NULL: no guests to tell from the host */

/* One row that counts, with the bit or without. An NMI that stops it between the read and
 * the write has taken it out of the rows: it stays stopped. */
static void renew_row_irqoff(unsigned int ri)
{
	u32 msr = hwpmc_x86_sel(guest_bank, ri);
	u64 sel;

	if (hwpmc_rdmsr_safe(msr, &sel))
		return;
	sel |= AMD_CTL_HOST;
	hwpmc_x86_wrmsr_nmi(msr, sel & ~this_cpu_read(hwpmc_amd_withheld));
	barrier();
	if (!(this_cpu_read(hwpmc_amd_host_rows) & BIT_ULL(ri)))
		hwpmc_x86_wrmsr_nmi(msr, 0);
}

static void renew_rows(u64 withheld)
{
	unsigned long flags;
	unsigned int ri;

	local_irq_save(flags);
	this_cpu_write(hwpmc_amd_withheld, withheld);
	for (ri = 0; this_cpu_read(counters_ours) && ri < guest_bank->num; ri++)
		if (this_cpu_read(hwpmc_amd_host_rows) & BIT_ULL(ri))
			renew_row_irqoff(ri);
	local_irq_restore(flags);
}

static int svm_is_on(struct kprobe *kp, struct pt_regs *regs)
{
	renew_rows(0);
	return 0;
}

static int svm_is_off(struct kprobe *kp, struct pt_regs *regs)
{
	renew_rows(AMD_CTL_HOST);
	return 0;
}

static struct kprobe on_probe, off_probe;

/* What KVM calls to have perf do the same with its own counters. */
static int register_probes(void)
{
	int ret;

	on_probe = (struct kprobe){
		.symbol_name = "amd_pmu_enable_virt", .pre_handler = svm_is_on,
	};
	off_probe = (struct kprobe){
		.symbol_name = "amd_pmu_disable_virt", .pre_handler = svm_is_off,
	};
	ret = register_kprobe(&on_probe);
	if (ret)
		return ret;
	ret = register_kprobe(&off_probe);
	if (ret)
		unregister_kprobe(&on_probe);
	return ret;
}

/* Is the bit of the host in a register once it is written? A hypervisor may not keep it. */
static bool keeps_the_bit(const struct hwpmc_x86_bank *bank)
{
	int keeps = 1;

	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		keeps = hwpmc_x86_select_keeps(bank, AMD_CTL_HOST);
	hwpmc_amd_guests_untried = keeps < 0;
	if (!keeps)
		pr_info("counters count guests of this machine too: the hypervisor does not keep the bit that excludes them\n");
	return keeps > 0;
}

bool hwpmc_amd_guests_init(const struct hwpmc_x86_bank *bank)
{
	int ret;

	/* The bits are there since family 10h. */
	if (!boot_cpu_has(X86_FEATURE_SVM) || boot_cpu_data.x86 < 0x10 || !keeps_the_bit(bank))
		return false;
	guest_bank = bank;
	ret = register_probes();
	if (!ret)
		return true;
	guest_bank = NULL;
	pr_info("counters count guests of this machine too: no probe of KVM (%d)\n", ret);
	return false;
}

void hwpmc_amd_guests_exit(void)
{
	if (!guest_bank)
		return;
	unregister_kprobe(&on_probe);
	unregister_kprobe(&off_probe);
	guest_bank = NULL;
}

void hwpmc_amd_guests_reset_irqoff(bool on)
{
	u64 efer = 0;

	if (!guest_bank)
		return;
	hwpmc_rdmsr_safe(MSR_EFER, &efer);
	this_cpu_write(hwpmc_amd_withheld, efer & EFER_SVME ? 0 : AMD_CTL_HOST);
	this_cpu_write(hwpmc_amd_host_rows, 0);
	this_cpu_write(counters_ours, on);
}

/* KVM's probe follows within microseconds: a difference counts at the second look. */
u32 hwpmc_amd_guests_follow_irqoff(void)
{
	u64 efer, withheld;
	bool before = this_cpu_read(differed);

	if (!guest_bank || hwpmc_rdmsr_safe(MSR_EFER, &efer))
		return 0;
	withheld = (efer & EFER_SVME) ? 0 : AMD_CTL_HOST;
	this_cpu_write(differed, withheld != this_cpu_read(hwpmc_amd_withheld));
	if (!before || !this_cpu_read(differed))
		return 0;
	this_cpu_write(differed, false);
	renew_rows(withheld);
	return MSR_EFER;
}
