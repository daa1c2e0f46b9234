// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* total.c - the parts of a PMC's count. Process context. */
#include <linux/slab.h>

#include "total.h"

unsigned long *hwpmc_cpu_offset;
unsigned int hwpmc_ncpu_offsets;

bool hwpmc_pmc_new_parts(struct hwpmc_pmc *pmc)
{
	pmc->part = alloc_percpu_gfp(u64, GFP_KERNEL_ACCOUNT);
	if (pmc->part)
		pmc->nparts = hwpmc_ncpu_offsets;
	return pmc->part;
}

void hwpmc_pmc_free(struct hwpmc_pmc *pmc)
{
	free_percpu(pmc->part);
	kfree(pmc);
}

static void free_callback(struct rcu_head *rcu)
{
	hwpmc_pmc_free(container_of(rcu, struct hwpmc_pmc, rcu));
}

void hwpmc_pmc_free_rcu(struct hwpmc_pmc *pmc)
{
	call_rcu(&pmc->rcu, free_callback);
}

int hwpmc_totals_init(void)
{
	int cpu;

	hwpmc_cpu_offset = kmalloc_array(num_possible_cpus(), sizeof(*hwpmc_cpu_offset),
					 GFP_KERNEL);
	if (!hwpmc_cpu_offset)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		hwpmc_cpu_offset[hwpmc_ncpu_offsets++] = per_cpu_offset(cpu);
	return 0;
}

void hwpmc_totals_exit(void)
{
	rcu_barrier();	/* free_callback() */
	kfree(hwpmc_cpu_offset);
}
