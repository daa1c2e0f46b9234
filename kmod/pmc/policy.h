/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* policy.h - what the machine's policy forbids to the allocator of a PMC. */
#ifndef HWPMC_POLICY_H
#define HWPMC_POLICY_H

struct hwpmc_class;
struct hwpmc_op_pmcallocate;
struct hwpmc_owner;

/* 0, or a refusal. The class has the requested capabilities. Process context. */
int hwpmc_policy_check(const struct hwpmc_owner *owner, const struct hwpmc_class *cls,
		       struct hwpmc_op_pmcallocate *op);

#endif /* HWPMC_POLICY_H */
