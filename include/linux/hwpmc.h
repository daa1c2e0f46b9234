/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hwpmc.h - performance counters for other kernel modules: the interface of
 * NetBSD's pmc(9), with the prefix hwpmc_ and task_struct in place of lwp. All
 * functions are EXPORT_SYMBOL_GPL; hwpmc(9) documents them.
 *
 * Each process has its own configuration and value of each counter. A forked child
 * inherits its parent's configuration, enabled or disabled, and starts at 0; later
 * changes affect only one of the two. When a process exits, its events and its
 * children's value are added to the children's value of its parent, if both
 * processes count the same event in the same modes.
 *
 * Unless stated otherwise functions may sleep, and return 0 or a negative errno.
 */
#ifndef _LINUX_HWPMC_H
#define _LINUX_HWPMC_H

#include <linux/types.h>

struct task_struct;

/* The event in the format of the counter's class: `config` of struct
 * hwpmc_op_pmcallocate for hardware counters that can interrupt, `ev` for others. */
typedef u64 hwpmc_evid_t;
typedef u64 hwpmc_ctr_t;

/* hwpmc_counter_cfg.flags: modes to count in; neither means both. */
#define HWPMC_CFG_USER		0x1
#define HWPMC_CFG_KERNEL	0x2

/**
 * struct hwpmc_counter_cfg - what a counter counts
 * @event_id: the event
 * @reset_value: initial count of the process, but not of its children; for
 *	hwpmc_start_profiling(), the sampling period in events
 * @flags: HWPMC_CFG_*
 */
struct hwpmc_counter_cfg {
	hwpmc_evid_t event_id;
	hwpmc_ctr_t reset_value;
	u32 flags;
};

/* Flag of hwpmc_get_counter_value(): return the value of exited children. */
#define HWPMC_VALUE_FLAGS_CHILDREN	0x1

/* Returns the number of counters: they are numbered from 0. */
int hwpmc_get_num_counters(void);
/* Returns the class of a counter (enum hwpmc_class_id); for -1, the type of the CPU. */
int hwpmc_get_counter_type(int ctr);
/* Add the current thread's slice to its values, and begin a new slice. Any context but NMI. */
void hwpmc_save_context(struct task_struct *task);
void hwpmc_restore_context(struct task_struct *task);
/* Replace the configuration of a process; a NULL cfg removes it. */
int hwpmc_configure_counter(struct task_struct *task, int ctr,
			    const struct hwpmc_counter_cfg *cfg);
/* Start or stop a configured counter. */
int hwpmc_enable_counter(struct task_struct *task, int ctr);
int hwpmc_disable_counter(struct task_struct *task, int ctr);
/* Return 1 if it runs or is configured for the process, or if the kernel uses it; else 0. */
int hwpmc_counter_isrunning(struct task_struct *task, int ctr);
int hwpmc_counter_isconfigured(struct task_struct *task, int ctr);
/* Read the value of a process, or, if task is NULL, of a counter of the kernel. */
int hwpmc_get_counter_value(struct task_struct *task, int ctr, int flags,
			    u64 *value);
/* Add the values of a running child to the children's value of its parent, and clear them. */
int hwpmc_accumulate(struct task_struct *parent, struct task_struct *exiting);
/* Count all events of the CPUs that are online now, until the counter is freed. */
int hwpmc_alloc_kernel_counter(int ctr, const struct hwpmc_counter_cfg *cfg);
int hwpmc_free_kernel_counter(int ctr);
/* Sample into the histogram of hwpmc-kgmon(8), every cfg->reset_value events. */
int hwpmc_start_profiling(int ctr, const struct hwpmc_counter_cfg *cfg);
int hwpmc_stop_profiling(int ctr);
/* Returns 1 if the process or the kernel uses any counter, else 0. */
int hwpmc_task_enabled(struct task_struct *task);

/* True if the process or the kernel uses any counter. */
#define HWPMC_ENABLED(task)	hwpmc_task_enabled(task)

#endif /* _LINUX_HWPMC_H */
