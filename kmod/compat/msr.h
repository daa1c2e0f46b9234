/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * msr.h - access to model specific registers and performance counters of this CPU,
 * under names that are the same for all kernels. Any context, NMI included. Uses the
 * kernel's accessors, so that its MSR tracepoints record each access.
 */
#ifndef HWPMC_COMPAT_MSR_H
#define HWPMC_COMPAT_MSR_H

#include <linux/errno.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "have.h"

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
	return wrmsrl_safe(msr, value);
#endif
}

/*
 * Bypasses the paravirt operations, because each context switch reads every PMC. Only
 * Xen PV replaces this operation, and kmod/machine.c uses no counters there.
 */
static inline u64 hwpmc_rdpmc(u32 index)
{
	return native_read_pmc(index);
}

/* 0, or -EIO if RDPMC faults. Tried once, as hwpmc_rdpmc() cannot handle a fault. */
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
