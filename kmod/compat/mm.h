/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* mm.h - leaving an address space, and flags of a mapping. */
#ifndef HWPMC_COMPAT_MM_H
#define HWPMC_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/mmu_context.h>
#include <linux/smp.h>
#include <asm/mmu.h>

#include "have.h"

/* In a kernel thread: drop the lazy mm of this CPU, so that the next switch to it
 * loads CR4.PCE again. */
static inline void hwpmc_leave_mm(void)
{
	unsigned long flags;

	local_irq_save(flags);
#ifdef HAVE_LEAVE_MM_VOID
	leave_mm();
#else
	leave_mm(smp_processor_id());
#endif
	local_irq_restore(flags);
}

/* In a device's mmap(), before the mapping is visible to others. */
static inline void hwpmc_vma_flags(struct vm_area_struct *vma,
				   unsigned long set, unsigned long clear)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
}

#endif /* HWPMC_COMPAT_MM_H */
