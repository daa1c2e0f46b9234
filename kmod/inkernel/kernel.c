// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * kernel.c - counters of the kernel, for other modules: one row on every online CPU,
 * counting whatever runs there or sampling for the kernel's profile
 * (sampling/kgmon.c). Process context; takes hwpmc_lock.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/hwpmc.h>

#include "../pmc/allocate.h"
#include "../pmc/owner.h"
#include "../pmc/run.h"
#include "../sampling/kgmon.h"
#include "inkernel.h"

/* By row: the owner of its PMCs, one PMC for each CPU; NULL: not in use here.
 * hwpmc_lock. */
static struct {
	struct hwpmc_owner *owner;
	u64 reset_value;
	bool profiling;
} counters[HWPMC_ROW_MAX];

bool hwpmc_inkernel_has(unsigned int nr)
{
	lockdep_assert_held(&hwpmc_lock);
	return counters[nr].owner;
}

bool hwpmc_inkernel_has_any(void)
{
	unsigned int nr;

	for (nr = 0; nr < hwpmc_nrows; nr++)
		if (hwpmc_inkernel_has(nr))
			return true;
	return false;
}

int hwpmc_inkernel_value(unsigned int nr, u64 *value)
{
	struct hwpmc_pmc *pmc;
	u64 sum, one;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!counters[nr].owner || counters[nr].profiling)
		return -ENOENT;
	if (hwpmc_class_fault(hwpmc_rows[nr].cls))
		return -EIO;
	sum = counters[nr].reset_value;
	list_for_each_entry(pmc, &counters[nr].owner->pmcs, owner_node) {
		ret = hwpmc_pmc_read(pmc, &one);
		if (ret)
			return ret;
		sum += one;
	}
	*value = sum;
	return 0;
}

static int start_on(struct hwpmc_owner *owner, unsigned int nr,
		    const struct hwpmc_op_pmcallocate *request, unsigned int cpu)
{
	struct hwpmc_op_pmcallocate op = *request;
	int ret;

	op.cpu = cpu;
	ret = hwpmc_pmc_allocate(owner, &op, "", BIT_ULL(nr));
	return ret ?: hwpmc_pmc_start(hwpmc_owner_find(owner, op.pmcid),
				      &op.hdr);
}

static int start_all(struct hwpmc_owner *owner, unsigned int nr,
		     const struct hwpmc_counter_cfg *cfg, bool profiling)
{
	struct hwpmc_op_pmcallocate op;
	int cpu, ret = 0;

	hwpmc_inkernel_request(nr, cfg, profiling ? HWPMC_MODE_SS :
			       HWPMC_MODE_SC, &op);
	if (profiling) {
		op.flags |= HWPMC_F_KGMON;
		op.count = cfg->reset_value;
	}
	/* A CPU that comes online later has no PMC, so it is not counted. */
	for_each_online_cpu(cpu) {
		ret = start_on(owner, nr, &op, cpu);
		if (ret)
			break;
	}
	return ret;
}

static bool is_profiling(void)
{
	unsigned int nr;

	for (nr = 0; nr < hwpmc_nrows; nr++)
		if (counters[nr].owner && counters[nr].profiling)
			return true;
	return false;
}

/* Switch the histogram off if no counter profiles any more. */
static void stop_profile_if_unused(void)
{
	mutex_lock(&hwpmc_lock);
	if (!is_profiling())
		hwpmc_kgmon_switch(false);
	mutex_unlock(&hwpmc_lock);
}

static int kernel_counter_alloc(int ctr, const struct hwpmc_counter_cfg *cfg, bool profiling)
{
	struct hwpmc_owner *owner;
	int ret;

	if (ctr < 0 || ctr >= hwpmc_nrows || !cfg)
		return -EINVAL;
	owner = hwpmc_owner_new(true);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	mutex_lock(&hwpmc_lock);
	ret = counters[ctr].owner ? -EBUSY : 0;
	/* Before the counters start, or the first samples would be lost. */
	if (!ret && profiling)
		hwpmc_kgmon_switch(true);
	ret = ret ?: start_all(owner, ctr, cfg, profiling);
	if (!ret) {
		counters[ctr].owner = owner;
		counters[ctr].reset_value = cfg->reset_value;
		counters[ctr].profiling = profiling;
	}
	mutex_unlock(&hwpmc_lock);
	if (ret)
		hwpmc_owner_end(owner);
	if (ret && profiling)
		stop_profile_if_unused();
	return ret;
}

static int kernel_counter_free(int ctr, bool profiling)
{
	struct hwpmc_owner *owner;

	if (ctr < 0 || ctr >= hwpmc_nrows)
		return -EINVAL;
	mutex_lock(&hwpmc_lock);
	owner = counters[ctr].profiling == profiling ? counters[ctr].owner :
						       NULL;
	if (owner)
		counters[ctr].owner = NULL;
	mutex_unlock(&hwpmc_lock);
	if (!owner)
		return -ENOENT;
	hwpmc_owner_end(owner);
	if (profiling)
		stop_profile_if_unused();
	return 0;
}

void hwpmc_inkernel_free_all(void)
{
	unsigned int nr;

	for (nr = 0; nr < hwpmc_nrows; nr++)
		if (counters[nr].owner)
			hwpmc_owner_end(counters[nr].owner);
}

/**
 * hwpmc_alloc_kernel_counter - have a counter count all that runs, on every CPU
 * @ctr: the counter
 * @cfg: what it counts; it starts at once
 *
 * Return: 0; -EINVAL no such counter, it cannot count that, or it is used by
 * processes; -EBUSY it is used by the kernel already, or by perf; -ENOMEM.
 */
int hwpmc_alloc_kernel_counter(int ctr, const struct hwpmc_counter_cfg *cfg)
{
	return kernel_counter_alloc(ctr, cfg, false);
}
EXPORT_SYMBOL_GPL(hwpmc_alloc_kernel_counter);

/**
 * hwpmc_free_kernel_counter - release a counter of the kernel
 * @ctr: the counter
 *
 * Return: 0; -EINVAL no such counter; -ENOENT it is not the kernel's.
 */
int hwpmc_free_kernel_counter(int ctr)
{
	return kernel_counter_free(ctr, false);
}
EXPORT_SYMBOL_GPL(hwpmc_free_kernel_counter);

/**
 * hwpmc_start_profiling - have a counter sample the addresses of the kernel
 * @ctr: the counter
 * @cfg: the event, and in @reset_value the number of events in one sample
 *
 * Samples go to the histogram that "hwpmc kgmon" shows.
 *
 * Return: as hwpmc_alloc_kernel_counter(); -EOPNOTSUPP it cannot interrupt.
 */
int hwpmc_start_profiling(int ctr, const struct hwpmc_counter_cfg *cfg)
{
	return kernel_counter_alloc(ctr, cfg, true);
}
EXPORT_SYMBOL_GPL(hwpmc_start_profiling);

/**
 * hwpmc_stop_profiling - stop sampling; the histogram is kept
 * @ctr: the counter
 *
 * Return: 0; -EINVAL no such counter; -ENOENT it does not profile.
 */
int hwpmc_stop_profiling(int ctr)
{
	return kernel_counter_free(ctr, true);
}
EXPORT_SYMBOL_GPL(hwpmc_stop_profiling);
