/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hotplug.h - the state of CPU hotplug for a callback that runs on a CPU as its last task
 * has been switched out (interrupts off, all CPUs stopped). Only the states of the
 * callbacks before it can be allocated dynamically. This one belongs to the PMU driver of
 * another architecture in each kernel from 5.10; a module that takes it as well is refused
 * with EBUSY.
 */
#ifndef HWPMC_COMPAT_HOTPLUG_H
#define HWPMC_COMPAT_HOTPLUG_H

#include <linux/cpuhotplug.h>

#define HWPMC_CPUHP_DYING CPUHP_AP_PERF_XTENSA_STARTING

#endif /* HWPMC_COMPAT_HOTPLUG_H */
