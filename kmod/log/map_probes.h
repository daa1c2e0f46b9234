/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_probes.h - kprobes on new mappings and on the end of mappings, while PMCs need them.
 */
#ifndef HWPMC_MAP_PROBES_H
#define HWPMC_MAP_PROBES_H

struct vm_area_struct;

/* MAP_IN records of new mappings. */
int hwpmc_mappings_hook(void);
void hwpmc_mappings_unhook(void);
/* Write one of an executable mapping of the current process to all logs concerned. In probes,
 * under its mmap_lock. `pages` as in map_copied.h. */
void hwpmc_report_vma(struct vm_area_struct *vma, unsigned int *pages);
/* Mappings for walks by unwind tables. Calls pair. hwpmc_lock; may sleep. */
int hwpmc_mappings_follow(void);
void hwpmc_mappings_unfollow(void);

#endif /* HWPMC_MAP_PROBES_H */
