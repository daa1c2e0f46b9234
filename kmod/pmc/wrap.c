// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * wrap.c - harvests slices in flight before a counter can wrap twice, by a work item
 * that is queued only while a class is claimed.
 */
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "../backends/width.h"
#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/work.h"
#include "../task/switch.h"
#include "../task/system.h"
#include "wrap.h"

static void harvest_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(harvest, harvest_work);

/* When the harvest is due, in jiffies, while it is queued. */
static DEFINE_SPINLOCK(due_lock);
static unsigned long due;

static void harvest_ipi(void *unused)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int i;

	hwpmc_switch_harvest_irqoff(c);
	hwpmc_system_harvest_irqoff(c);
	for (i = 0; i < hwpmc_machine.nclass; i++)
		hwpmc_doubt_look_class_irqoff(c, &hwpmc_machine.cls[i]);
}

/* Does the CPU count? A slice that begins while this is read is young enough for the next
 * harvest. */
static bool may_wrap(int cpu, void *unused)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);

	return READ_ONCE(c->loaded) || !list_empty(&c->sys);
}

/* In jiffies, until the narrowest claimed counter could wrap; 0: never. */
static unsigned long wrap_interval(void)
{
	unsigned long claimed = hwpmc_classes_claimed();
	unsigned int i, ms, least = 0;

	for_each_set_bit(i, &claimed, HWPMC_CLASS_MAX) {
		const struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		ms = cls->wrap_ms ?: hwpmc_width_wrap_ms(cls->width);
		least = min_not_zero(least, ms);
	}
	return msecs_to_jiffies(least);
}

/* A class that is narrower than those before needs an earlier harvest; none makes it
 * later, or claims that are repeated would put it off for ever. */
static void harvest_within(unsigned long delay)
{
	unsigned long by = jiffies + delay;

	spin_lock(&due_lock);
	if (!delayed_work_pending(&harvest) || time_before(by, due)) {
		due = by;
		hwpmc_work_again(&harvest, delay);
	}
	spin_unlock(&due_lock);
}

static void harvest_work(struct work_struct *work)
{
	unsigned long delay = wrap_interval();

	if (!delay)
		return;
	on_each_cpu_cond(may_wrap, harvest_ipi, NULL, true);
	harvest_within(delay);
}

void hwpmc_wrap_begin(void)
{
	unsigned long delay = wrap_interval();

	lockdep_assert_held(&hwpmc_lock);
	if (delay)
		harvest_within(delay);
}

void hwpmc_wrap_exit(void)
{
	cancel_delayed_work_sync(&harvest);
}
