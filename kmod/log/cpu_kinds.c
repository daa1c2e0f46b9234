// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * cpu_kinds.c - CPU_KIND records. Samples and values name their CPU, so one record a CPU says
 * the kind of core of all of them, and none of them costs more. It is written by the CPU
 * itself, into its own ring, where it precedes what it is about: for CPUs that are online
 * when the log is published, before a PMC that needs a log can start; for others by their
 * hotplug callback, before a row counts there.
 */
#include <linux/cpu.h>
#include <linux/rculist.h>

#include "../core/cpu.h"
#include "../base/lock.h"
#include "../sampling/log_object.h"
#include "cpu_kinds.h"

/* Published logs. */
static LIST_HEAD(logs);

static void emit_kind_irqoff(struct hwpmc_log *log, u32 kind)
{
	struct hwpmc_log_cpu_kind *r;

	/* Of one that is closed nothing is missing. */
	if (!READ_ONCE(log->open))
		return;
	r = hwpmc_log_reserve(log, HWPMC_LOG_CPU_KIND, sizeof(*r));
	if (!r)
		return;
	r->hdr.id = smp_processor_id();
	r->kind = kind;
	r->__reserved = 0;
	hwpmc_log_commit(log);
}

static void emit_kind_ipi(void *log)
{
	u32 kind = this_cpu_ptr(hwpmc_cpus)->kind;

	if (kind)
		emit_kind_irqoff(log, kind);
}

static bool cpus_differ(void)
{
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++)
		if (hwpmc_machine.cls[i].kinds)
			return true;
	return false;
}

void hwpmc_log_kinds_begin(struct hwpmc_log *log)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!cpus_differ())
		return;
	/* Either this finds a CPU online, or the CPU finds the log. */
	cpus_read_lock();
	list_add_rcu(&log->node, &logs);
	on_each_cpu(emit_kind_ipi, log, 1);
	cpus_read_unlock();
}

void hwpmc_log_kinds_end(struct hwpmc_log *log)
{
	lockdep_assert_held(&hwpmc_lock);
	if (cpus_differ())
		list_del_rcu(&log->node);
}

void hwpmc_log_kinds_online_irqoff(void)
{
	u32 kind = this_cpu_ptr(hwpmc_cpus)->kind;
	struct hwpmc_log *log;

	lockdep_assert_irqs_disabled();
	if (!kind)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(log, &logs, node)
		emit_kind_irqoff(log, kind);
	rcu_read_unlock();
}
