/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_follow.h - keeps the mappings up to date that walks by unwind tables need
 * (map_unwind.h), and looks again at those that a probe could not read (map_retry.h). Does
 * nothing while no PMC needs them.
 */
#ifndef HWPMC_MAP_FOLLOW_H
#define HWPMC_MAP_FOLLOW_H

#include <linux/types.h>

struct hwpmc_map;
struct mm_struct;
struct task_struct;
struct vm_area_struct;

/* Add an identified mapping. */
void hwpmc_map_follow(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp);
/* Add a mapping that may be executable or not. In probes, in the task concerned, under its
 * mmap_lock. */
void hwpmc_map_follow_vma(struct vm_area_struct *vma);
/* Add all of an address space. Under its mmap_lock, or where it is new and current's. */
void hwpmc_map_follow_all(struct mm_struct *mm, gfp_t gfp);
/* Add those of a new process, and of a program that was executed: in the probes. */
void hwpmc_map_follow_fork(struct task_struct *child);
void hwpmc_map_follow_exec(void);

#endif /* HWPMC_MAP_FOLLOW_H */
