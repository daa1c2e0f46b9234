// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.1: mappings are in a maple tree, no longer in a list. */
#include <linux/mm.h>

struct vm_area_struct *probe(struct mm_struct *mm);
struct vm_area_struct *probe(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);

	return vma_find(&vmi, ULONG_MAX);
}
