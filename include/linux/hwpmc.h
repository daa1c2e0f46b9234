/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hwpmc.h - performance counters for other kernel modules: the interface of
 * NetBSD's pmc(9), with the prefix hwpmc_ and task_struct in place of lwp. All
 * functions are EXPORT_SYMBOL_GPL; hwpmc(9) documents them.
 *
 * Each process has its own configuration and value of each counter. A forked child
 * inherits its parent's configuration, enabled or not, and starts at 0; from then on
 * changes of one do not reach the other. When it exits, its events and its children's
 * are added to the children's value of its parent, if both count the same.
 *
 * Unless stated otherwise functions may sleep, and return 0 or a negative errno.
 */
#ifndef _LINUX_HWPMC_H
#define _LINUX_HWPMC_H

#include <linux/types.h>

struct task_struct;

/* The event in the format of the counter's class: `config` of struct
 * hwpmc_op_pmcallocate for hardware counters, `ev` for the others. */
typedef u64 hwpmc_evid_t;
typedef u64 hwpmc_ctr_t;

/* hwpmc_counter_cfg.flags: modes to count in; neither means both. */
#define HWPMC_CFG_USER		0x1
#define HWPMC_CFG_KERNEL	0x2

/**
 * struct hwpmc_counter_cfg - what a counter counts
 * @event_id: the event
 * @reset_value: initial count of the process, not of its children; for profiling, the
 *	period
 * @flags: HWPMC_CFG_*
 */
struct hwpmc_counter_cfg {
	hwpmc_evid_t event_id;
	hwpmc_ctr_t reset_value;
	u32 flags;
};

/* hwpmc_get_counter_value(): the value of exited children. */
#define HWPMC_VALUE_FLAGS_CHILDREN	0x1

int hwpmc_get_num_counters(void);
/* The class of a counter; for -1, the type of the CPU. */
int hwpmc_get_counter_type(int ctr);
void hwpmc_save_context(struct task_struct *task);
void hwpmc_restore_context(struct task_struct *task);
int hwpmc_configure_counter(struct task_struct *task, int ctr,
			    const struct hwpmc_counter_cfg *cfg);
int hwpmc_enable_counter(struct task_struct *task, int ctr);
int hwpmc_disable_counter(struct task_struct *task, int ctr);
int hwpmc_counter_isrunning(struct task_struct *task, int ctr);
int hwpmc_counter_isconfigured(struct task_struct *task, int ctr);
int hwpmc_get_counter_value(struct task_struct *task, int ctr, int flags,
			    u64 *value);
int hwpmc_accumulate(struct task_struct *parent, struct task_struct *exiting);
int hwpmc_alloc_kernel_counter(int ctr, const struct hwpmc_counter_cfg *cfg);
int hwpmc_free_kernel_counter(int ctr);
int hwpmc_start_profiling(int ctr, const struct hwpmc_counter_cfg *cfg);
int hwpmc_stop_profiling(int ctr);
int hwpmc_task_enabled(struct task_struct *task);

/* True if the process or the kernel uses any counter. */
#define HWPMC_ENABLED(task)	hwpmc_task_enabled(task)

#endif /* _LINUX_HWPMC_H */
