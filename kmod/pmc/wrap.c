// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * wrap.c - harvests slices in flight before a counter can wrap twice, by a work item
 * that is queued only while a class is claimed.
 */
#include <linux/smp.h>

#include "../backends/width.h"
#include "../core/cpu.h"
#include "../core/work.h"
#include "../task/rdpmc.h"
#include "../task/system.h"
#include "wrap.h"

static void harvest_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(harvest, harvest_work);

static void harvest_ipi(void *unused)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	u64 rows = c->loaded & ~(c->sampling | c->ticking);

	for (; rows; rows &= rows - 1)
		hwpmc_cpu_harvest_irqoff(c, __ffs64(rows));
	hwpmc_userpage_renew_all_irqoff(c);
	hwpmc_system_harvest_irqoff(c);
}

/* In jiffies, until the narrowest claimed counter could wrap; 0: never. */
static unsigned long wrap_interval(void)
{
	unsigned long claimed = hwpmc_classes_claimed();
	unsigned int i, width = 64;

	for_each_set_bit(i, &claimed, HWPMC_CLASS_MAX)
		width = min(width, hwpmc_machine.cls[i].width);
	return msecs_to_jiffies(hwpmc_width_wrap_ms(width));
}

static void harvest_work(struct work_struct *work)
{
	unsigned long delay = wrap_interval();

	if (!delay)
		return;
	on_each_cpu(harvest_ipi, NULL, 1);
	hwpmc_work_later(&harvest, delay);
}

void hwpmc_wrap_begin(void)
{
	unsigned long delay = wrap_interval();

	lockdep_assert_held(&hwpmc_lock);
	/* A class that is narrower than those before needs an earlier harvest. */
	if (delay)
		hwpmc_work_again(&harvest, delay);
}

void hwpmc_wrap_exit(void)
{
	cancel_delayed_work_sync(&harvest);
}
