// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lost_pmi.c - see lost_pmi.h. */
#include <linux/percpu.h>
#include <linux/smp.h>

#include "../core/cpu.h"
#include "../base/lock.h"
#include "../core/work.h"
#include "lost_pmi.h"
#include "sample.h"
#include "throttle.h"

#define LOOK_EVERY	HZ

static void lost_pmi_look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(lost_pmi_look, lost_pmi_look_work);
static unsigned int lost_pmi_users;	/* hwpmc_lock; read by the work item */

/* Rows that had overflowed at the last look. Accessed on its CPU, interrupts off. */
static DEFINE_PER_CPU(u64, overflowed);

/*
 * An interrupt can be on its way at one look, not at two: the handler arms the row again.
 * What passed is declared as late, and the interrupt expected, should it come after all.
 */
static void lost_pmi_look_ipi(void *unused)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	u64 before = __this_cpu_read(overflowed), now = 0;
	unsigned int nr;

	/* No period of a pause is overdue. */
	for_each_row(nr, hwpmc_is_throttled(c) ? 0 : c->sampling) {
		if (!hwpmc_sample_has_overflowed_irqoff(c, nr))
			continue;
		if (before & BIT_ULL(nr))
			hwpmc_sample_restart_irqoff(c, nr);
		else
			now |= BIT_ULL(nr);
	}
	__this_cpu_write(overflowed, now);
}

static bool is_sampling(int cpu, void *unused)
{
	return READ_ONCE(per_cpu_ptr(hwpmc_cpus, cpu)->sampling);
}

static void lost_pmi_look_work(struct work_struct *work)
{
	on_each_cpu_cond(is_sampling, lost_pmi_look_ipi, NULL, true);
	if (READ_ONCE(lost_pmi_users))
		hwpmc_work_later(&lost_pmi_look, LOOK_EVERY);
}

void hwpmc_overdue_get(void)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(lost_pmi_users, lost_pmi_users + 1);
	hwpmc_work_later(&lost_pmi_look, LOOK_EVERY);
}

void hwpmc_overdue_put(void)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(lost_pmi_users, lost_pmi_users - 1);
}

bool hwpmc_overdue_has_one(void)
{
	lockdep_assert_held(&hwpmc_lock);
	return lost_pmi_users == 1;
}

void hwpmc_overdue_exit(void)
{
	cancel_delayed_work_sync(&lost_pmi_look);
}
