// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * at_once.c - see at_once.h.
 *
 * A hypervisor such as KVM makes each counter of a guest of one of its host's, from the write
 * that enables it until the write that disables it. A row of process scope stays enabled on
 * each CPU where a thread of it has run, until its last PMC is released. So a CPU has, at a
 * time, all rows that process-scope PMCs have, and those that system-scope PMCs have there: as
 * many as the trial has seen count together, and no more. It does not matter which PMCs of a
 * row these are, or how many.
 */
#include <linux/cpumask.h>

#include "../core/cpu.h"
#include "at_once.h"

/* Two classes of one claim have their counters of the same host. */
static bool is_of_bank(const struct hwpmc_class *cls, const struct hwpmc_class *other)
{
	return cls->ops->hardware.claim == other->ops->hardware.claim;
}

static unsigned int pmc_takes(const struct hwpmc_class *cls, bool pair)
{
	return pair ? max(1u, cls->ops->trial->pair_takes) : 1;
}

/* The host's counters that the row takes on this CPU. */
static unsigned int row_takes(unsigned int nr, u32 cpu)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	bool last = row->ri + 1 == row->cls->num;

	if (!(row->cls->shared & BIT_ULL(row->ri)))
		return 0;
	if (row->users <= 0 && !(per_cpu_ptr(hwpmc_cpus, cpu)->taken & BIT_ULL(nr)))
		return 0;
	return pmc_takes(row->cls, !last && row[1].halves);
}

/* The same of all rows but this one. */
static unsigned int others_take(unsigned int nr, u32 cpu)
{
	const struct hwpmc_class *cls = hwpmc_rows[nr].cls;
	unsigned int i, sum = 0;

	for (i = 0; i < hwpmc_nrows; i++)
		if (i != nr && is_of_bank(cls, hwpmc_rows[i].cls))
			sum += row_takes(i, cpu);
	return sum;
}

static bool cpu_admits(unsigned int nr, u32 cpu, bool pair)
{
	const struct hwpmc_class *cls = hwpmc_rows[nr].cls;
	unsigned int now = row_takes(nr, cpu), then = max(now, pmc_takes(cls, pair));

	return then == now || others_take(nr, cpu) + then <= cls->at_once;
}

bool hwpmc_at_once_admits(unsigned int nr, u32 cpu, bool pair)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	if (!(row->cls->shared & BIT_ULL(row->ri)))
		return true;
	if (cpu != HWPMC_CPU_ANY)
		return cpu_admits(nr, cpu, pair);
	for_each_possible_cpu(i)
		if (!cpu_admits(nr, i, pair))
			return false;
	return true;
}
