/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fault.h - the first access to the counters' hardware that has faulted.
 */
#ifndef HWPMC_COMPAT_FAULT_H
#define HWPMC_COMPAT_FAULT_H

#include "types.h"

/*
 * The first access that has faulted since the hardware was claimed, 0: none: an MSR, or
 * HWPMC_FAULT_RDPMC and RDPMC's index (uapi). A hypervisor may filter any register at any
 * time. From then on all values of the claimed classes may be wrong, until the last of
 * their PMCs is released. Read in any context.
 */
extern u32 hwpmc_msr_faulted;

#endif /* HWPMC_COMPAT_FAULT_H */
