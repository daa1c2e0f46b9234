// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * policy.c - what the machine's policy forbids to the allocator of a PMC. A sample of the
 * kernel has a register of its code at a moment that the sampler chooses: a kernel that
 * is locked down for confidentiality gives nobody such samples, root included. An
 * unprivileged user measures kernel mode only if the administrator permits it: counts
 * and addresses tell what the kernel did for others. kernel.perf_event_paranoid, which
 * answers this for perf, is not readable by a module. Owners in the kernel are part of
 * it. Process context.
 */
#include <linux/capability.h>
#include <linux/security.h>

#include "../core/class.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../debug/tunables.h"
#include "policy.h"

#define MODES	(HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)

/* Neither mode means both. */
static bool has_kernel_mode(const struct hwpmc_class *cls,
			    const struct hwpmc_op_pmcallocate *op)
{
	return cls->caps & HWPMC_CAP_SYSTEM && (op->caps & MODES) != HWPMC_CAP_USER;
}

/* Everybody has these counts from getrusage(2), /proc/stat and /proc/PID/sched. */
static bool is_public_count(const struct hwpmc_op_pmcallocate *op)
{
	if (op->class != HWPMC_CLASS_SOFT || hwpmc_mode_is_sampling(op->mode))
		return false;
	switch (op->ev) {
	case HWPMC_EV_SOFT_CLOCK_HARD:
	case HWPMC_EV_SOFT_CLOCK_STAT:
	case HWPMC_EV_SOFT_CLOCK_PROF:
	case HWPMC_EV_SOFT_PAGE_FAULT_ALL:
	case HWPMC_EV_SOFT_PAGE_FAULT_READ:
	case HWPMC_EV_SOFT_PAGE_FAULT_WRITE:
	case HWPMC_EV_SOFT_CONTEXT_SWITCH:
	case HWPMC_EV_SOFT_CPU_MIGRATION:
		return true;
	}
	return false;
}

static bool may_measure_kernel(void)
{
	return READ_ONCE(hwpmc_unprivileged_kernel) || perfmon_capable();
}

int hwpmc_policy_check(const struct hwpmc_owner *owner, const struct hwpmc_class *cls,
		       struct hwpmc_op_pmcallocate *op)
{
	if (owner->kernel || !has_kernel_mode(cls, op))
		return 0;
	if (hwpmc_mode_is_sampling(op->mode) && security_locked_down(LOCKDOWN_PERF))
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_LOCKDOWN, 0);
	if (!is_public_count(op) && !may_measure_kernel())
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_KERNEL, 0);
	return 0;
}
