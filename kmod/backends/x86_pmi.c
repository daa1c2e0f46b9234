// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * x86_pmi.c - the counters' interrupt in the local APIC, on the CPU concerned.
 *
 * The registers are accessed by the APIC driver's own read() and write(): since 6.x
 * the kernel's apic_write() is a static call whose key is not exported.
 */
#include <linux/printk.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>

#include "x86_pmi.h"

/* Set at load. */
static bool may_mask;		/* LVTPC may be masked at each delivery */
static bool merges;		/* and is: none is queued while one is on its way */

void hwpmc_pmi_class(struct hwpmc_class *cls)
{
	if (!boot_cpu_has(X86_FEATURE_APIC)) {
		cls->caps &= ~HWPMC_CAP_INTERRUPT;
		pr_info_once("no local APIC: no sampling\n");
		return;
	}
	cls->nmi = true;
	merges = boot_cpu_data.x86_vendor == X86_VENDOR_INTEL;
	may_mask = merges || boot_cpu_has(X86_FEATURE_HYPERVISOR);
}

void hwpmc_pmi_open_irqoff(void)
{
	if (boot_cpu_has(X86_FEATURE_APIC))
		apic->write(APIC_LVTPC, APIC_DM_NMI);
}

bool hwpmc_pmi_has_come_nmi(void)
{
	return may_mask && apic->read(APIC_LVTPC) & APIC_LVT_MASKED;
}

/*
 * RDPMC may execute before the APIC has taken the write, be it a store (xAPIC) or a WRMSR that
 * does not serialize (x2APIC): the interrupt of an overflow in between would be dropped, and
 * the second look have missed it. The fences cost less than to read the register back.
 */
void hwpmc_pmi_open_nmi(void)
{
	if (!may_mask)
		return;
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	asm volatile("mfence; lfence" : : : "memory");
}

bool hwpmc_pmi_merges_nmi(void)
{
	return merges;
}
