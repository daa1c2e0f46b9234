// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * system.c - system-scope PMCs, which count all that runs on one CPU. The *_irqoff
 * functions run on the PMC's CPU with interrupts off, the others in process context.
 */
#include <linux/cpu.h>
#include <linux/smp.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../sampling/sample.h"
#include "start_stop.h"
#include "system.h"

static void system_begin_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	if (hwpmc_pmc_samples(pmc)) {
		pmc->system.in_flight = true;
		hwpmc_sample_load_irqoff(c, pmc->row, pmc, &pmc->sampling.phase);
		return;
	}
	hwpmc_cpu_program_irqoff(c, pmc->row, &pmc->select);
	pmc->system.in_flight = true;
	pmc->system.start = hwpmc_row_read_irqoff(&hwpmc_rows[pmc->row]);
}

static void system_end_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];

	if (hwpmc_pmc_samples(pmc)) {
		hwpmc_sample_unload_irqoff(c, pmc->row);
		pmc->system.in_flight = false;
	} else {
		hwpmc_pmc_harvest_irqoff(pmc);
		pmc->system.in_flight = false;
		if (!row->cls->shareable)
			hwpmc_cpu_stop_nmi(c, pmc->row);
	}
	/* What it has counted of others is not for a program that has the row next. */
	if (pmc->hidden)
		row->cls->ops->row.write_nmi(row->cls, row->ri, 0);
}

void hwpmc_system_start_irqoff(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;

	list_add(&pmc->system.node, &c->sys);
	system_begin_irqoff(c, pmc);
}

void hwpmc_system_look_irqoff(void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	if (pmc->system.in_flight)
		hwpmc_doubt_look_irqoff(this_cpu_ptr(hwpmc_cpus), pmc->row);
}

void hwpmc_system_end_irqoff(void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	if (pmc->system.in_flight)
		system_end_irqoff(this_cpu_ptr(hwpmc_cpus), pmc);
	list_del_init(&pmc->system.node);
}

static void system_stop_irqoff(void *pmc)
{
	hwpmc_system_look_irqoff(pmc);
	hwpmc_system_end_irqoff(pmc);
}

void hwpmc_system_read_irqoff(void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	if (pmc->system.in_flight)
		hwpmc_pmc_harvest_irqoff(pmc);
}

void hwpmc_system_resume_irqoff(struct hwpmc_cpu *c)
{
	struct hwpmc_pmc *pmc;

	list_for_each_entry(pmc, &c->sys, system.node)
		if (!pmc->system.in_flight)
			system_begin_irqoff(c, pmc);
}

bool hwpmc_system_pause_irqoff(struct hwpmc_cpu *c, u64 rows)
{
	struct hwpmc_pmc *pmc;
	bool any = false;

	list_for_each_entry(pmc, &c->sys, system.node) {
		if (!pmc->system.in_flight || !(rows & BIT_ULL(pmc->row)))
			continue;
		hwpmc_doubt_look_irqoff(c, pmc->row);
		system_end_irqoff(c, pmc);
		any = true;
	}
	return any;
}

void hwpmc_system_suspend_irqoff(struct hwpmc_cpu *c)
{
	hwpmc_system_pause_irqoff(c, ~0ULL);
}

void hwpmc_system_harvest_irqoff(struct hwpmc_cpu *c)
{
	struct hwpmc_pmc *pmc;

	list_for_each_entry(pmc, &c->sys, system.node)
		if (pmc->system.in_flight && !hwpmc_pmc_samples(pmc))
			hwpmc_pmc_harvest_irqoff(pmc);
}

int hwpmc_system_start(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	return hwpmc_cpu_call(pmc->cpu, hwpmc_system_start_irqoff, pmc);
}

void hwpmc_system_unlink(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	cpus_read_lock();
	if (cpu_online(pmc->cpu))
		smp_call_function_single(pmc->cpu, system_stop_irqoff, pmc, 1);
	else
		list_del_init(&pmc->system.node);
	cpus_read_unlock();
}

int hwpmc_system_stop(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	return hwpmc_cpu_call(pmc->cpu, system_stop_irqoff, pmc);
}

int hwpmc_system_read(struct hwpmc_pmc *pmc)
{
	return smp_call_function_single(pmc->cpu, hwpmc_system_read_irqoff, pmc, 1);
}

void hwpmc_pmc_halt(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state != HWPMC_STATE_RUNNING)
		return;
	if (!hwpmc_pmc_is_system(pmc)) {
		hwpmc_targets_deactivate(pmc);
		return;
	}
	hwpmc_system_unlink(pmc);
	hwpmc_doubt_end(pmc);
}
