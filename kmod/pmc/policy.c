// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * policy.c - what the machine's policy forbids to who allocates a PMC, root included. A
 * sample of the kernel has a register of its code at a moment that the sampler chooses:
 * a kernel that is locked down for confidentiality gives no such samples away. Owners in
 * the kernel are part of it. Process context.
 */
#include <linux/security.h>

#include "../core/class.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "policy.h"

#define MODES	(HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)

/* Neither mode means both. */
static bool has_kernel_mode(const struct hwpmc_class *cls,
			    const struct hwpmc_op_pmcallocate *op)
{
	return cls->caps & HWPMC_CAP_SYSTEM && (op->caps & MODES) != HWPMC_CAP_USER;
}

int hwpmc_policy_check(const struct hwpmc_owner *owner, const struct hwpmc_class *cls,
		       struct hwpmc_op_pmcallocate *op)
{
	if (owner->kernel || !has_kernel_mode(cls, op))
		return 0;
	if (hwpmc_mode_is_sampling(op->mode) && security_locked_down(LOCKDOWN_PERF))
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_LOCKDOWN, 0);
	return 0;
}
