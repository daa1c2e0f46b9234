// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * aperf.c - class PERF: MPERF and APERF, which count while the CPU is not halted, at the
 * frequency of the time-stamp counter and at the frequency that there is. They always run
 * and are never written: the kernel reads them too. Shared by all PMCs. Contexts as in
 * backend.h.
 */
#include <linux/kernel.h>
#include <asm/cpufeature.h>

#include "../compat/msr.h"
#include "aperf_regs.h"
#include "classes.h"
#include "missing.h"

static const struct {
	const char *name;
	u32 msr;
} rows[] = {
	{ "MPERF", APERF_MSR_MPERF },
	{ "APERF", APERF_MSR_APERF },
};

static int aperf_probe(struct hwpmc_class *cls)
{
	unsigned int i;
	u64 value;

	if (!boot_cpu_has(X86_FEATURE_APERFMPERF))
		return hwpmc_missing(cls, HWPMC_WHY_CLASS_NONE, HWPMC_WHY_CLASS_GUEST);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (hwpmc_rdmsr_safe(rows[i].msr, &value))
			return hwpmc_missing(cls, HWPMC_WHY_CLASS_FAULT,
					     HWPMC_WHY_CLASS_GUEST);
	cls->name = "PERF";
	cls->id = HWPMC_CLASS_PERF;
	cls->caps = HWPMC_CAP_READ;
	cls->width = 64;
	cls->num = ARRAY_SIZE(rows);
	cls->rdpmc_base = -1;
	cls->shareable = true;
	cls->system_only = true;
	cls->privileged = true;
	return 0;
}

static int aperf_encode(const struct hwpmc_class *cls, const struct hwpmc_request *req,
			struct hwpmc_encoding *enc)
{
	u32 ri = req->ev - HWPMC_EV_PERF_MPERF;

	if (req->mode != HWPMC_MODE_SC)
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_MODE, 0);
	if (req->flags & HWPMC_F_EV_PMU || ri >= ARRAY_SIZE(rows))
		return hwpmc_encode_refuse(enc, -EINVAL, HWPMC_WHY_EVENT, 0);
	*enc = (struct hwpmc_encoding){ .select = { .sel = 1 }, .rows = BIT_ULL(ri) };
	return 0;
}

static u64 aperf_read_irqoff(struct hwpmc_class *cls, unsigned int ri)
{
	u64 value;

	if (!hwpmc_rdmsr_safe(rows[ri].msr, &value))
		return value;
	/* A hypervisor has taken it away: no count is told any more. */
	WRITE_ONCE(cls->read_fault, rows[ri].msr);
	return 0;
}

static const char *aperf_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev)
{
	if (place >= ARRAY_SIZE(rows))
		return NULL;
	*ev = HWPMC_EV_PERF_MPERF + place;
	return rows[place].name;
}

static const char *aperf_event_name(const struct hwpmc_class *cls, u32 ev)
{
	u32 ri = ev - HWPMC_EV_PERF_MPERF;

	return ri < ARRAY_SIZE(rows) ? rows[ri].name : NULL;
}

static const char *aperf_row_name(unsigned int ri)
{
	return rows[ri].name;
}

const struct hwpmc_class_ops hwpmc_aperf_ops = {
	.probe = aperf_probe,
	.encode = aperf_encode,
	.row.read_irqoff = aperf_read_irqoff,
	.events.at = aperf_event_at,
	.events.name = aperf_event_name,
	.row.name = aperf_row_name,
};
