/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * vma.h - walk over all mappings of an mm in order, under mmap_lock:
 *	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK(mm);
 *	while ((vma = hwpmc_vma_next(&walk)))
 * HWPMC_VMA_WALK_FROM(mm, address): from the first that ends above the address.
 */
#ifndef HWPMC_COMPAT_VMA_H
#define HWPMC_COMPAT_VMA_H

#include <linux/mm.h>

#include "have.h"

#ifdef HAVE_VMA_FIND
struct hwpmc_vma_walk {
	struct mm_struct *mm;
	unsigned long at;
};

#define HWPMC_VMA_WALK_FROM(m, a)	{ .mm = (m), .at = (a) }

static inline struct vm_area_struct *hwpmc_vma_next(struct hwpmc_vma_walk *walk)
{
	VMA_ITERATOR(vmi, walk->mm, walk->at);
	struct vm_area_struct *vma = vma_find(&vmi, ULONG_MAX);

	if (vma)
		walk->at = vma->vm_end;
	return vma;
}
#else
struct hwpmc_vma_walk {
	struct vm_area_struct *next;
};

#define HWPMC_VMA_WALK_FROM(m, a)	{ .next = find_vma(m, a) }

static inline struct vm_area_struct *hwpmc_vma_next(struct hwpmc_vma_walk *walk)
{
	struct vm_area_struct *vma = walk->next;

	if (vma)
		walk->next = vma->vm_next;
	return vma;
}
#endif

#define HWPMC_VMA_WALK(m)	HWPMC_VMA_WALK_FROM(m, 0)

/* Name of a mapping without a file, such as "[vdso]"; NULL: none. */
static inline const char *hwpmc_vma_name(struct vm_area_struct *vma)
{
	return vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;
}

#endif /* HWPMC_COMPAT_VMA_H */
