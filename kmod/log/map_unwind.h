/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_unwind.h - mappings of processes as walks by unwind tables find them
 * (sampling/unwind_maps.h). Each call is under the mmap_lock of the address space, or in its
 * task where no other thread has it yet.
 */
#ifndef HWPMC_MAP_UNWIND_H
#define HWPMC_MAP_UNWIND_H

#include <linux/types.h>

struct hwpmc_map;
struct mm_struct;
struct vm_area_struct;

/* Add an identified mapping. Returns true if walks use it. */
bool hwpmc_map_unwind(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp);
/* Identify a mapping, store it in *m and add it; one that is not executable is removed.
 * Returns true if walks use it. `pages` as in map_copied.h. */
bool hwpmc_map_unwind_vma(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp,
			  unsigned int *pages);
/* Replace the mappings in [start, end) by those that are there now. */
void hwpmc_map_unwind_range(struct mm_struct *mm, u64 start, u64 end, gfp_t gfp);
/* Replace the mappings of the whole address space. Returns true if the first page of a file
 * was not in the page cache, or a mapping was not compared: none is if gfp may not block. */
bool hwpmc_map_unwind_all(struct mm_struct *mm, gfp_t gfp);

#endif /* HWPMC_MAP_UNWIND_H */
