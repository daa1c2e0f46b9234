/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * msr.h - access to model specific registers and performance counters of this CPU,
 * under names that are the same for all kernels. Any context, NMI included. Uses the
 * kernel's accessors, so that its MSR tracepoints record each access.
 */
#ifndef HWPMC_COMPAT_MSR_H
#define HWPMC_COMPAT_MSR_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "fault.h"
#include "have.h"
#include "hwpmc.h"		/* uapi */

static inline u64 hwpmc_rdmsr(u32 msr)
{
	u64 value;

#ifdef HAVE_RDMSRQ
	rdmsrq(msr, value);
#else
	rdmsrl(msr, value);
#endif
	return value;
}

static inline void hwpmc_wrmsr(u32 msr, u64 value)
{
#ifdef HAVE_RDMSRQ
	wrmsrq(msr, value);
#else
	wrmsrl(msr, value);
#endif
}

/* 0, or -EIO where the register does not exist; *value is then undefined. */
static inline int hwpmc_rdmsr_safe(u32 msr, u64 *value)
{
#ifdef HAVE_RDMSRQ
	return rdmsrq_safe(msr, value);
#else
	return rdmsrl_safe(msr, value);
#endif
}

/* 0, or -EIO where the register does not exist or refuses the value. */
static inline int hwpmc_wrmsr_safe(u32 msr, u64 value)
{
#ifdef HAVE_RDMSRQ
	return wrmsrq_safe(msr, value);
#else
	/* As the macro for 64 bits, but for its cast of a constant: sparse reports that. */
	return wrmsr_safe(msr, lower_32_bits(value), upper_32_bits(value));
#endif
}

/*
 * The same without the kernel's accessors, which take about 50 instructions, for each sample of
 * class IBS makes several accesses. The kernel's tracepoints do not record them.
 */
static __always_inline int hwpmc_rdmsr_direct(u32 msr, u64 *value)
{
	unsigned long low = 0, high = 0;
	int err = -EIO;

	asm volatile("1:	rdmsr\n"
		     "	xorl %[err], %[err]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [err] "+r" (err), "+a" (low), "+d" (high) : "c" (msr) : "cc");
	*value = low | (u64)high << 32;
	return err;
}

static __always_inline int hwpmc_wrmsr_direct(u32 msr, u64 value)
{
	int err = -EIO;

	asm volatile("1:	wrmsr\n"
		     "	xorl %[err], %[err]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [err] "+r" (err)
		     : "c" (msr), "a" (lower_32_bits(value)), "d" (upper_32_bits(value))
		     : "cc", "memory");
	return err;
}

/*
 * A fault of RDPMC is noted in hwpmc_msr_faulted, and the value is 0. The code for that
 * has a section of its own, for the compiler may put a reader into .text.unlikely. As in
 * the kernel's own exception table it returns to the instruction behind the RDPMC.
 *
 * Bypasses the paravirt operations, because each context switch reads every PMC. Only
 * Xen PV replaces this operation, and kmod/machine.c uses no counters there.
 */
static __always_inline u64 hwpmc_rdpmc(u32 index)
{
	unsigned long low, high;

	asm volatile("1:	rdpmc\n"
		     "2:\n"
		     "	.pushsection .text.hwpmc_rdpmc_faults, \"ax\"\n"
		     "3:	xorl %%eax, %%eax\n"
		     "	movl %%ecx, %%edx\n"
		     "	orl %[rdpmc], %%edx\n"
		     "	lock cmpxchgl %%edx, %c[noted](%%rip)\n"
		     "	xorl %%eax, %%eax\n"
		     "	xorl %%edx, %%edx\n"
		     "	jmp 2b\n"
		     "	.popsection\n"
		     _ASM_EXTABLE(1b, 3b)
		     : "=a" (low), "=d" (high)
		     : "c" (index), [rdpmc] "i" (HWPMC_FAULT_RDPMC),
		       [noted] "i" (&hwpmc_msr_faulted)
		     : "cc");
	return low | (u64)high << 32;
}

/* 0, or -EIO if RDPMC faults; without a note. */
static inline int hwpmc_rdpmc_faults(u32 index)
{
	int err = -EIO;

	asm volatile("1:	rdpmc\n"
		     "	xorl %[err], %[err]\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : [err] "+r" (err) : "c" (index) : "eax", "edx", "cc");
	return err;
}

#endif /* HWPMC_COMPAT_MSR_H */
