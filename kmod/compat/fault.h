/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * fault.h - what makes values of the counters' hardware unreliable.
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
#define hwpmc_msr_faulted	hwpmc_unreliable.faulted

/* A single load of .any shows whether all values are reliable. */
union hwpmc_unreliable {
	struct {
		u32 faulted;
		u32 doubts;	/* 1: core/doubt.h has found something since the load */
	};
	u64 any;
};

extern union hwpmc_unreliable hwpmc_unreliable;

#endif /* HWPMC_COMPAT_FAULT_H */
