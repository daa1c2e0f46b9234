// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * tsc.c - class TSC, the time-stamp counter: one row that always runs, cannot be
 * written and is shared by all PMCs. Contexts as in backend.h.
 */
#include <linux/kernel.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "classes.h"

static int tsc_probe(struct hwpmc_class *cls)
{
	if (!boot_cpu_has(X86_FEATURE_TSC))
		return -ENODEV;
	cls->name = "TSC";
	cls->id = HWPMC_CLASS_TSC;
	cls->caps = HWPMC_CAP_READ;
	cls->width = 64;
	cls->num = 1;
	cls->rdpmc_base = -1;
	cls->shareable = true;
	cls->system_only = true;
	return 0;
}

static int tsc_encode(const struct hwpmc_class *cls,
		      const struct hwpmc_request *req,
		      struct hwpmc_encoding *enc)
{
	if (req->mode != HWPMC_MODE_SC)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_MODE, 0);
	if (req->flags & HWPMC_F_EV_PMU || req->ev != HWPMC_EV_TSC)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	*enc = (struct hwpmc_encoding){ .select = { .sel = 1 }, .rows = 1 };
	return 0;
}

static u64 tsc_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	return rdtsc_ordered();
}

const struct hwpmc_class_ops hwpmc_tsc_ops = {
	.probe = tsc_probe,
	.encode = tsc_encode,
	.row.read_irqoff = tsc_read_irqoff,
};
