// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * batch.c - see batch.h. The *_irqoff functions run on the CPU concerned with interrupts
 * off, the others in process context: read under RCU, start and stop under hwpmc_lock.
 */
#include <linux/cpu.h>
#include <linux/smp.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../debug/trace.h"
#include "../log/loss.h"
#include "../task/start_stop.h"
#include "../task/migrations.h"
#include "../task/system.h"
#include "batch.h"
#include "run.h"

/* ---- system scope -------------------------------------------------------- */

/* The first item of this CPU, or of a later one. */
static unsigned int first_of_cpu(const struct hwpmc_batch *b, unsigned int cpu)
{
	unsigned int low = 0, high = b->nsystem;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (b->item[middle].pmc->cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* At most one item for each row of the CPU. */
static void system_ipi(void *arg)
{
	struct hwpmc_batch *b = arg;
	unsigned int cpu = smp_processor_id(), first = first_of_cpu(b, cpu), i;

	for (i = first; b->before_irqoff && i < b->nsystem; i++) {
		if (b->item[i].pmc->cpu != cpu)
			break;
		if (b->item[i].pending)
			b->before_irqoff(b->item[i].pmc);
	}
	for (i = first; i < b->nsystem; i++) {
		struct hwpmc_batch_item *item = &b->item[i];

		if (item->pmc->cpu != cpu)
			break;
		if (!item->pending)
			continue;
		b->act_irqoff(item->pmc);
		item->value = hwpmc_pmc_total(item->pmc);
		item->pending = false;
	}
}

/* An item that is still pending then has a CPU that is not online. */
static void system_ask(struct hwpmc_batch *b, void (*act_irqoff)(void *))
{
	unsigned int i;

	cpumask_clear(b->cpus);
	for (i = 0; i < b->nsystem; i++)
		if (b->item[i].pending)
			cpumask_set_cpu(b->item[i].pmc->cpu, b->cpus);
	if (cpumask_empty(b->cpus))
		return;
	b->act_irqoff = act_irqoff;
	on_each_cpu_mask(b->cpus, system_ipi, b, true);
}

static void refuse_offline(struct hwpmc_batch_item *item)
{
	item->ret = hwpmc_refuse(&item->hdr, -ENXIO, HWPMC_WHY_CPU_OFFLINE,
				 item->pmc->cpu);
	item->pending = false;
}

/* ---- reading ------------------------------------------------------------- */

static bool item_is_in_flight(const struct hwpmc_batch *b, struct hwpmc_cpu *c)
{
	unsigned int i;

	for (i = b->nsystem; i < b->n; i++) {
		const struct hwpmc_batch_item *item = &b->item[i];
		const struct hwpmc_pmc *loaded;

		/* A: hwpmc_cpu_unload_irqoff() */
		loaded = smp_load_acquire(&c->row[item->pmc->row].pmc);
		if (item->pending && loaded == item->pmc)
			return true;
	}
	return false;
}

/* Adds the slices here to the totals. True: they are all, because the only measured
 * thread runs here. */
static bool harvest_irqoff(struct hwpmc_batch *b, struct hwpmc_cpu *c)
{
	bool all = true;
	unsigned int i;

	for (i = b->nsystem; i < b->n; i++) {
		struct hwpmc_pmc *pmc = b->item[i].pmc;

		if (!b->item[i].pending)
			continue;
		if (c->row[pmc->row].pmc != pmc) {
			all = false;
			continue;
		}
		hwpmc_cpu_harvest_irqoff(c, pmc->row);
		all &= READ_ONCE(pmc->process.nthreads) == 1;
	}
	return all;
}

static void take_totals_irqoff(struct hwpmc_batch *b)
{
	unsigned int i;

	for (i = b->nsystem; i < b->n; i++)
		b->item[i].value = hwpmc_pmc_total(b->item[i].pmc);
}

/*
 * The last CPU takes the totals, with interrupts off: if one CPU alone has slices in
 * flight, no switch there comes between two of them.
 */
static void batch_read_ipi(void *arg)
{
	struct hwpmc_batch *b = arg;

	harvest_irqoff(b, this_cpu_ptr(hwpmc_cpus));
	if (atomic_dec_and_test(&b->left))
		take_totals_irqoff(b);
}

static bool read_here(struct hwpmc_batch *b)
{
	bool all;

	local_irq_disable();
	all = harvest_irqoff(b, this_cpu_ptr(hwpmc_cpus));
	take_totals_irqoff(b);
	local_irq_enable();
	return all;
}

/* As process_harvest() in run.c, of all at once. */
static void process_read(struct hwpmc_batch *b)
{
	unsigned int i;
	int cpu;

	/* First: a thread that is switched in after this has them in its slice. */
	for (i = b->nsystem; i < b->n; i++)
		if (b->item[i].pending && hwpmc_pmc_counts_off_cpu(b->item[i].pmc))
			hwpmc_pmc_take_migrations(b->item[i].pmc);
	if (read_here(b))
		return;
	cpumask_clear(b->cpus);
	for_each_online_cpu(cpu)
		if (item_is_in_flight(b, per_cpu_ptr(hwpmc_cpus, cpu)))
			cpumask_set_cpu(cpu, b->cpus);
	/* Slices may have ended since read_here(). */
	atomic_set(&b->left, cpumask_weight(b->cpus));
	if (!cpumask_empty(b->cpus))
		on_each_cpu_mask(b->cpus, batch_read_ipi, b, true);
	if (!atomic_read(&b->left) && !cpumask_empty(b->cpus))
		return;
	/* None, or one went offline meanwhile, which has ended its slices. */
	local_irq_disable();
	take_totals_irqoff(b);
	local_irq_enable();
}

void hwpmc_batch_read(struct hwpmc_batch *b)
{
	unsigned int i;

	for (i = 0; i < b->n; i++) {
		struct hwpmc_batch_item *item = &b->item[i];

		item->pending = READ_ONCE(item->pmc->state) == HWPMC_STATE_RUNNING;
		item->value = hwpmc_pmc_total(item->pmc);
	}
	system_ask(b, hwpmc_system_read_irqoff);
	for (i = 0; i < b->nsystem; i++)
		if (b->item[i].pending)
			refuse_offline(&b->item[i]);
	if (b->nsystem < b->n)
		process_read(b);
}

/* ---- start and stop ------------------------------------------------------ */

/* An owner has one PMC of process scope for each row. */
static unsigned int pending_of_processes(const struct hwpmc_batch *b,
					 struct hwpmc_pmc **pmcs)
{
	unsigned int i, n = 0;

	for (i = b->nsystem; i < b->n && n < HWPMC_ROW_MAX; i++)
		if (b->item[i].pending)
			pmcs[n++] = b->item[i].pmc;
	return n;
}

static void ask_for_change(struct hwpmc_batch *b, void (*act_irqoff)(void *))
{
	cpus_read_lock();
	system_ask(b, act_irqoff);
	cpus_read_unlock();
}

static void start_prepare(struct hwpmc_batch_item *item)
{
	struct hwpmc_pmc *pmc = item->pmc;

	if (pmc->state == HWPMC_STATE_RUNNING)
		return;
	trace_hwpmc_pmc_start(pmc);
	item->ret = hwpmc_pmc_prepare(pmc, &item->hdr);
	item->pending = !item->ret;
}

static void start_finish(struct hwpmc_batch_item *item)
{
	if (item->pending) {
		refuse_offline(item);
		return;
	}
	WRITE_ONCE(item->pmc->state, HWPMC_STATE_RUNNING);
	item->ret = hwpmc_pmc_msr_fault(item->pmc, &item->hdr);
	if (item->ret)
		hwpmc_pmc_halt(item->pmc);
}

void hwpmc_batch_start(struct hwpmc_batch *b)
{
	struct hwpmc_pmc *pmcs[HWPMC_ROW_MAX];
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; i < b->n; i++)
		start_prepare(&b->item[i]);
	hwpmc_targets_activate_all(pmcs, pending_of_processes(b, pmcs));
	ask_for_change(b, hwpmc_system_start_irqoff);
	for (i = 0; i < b->nsystem; i++)
		if (b->item[i].pmc->state != HWPMC_STATE_RUNNING && !b->item[i].ret)
			start_finish(&b->item[i]);
}

static void stop_prepare(struct hwpmc_batch_item *item)
{
	if (item->pmc->state == HWPMC_STATE_STOPPED)
		return;
	if (item->pmc->state != HWPMC_STATE_RUNNING) {
		item->ret = hwpmc_refuse(&item->hdr, -EINVAL,
					 HWPMC_WHY_NOT_STARTED, 0);
		return;
	}
	trace_hwpmc_pmc_stop(item->pmc);
	item->pending = true;
}

static void stop_finish(struct hwpmc_batch_item *item)
{
	if (item->pending) {
		refuse_offline(item);
		return;
	}
	hwpmc_doubt_end(item->pmc);
	hwpmc_log_losses(item->pmc);
	item->ret = hwpmc_pmc_check_samples(item->pmc, &item->hdr);
}

void hwpmc_batch_stop(struct hwpmc_batch *b)
{
	struct hwpmc_pmc *pmcs[HWPMC_ROW_MAX];
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; i < b->n; i++)
		stop_prepare(&b->item[i]);
	hwpmc_targets_deactivate_all(pmcs, pending_of_processes(b, pmcs));
	/* All registers are compared first, so that the PMCs stop next to each other. */
	b->before_irqoff = hwpmc_system_look_irqoff;
	ask_for_change(b, hwpmc_system_end_irqoff);
	b->before_irqoff = NULL;
	for (i = 0; i < b->nsystem; i++)
		if (b->item[i].pmc->state == HWPMC_STATE_RUNNING)
			stop_finish(&b->item[i]);
	for (i = b->nsystem; i < b->n; i++) {
		struct hwpmc_batch_item *item = &b->item[i];

		if (!item->pending)
			continue;
		hwpmc_log_losses(item->pmc);
		item->ret = hwpmc_pmc_check_samples(item->pmc, &item->hdr);
	}
}
