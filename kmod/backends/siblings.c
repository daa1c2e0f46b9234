// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* siblings.c - see siblings.h. */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "../base/lock.h"
#include "siblings.h"

/* Changed with CPUs held online or offline; so a CPU that comes reads a value that stays. */
static unsigned int siblings_users;

bool hwpmc_has_sibling_online(unsigned int cpu)
{
	return cpumask_weight(topology_sibling_cpumask(cpu)) > 1;
}

int hwpmc_sibling_find(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (hwpmc_has_sibling_online(cpu))
			return cpu;
	return -1;
}

int hwpmc_siblings_get(u32 reason, struct hwpmc_hdr *hdr)
{
	int sibling;

	lockdep_assert_held(&hwpmc_lock);
	cpus_read_lock();
	sibling = hwpmc_sibling_find();
	if (sibling < 0)
		siblings_users++;
	cpus_read_unlock();
	return sibling < 0 ? 0 : hwpmc_refuse(hdr, -EINVAL, reason, sibling);
}

void hwpmc_siblings_put(void)
{
	lockdep_assert_held(&hwpmc_lock);
	cpus_read_lock();
	siblings_users--;
	cpus_read_unlock();
}

int hwpmc_siblings_online_irqoff(void)
{
	return siblings_users && hwpmc_has_sibling_online(smp_processor_id()) ? -EBUSY : 0;
}
