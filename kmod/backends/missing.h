/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * missing.h - why a class is missing, as far as a hypervisor can be the cause. Process
 * context, at load.
 */
#ifndef HWPMC_BACKENDS_MISSING_H
#define HWPMC_BACKENDS_MISSING_H

#include <asm/cpufeature.h>

#include "backend.h"

/* -ENODEV: the class is missing, by this cause, or under a hypervisor by the other. */
static inline int hwpmc_missing(struct hwpmc_class *cls, u32 why, u32 guest)
{
	cls->refusal.reason = boot_cpu_has(X86_FEATURE_HYPERVISOR) ? guest : why;
	return -ENODEV;
}

#endif /* HWPMC_BACKENDS_MISSING_H */
