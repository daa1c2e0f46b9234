// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* pmc.c - functions of a PMC for all layers. Contexts: pmc.h. */
#include "cpu.h"
#include "pmc.h"

int hwpmc_pmc_refuse_unreliable(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = hwpmc_pmc_refuse_msr_fault(pmc, hdr);
	u64 doubt;

	if (ret || !hwpmc_pmc_doubts(pmc))
		return ret;
	doubt = READ_ONCE(hwpmc_rows[pmc->row].doubt);
	return hwpmc_refuse(hdr, -EIO, doubt >> 32, (s32)doubt);
}

int hwpmc_pmc_refuse_msr_fault(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	u32 msr = hwpmc_class_fault(hwpmc_rows[pmc->row].cls);

	if (!msr)
		return 0;
	return hwpmc_refuse(hdr, -EIO, HWPMC_WHY_PMU_REFUSED, msr);
}

void hwpmc_pmc_harvest_irqoff(struct hwpmc_pmc *pmc)
{
	const struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	u64 now = hwpmc_row_read_irqoff(row);

	atomic64_add(hwpmc_cpu_delta_irqoff(this_cpu_ptr(hwpmc_cpus), pmc->row, pmc->system.start, now,
					    row->mask), &pmc->total);
	pmc->system.start = now;
}
