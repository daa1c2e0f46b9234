// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * run.c - starts, stops and reads a PMC. Process context: start and stop under
 * hwpmc_lock, read under RCU.
 */
#include <linux/smp.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "../log/loss.h"
#include "../sampling/log.h"
#include "../task/attach.h"
#include "../task/start_stop.h"
#include "../task/migrations.h"
#include "../task/system.h"
#include "run.h"

/* ---- start and stop ------------------------------------------------------ */

int hwpmc_pmc_prepare(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (unlikely(READ_ONCE(hwpmc_leaving)))
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_LEAVING, 0);
	ret = hwpmc_pmc_msr_fault(pmc, hdr);
	if (ret)
		return ret;
	hwpmc_doubt_begin(pmc);
	if (hwpmc_pmc_needs_log(pmc) && !hwpmc_log_is_open(pmc->owner))
		return hwpmc_refuse(hdr, -EBADFD, HWPMC_WHY_NO_LOG, 0);
	if (hwpmc_pmc_is_system(pmc) || !list_empty(&pmc->process.links))
		return 0;
	if (pmc->process.was_attached)
		return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_TARGETS, 0);
	return hwpmc_attach_owner(pmc, hdr);
}

int hwpmc_pmc_start(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state == HWPMC_STATE_RUNNING)
		return 0;
	trace_hwpmc_pmc_start(pmc);
	ret = hwpmc_pmc_prepare(pmc, hdr);
	if (ret)
		return ret;
	if (!hwpmc_pmc_is_system(pmc)) {
		hwpmc_targets_activate(pmc);
		return 0;
	}
	ret = hwpmc_system_start(pmc);
	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_CPU_OFFLINE, pmc->cpu);
	WRITE_ONCE(pmc->state, HWPMC_STATE_RUNNING);
	ret = hwpmc_pmc_msr_fault(pmc, hdr);
	if (ret)
		hwpmc_pmc_halt(pmc);
	return ret;
}

/* An owner that samples reads no count, whose read would report the fault. */
int hwpmc_pmc_check_samples(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	return hwpmc_pmc_needs_log(pmc) ? hwpmc_pmc_check_value(pmc, hdr) : 0;
}

int hwpmc_pmc_stop(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state == HWPMC_STATE_STOPPED)
		return 0;
	if (pmc->state != HWPMC_STATE_RUNNING)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NOT_STARTED, 0);
	trace_hwpmc_pmc_stop(pmc);
	if (!hwpmc_pmc_is_system(pmc)) {
		hwpmc_targets_deactivate(pmc);
		hwpmc_log_losses(pmc);
		return hwpmc_pmc_check_samples(pmc, hdr);
	}
	ret = hwpmc_system_stop(pmc);
	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_CPU_OFFLINE, pmc->cpu);
	hwpmc_doubt_end(pmc);
	hwpmc_log_losses(pmc);
	return hwpmc_pmc_check_samples(pmc, hdr);
}

/* ---- reading ------------------------------------------------------------- */

static void process_read_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;

	if (c->row[pmc->row].pmc == pmc)
		hwpmc_cpu_harvest_irqoff(c, pmc->row);
}

/* Of what the row of the PMC has in flight on a CPU with its per-CPU data there. */
static unsigned long in_flight_at(const struct hwpmc_pmc *pmc)
{
	return (__force unsigned long)&hwpmc_cpus->row[pmc->row].pmc;
}

static bool has_in_flight(unsigned long at, const struct hwpmc_pmc *pmc)
{
	return smp_load_acquire((struct hwpmc_pmc **)at) == pmc;	/* A */
}

static bool is_in_flight(int cpu, void *pmc)
{
	return has_in_flight(in_flight_at(pmc) + per_cpu_offset(cpu), pmc);
}

/* Not by the mask of CPUs that are online, whose walk takes three times the instructions:
 * a CPU that is offline has nothing in flight. */
static bool is_in_flight_elsewhere(const struct hwpmc_pmc *pmc, unsigned int here)
{
	const unsigned long *offset = hwpmc_cpu_offset, *end = offset + hwpmc_ncpu_offsets;
	unsigned long at = in_flight_at(pmc), own = per_cpu_offset(here);

	for (; offset != end; offset++)
		if (*offset != own && has_in_flight(at + *offset, pmc))
			return true;
	return false;
}

/*
 * Adds every slice in flight to the total: here directly, on other CPUs by an IPI; they
 * are asked at once, and those without a slice are not. A slice that ends meanwhile is
 * added before .pmc is cleared (A: pairs with hwpmc_cpu_unload_irqoff()). So all that was
 * counted before the call is in the total in the end. This CPU is not looked at again,
 * also if the caller migrates: what begins on it now has counted nothing before the call.
 */
static void process_harvest(struct hwpmc_pmc *pmc)
{
	struct hwpmc_cpu *c;
	unsigned int here;

	/* First: a thread that is switched in after this has them in its slice. */
	if (unlikely(hwpmc_pmc_counts_off_cpu(pmc)))
		hwpmc_pmc_take_migrations(pmc);
	local_irq_disable();
	c = this_cpu_ptr(hwpmc_cpus);
	if (c->row[pmc->row].pmc == pmc) {
		hwpmc_cpu_harvest_irqoff(c, pmc->row);
		/* The only measured thread runs here. */
		if (READ_ONCE(pmc->process.nthreads) == 1) {
			local_irq_enable();
			return;
		}
	}
	here = smp_processor_id();
	local_irq_enable();
	if (is_in_flight_elsewhere(pmc, here))
		on_each_cpu_cond(is_in_flight, process_read_ipi, pmc, true);
}

int hwpmc_pmc_read(struct hwpmc_pmc *pmc, u64 *value)
{
	bool running = READ_ONCE(pmc->state) == HWPMC_STATE_RUNNING;

	if (!hwpmc_pmc_is_system(pmc)) {
		if (running)
			process_harvest(pmc);
	} else {
		if (running && hwpmc_system_read(pmc))
			return -ENXIO;
		if (unlikely(hwpmc_class_fault(hwpmc_rows[pmc->row].cls) ||
			     hwpmc_pmc_doubts(pmc)))
			return -EIO;
	}
	*value = hwpmc_pmc_total(pmc);
	return 0;
}
