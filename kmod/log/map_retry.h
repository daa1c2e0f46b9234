/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_retry.h - does soon what a probe cannot do: take mmap_lock and look at mappings, and
 * before that read the first page of a file.
 */
#ifndef HWPMC_MAP_RETRY_H
#define HWPMC_MAP_RETRY_H

#include <linux/types.h>

struct file;
struct mm_struct;

/* Look at [start, end) again, and before that read the file's first page, if one is given. Any
 * context that may allocate by gfp. */
void hwpmc_map_retry(struct mm_struct *mm, u64 start, u64 end, struct file *file, gfp_t gfp);
/* Call after hwpmc_mappings_hold(). Waits for the release of the mappings only without memory. */
void hwpmc_mappings_put(struct mm_struct *mm);
/* Wait until all looks that were requested are made, for two seconds at most. */
void hwpmc_map_retries_wait(void);
/* At unload, when no probe is left. */
void hwpmc_map_retries_exit(void);

#endif /* HWPMC_MAP_RETRY_H */
