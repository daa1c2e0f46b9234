// SPDX-License-Identifier: BSD-2-Clause
/*
 * svmmod.c - while it is loaded, SVM is on on all CPUs of an AMD machine, as with a guest of
 * KVM: EFER.SVME, and then perf is told, at the end the other way round. silent=1: perf is not
 * told, as by other hypervisors.
 */
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/msr.h>

#include "address_of.h"

static void (*tell_on)(void), (*tell_off)(void);
static bool silent;
module_param(silent, bool, 0444);

static void svm_on(void *unused)
{
	u32 low, high;

	rdmsr(MSR_EFER, low, high);
	wrmsr(MSR_EFER, low | EFER_SVME, high);
	if (!silent)
		tell_on();
}

static void svm_off(void *unused)
{
	u32 low, high;

	rdmsr(MSR_EFER, low, high);
	wrmsr(MSR_EFER, low & ~EFER_SVME, high);
	if (!silent)
		tell_off();
}

static int __init svmmod_init(void)
{
	tell_on = address_of("amd_pmu_enable_virt");
	tell_off = address_of("amd_pmu_disable_virt");
	if (!tell_on || !tell_off)
		return -ENOENT;
	on_each_cpu(svm_on, NULL, 1);
	return 0;
}

static void __exit svmmod_exit(void)
{
	on_each_cpu(svm_off, NULL, 1);
}

module_init(svmmod_init);
module_exit(svmmod_exit);
MODULE_DESCRIPTION("turns SVM on");
MODULE_LICENSE("Dual BSD/GPL");
