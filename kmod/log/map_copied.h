/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_copied.h - code of a file in anonymous memory. Programs that want their code on huge
 * pages copy it, and put the copy where the code was, by mremap() or by mmap() with MAP_FIXED.
 * The kernel lists anonymous memory there. The file is the one that is mapped beside it, if its
 * code belongs there and has the same bytes.
 */
#ifndef HWPMC_MAP_COPIED_H
#define HWPMC_MAP_COPIED_H

#include <linux/types.h>

struct hwpmc_map;
struct vm_area_struct;

/* Pages that a probe compares in all its mappings: preemption is off. */
#define HWPMC_PROBE_PAGES	64

/* A mapping without a file that has the code of one becomes that file's, with
 * HWPMC_MAP_COPY. After hwpmc_map_init(), under mmap_lock. If gfp may not block: in a probe in
 * the current process. *pages is how many pages may be compared, and is decreased; NULL: any
 * number. A mapping for which they do not suffice stays as it is, and is `uncompared`. */
void hwpmc_map_find_copied(struct hwpmc_map *m, struct vm_area_struct *vma, gfp_t gfp,
			   unsigned int *pages);

#endif /* HWPMC_MAP_COPIED_H */
