// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * look.c - see look.h.
 *
 * Each access to a register is an exit to the hypervisor. So a look takes EXITS of them at most
 * on each CPU that has rows programmed, and looks at the rows in turn; what is wrong with one
 * has all rows of all CPUs looked at. KVM tries again to get a counter of its host's when its
 * select changes: so all rows of the CPU are stopped and programmed again.
 *
 * A row that stood still when its class was claimed is not given out until it counts:
 * one of them is tried every TRY_EVERY looks, as a part of the look's exits.
 */
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/still.h"
#include "../core/work.h"
#include "../log/loss.h"
#include "../sampling/counter_test.h"
#include "claim.h"
#include "hotplug.h"
#include "look.h"

#define EXITS	10
#define EVERY	HZ
#define TRY_EVERY	5	/* looks; one row each time */

static void counters_look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(counters_look, counters_look_work);

struct counters_look {
	unsigned int exits;	/* at most */
	bool all;	/* rows, whatever it costs */
	bool found;	/* something wrong, on any CPU */
};

/* The next row to look at. Accessed on its CPU, interrupts off. */
static DEFINE_PER_CPU(unsigned int, next_row);

/* Adds the rows that the control of their class has stopped to `stopped`. */
static bool look_controls_irqoff(struct hwpmc_cpu *c, u64 rows, unsigned int *exits,
				 u64 *stopped)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (!(rows & hwpmc_class_rows(cls)))
			continue;
		*exits += !!cls->ops->control.changed_irqoff + !!cls->ops->control.follow_irqoff;
		found |= hwpmc_doubt_look_control_irqoff(c, cls, stopped);
	}
	return found;
}

/* From the one on that the last look had no exits left for. most: exits, ~0: all rows. */
static bool look_rows_irqoff(struct hwpmc_cpu *c, u64 rows, unsigned int exits, unsigned int most)
{
	unsigned int nr = __this_cpu_read(next_row), i;
	bool found = false;

	for (i = 0; i < hwpmc_nrows; i++, nr++) {
		nr = nr < hwpmc_nrows ? nr : 0;
		if (!(rows & BIT_ULL(nr)) || !hwpmc_rows[nr].cls->ops->row.changed_irqoff)
			continue;
		exits += 1 + hwpmc_still_cost_irqoff(c, nr);
		if (exits > most)
			break;
		found |= hwpmc_doubt_look_row_irqoff(c, nr);
	}
	__this_cpu_write(next_row, nr);
	return found;
}

static void counters_look_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	u64 rows = hwpmc_cpu_programmed_rows(c);
	struct counters_look *l = arg;
	unsigned int exits = 0;
	u64 stopped = 0;
	bool found;

	found = look_controls_irqoff(c, rows, &exits, &stopped);
	/* These have their reason, and do not count before they are programmed again. */
	rows &= ~stopped;
	found |= look_rows_irqoff(c, rows, exits, l->all || found ? ~0 : l->exits);
	if (!found)
		return;
	/* The others that were taken with it are doubts as well before they count again. */
	if (!l->all)
		look_rows_irqoff(c, rows, 0, ~0);
	/* A CPU that goes offline is reset there, and set up when it comes back. */
	if (READ_ONCE(c->admitted))
		hwpmc_hotplug_renew_irqoff(c);
	WRITE_ONCE(l->found, true);
}

static bool any_programmed(int cpu, void *unused)
{
	return hwpmc_cpu_programmed_rows(per_cpu_ptr(hwpmc_cpus, cpu));
}

/* Runs of the work item until the next try. Only there. */
static unsigned int runs_to_try = TRY_EVERY;

/* Returns how many exits it has taken on each CPU. The host may have given several back. */
static unsigned int try_still_row(void)
{
	bool tried;

	if (--runs_to_try)
		return 0;
	runs_to_try = hwpmc_class_try_again(&tried) ? 1 : TRY_EVERY;
	return tried ? HWPMC_TRIAL_ROW_EXITS : 0;
}

static void counters_look_work(struct work_struct *work)
{
	struct counters_look l = { .exits = EXITS };

	/* No class is claimed or released while registers are renewed. */
	mutex_lock(&hwpmc_lock);
	l.exits -= try_still_row();
	on_each_cpu_cond(any_programmed, counters_look_ipi, &l, true);
	if (l.found) {
		l.all = true;
		on_each_cpu_cond(any_programmed, counters_look_ipi, &l, true);
		hwpmc_trial_interrupt_forget();
	}
	hwpmc_log_all_losses();
	if (hwpmc_classes_claimed())
		hwpmc_work_later(&counters_look, EVERY);
	mutex_unlock(&hwpmc_lock);
}

void hwpmc_look_begin(void)
{
	lockdep_assert_held(&hwpmc_lock);
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
		hwpmc_work_later(&counters_look, EVERY);
}

void hwpmc_look_exit(void)
{
	cancel_delayed_work_sync(&counters_look);
}
