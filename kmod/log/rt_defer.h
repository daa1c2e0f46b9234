/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rt_defer.h - on real-time kernels only: records of mappings are written on the return to
 * user mode instead of in the probe.
 */
#ifndef HWPMC_RT_DEFER_H
#define HWPMC_RT_DEFER_H

struct vm_area_struct;

/* Called from probes, in the task concerned. */
void hwpmc_defer_map(struct vm_area_struct *vma);
void hwpmc_defer_exec_maps(void);
#ifdef CONFIG_PREEMPT_RT
void hwpmc_rt_defer_init(void);
/* Call after the probes are unregistered. Sleeps until no mapping is pending. */
void hwpmc_rt_defer_exit(void);
#else
static inline void hwpmc_rt_defer_init(void) { }
static inline void hwpmc_rt_defer_exit(void) { }
#endif

#endif /* HWPMC_RT_DEFER_H */
