/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * inkernel.h - what the files of the interface for other modules share, and their
 * part in unloading. The interface itself is include/linux/hwpmc.h.
 *
 *	process.c	counters of processes
 *	kernel.c	counters of the kernel, and its profile
 */
#ifndef HWPMC_INKERNEL_H
#define HWPMC_INKERNEL_H

#include "../core/owner.h"
#include "../task/target.h"

struct hwpmc_counter_cfg;

/* End all counters. Before the hooks go: a PMC that ends needs them. */
void hwpmc_inkernel_shutdown(void);
/* After the hooks: exits of processes queue no more work. */
void hwpmc_inkernel_exit(void);

/* The PMCALLOCATE request of a configuration. */
void hwpmc_inkernel_request(unsigned int nr,
			    const struct hwpmc_counter_cfg *cfg, u32 mode,
			    struct hwpmc_op_pmcallocate *op);
/* Is this counter, or any, used as the kernel's? hwpmc_lock. */
bool hwpmc_inkernel_has(unsigned int nr);
bool hwpmc_inkernel_has_any(void);
void hwpmc_inkernel_free_all(void);
int hwpmc_inkernel_value(unsigned int nr, u64 *value);

#endif /* HWPMC_INKERNEL_H */
