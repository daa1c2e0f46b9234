// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rdpmc_switch.c - see rdpmc_switch.h.
 */
#include <linux/percpu.h>
#include <linux/sched.h>

#include "../compat/irq_work.h"
#include "../core/cpu.h"
#include "../sampling/sample.h"
#include "rdpmc_switch.h"
#include "switch.h"
#include "system.h"

unsigned int hwpmc_rdpmc_users;

/* By CPU, touched there with interrupts off: has the kernel cleared the counters that
 * perf has left? */
struct rdpmc_cpu {
	unsigned long claim;	/* yes, in this claim generation */
	struct irq_work resume;
};

static DEFINE_PER_CPU(struct rdpmc_cpu, rdpmc_cpus);

static void clear_row_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	if (c->row[nr].shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	row->cls->ops->row.write_nmi(row->cls, row->ri, 0);
}

/* A random start: the rest of a period shows what others have counted since a sample. */
static void randomize_phase(struct hwpmc_pmc *pmc)
{
	u64 period = hwpmc_pmc_period(pmc, &pmc->sampling.phase);

	/* Not secret: it only has to be independent of what others have counted. */
	pmc->sampling.phase.left = 1 + (rdtsc() * 0x9e3779b97f4a7c15ull >> 11) % period;
}

static void clear_system_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];

	if (hwpmc_pmc_samples(pmc)) {
		hwpmc_sample_unload_irqoff(c, pmc->row);
		randomize_phase(pmc);
		hwpmc_sample_load_irqoff(c, pmc->row, pmc, &pmc->sampling.phase);
		return;
	}
	hwpmc_pmc_harvest_irqoff(pmc);
	row->cls->ops->row.write_nmi(row->cls, row->ri, 0);
	pmc->system.start = 0;
}

static void clear_dirty_irqoff(struct hwpmc_cpu *c)
{
	u64 rows = c->dirty & hwpmc_rows_nmi;
	struct hwpmc_pmc *pmc;
	unsigned int nr;

	/* All of them are written. */
	c->noted &= ~rows;
	list_for_each_entry(pmc, &c->sys, system.node) {
		if (!pmc->system.in_flight || !(rows & BIT_ULL(pmc->row)))
			continue;
		if (!pmc->hidden)
			clear_system_irqoff(c, pmc);
		rows &= ~BIT_ULL(pmc->row);
	}
	for_each_row(nr, rows) {
		clear_row_irqoff(c, nr);
		c->dirty &= ~BIT_ULL(nr);
	}
}

/* The switch is over; if the new mm has a grant, the kernel has cleared the counters. */
static void rdpmc_resume(struct irq_work *work)
{
	struct rdpmc_cpu *v = container_of(work, struct rdpmc_cpu, resume);
	unsigned long flags;

	local_irq_save(flags);
	if (hwpmc_pce_is_set())
		v->claim = READ_ONCE(hwpmc_claim_generation);
	hwpmc_system_resume_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
}

/*
 * The first time that a CPU loads an mm with a grant, the kernel clears the counters
 * that perf has left, and ours with them. So, once per claim and CPU, system scope is
 * paused from here until interrupts are on again, before the program runs. It does not
 * count the rest of the switch.
 */
static void pause_irqoff(struct hwpmc_cpu *c)
{
	struct rdpmc_cpu *v = this_cpu_ptr(&rdpmc_cpus);
	struct hwpmc_pmc *pmc;

	if (likely(v->claim == READ_ONCE(hwpmc_claim_generation)) ||
	    !hwpmc_system_pause_irqoff(c, hwpmc_rows_nmi))
		return;
	list_for_each_entry(pmc, &c->sys, system.node)
		if (!pmc->system.in_flight && hwpmc_pmc_samples(pmc))
			randomize_phase(pmc);
	irq_work_queue(&v->resume);
}

/* Initialised at run time: pointers in a module's static per-CPU data are not relocated. */
void hwpmc_rdpmc_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(rdpmc_cpus, cpu).resume = IRQ_WORK_INIT_HARD(rdpmc_resume);
}

void hwpmc_rdpmc_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(&rdpmc_cpus, cpu)->resume);
}

void hwpmc_rdpmc_switch_irqoff(struct task_struct *next)
{
	struct hwpmc_cpu *c;

	if (!hwpmc_may_rdpmc(next->mm))
		return;
	c = this_cpu_ptr(hwpmc_cpus);
	if (!(c->on & hwpmc_classes_nmi))
		return;
	/* The thread that is switched out runs no more user code. */
	hwpmc_switch_out_irqoff(c);
	pause_irqoff(c);
	clear_dirty_irqoff(c);
}
