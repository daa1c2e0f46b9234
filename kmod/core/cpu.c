// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * cpu.c - per-CPU state: switches classes on and off, programs rows. The *_irqoff
 * functions run on the CPU concerned with interrupts off; the others in process context.
 */
#include <linux/cpu.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/smp.h>

#include "../debug/trace.h"
#include "cpu.h"
#include "doubt.h"
#include "stats.h"
#include "still.h"

struct hwpmc_cpu __percpu *hwpmc_cpus;
bool hwpmc_leaving;

static unsigned int class_index(const struct hwpmc_class *cls)
{
	return cls - hwpmc_machine.cls;
}

void hwpmc_cpu_reset_class_irqoff(struct hwpmc_cpu *c, struct hwpmc_class *cls,
				  bool on)
{
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (!cls->ops->cpu.reset_irqoff)
		return;
	on = on && !READ_ONCE(hwpmc_leaving);
	cls->ops->cpu.reset_irqoff(cls, on);
	for (i = 0; i < cls->num; i++)
		memset(&c->row[cls->first + i].shadow, 0,
		       sizeof(struct hwpmc_select));
	c->dirty |= hwpmc_class_rows(cls) & c->rows;
	/* The reset has stopped them, unless it faulted as well. */
	if (unlikely(c->unstoppable) && !hwpmc_class_msr_fault(cls))
		c->unstoppable &= ~hwpmc_class_rows(cls);
	if (on)
		c->on |= BIT(class_index(cls));
	else
		c->on &= ~BIT(class_index(cls));
}

void hwpmc_cpu_program_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      const struct hwpmc_select *select)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	struct hwpmc_class *cls = row->cls;

	if (!cls->ops->row.program_irqoff || unlikely(READ_ONCE(hwpmc_leaving)))
		return;
	/* This CPU is about to go offline and still switches tasks (pmc/hotplug.c). */
	if (unlikely(!(c->on & BIT(class_index(cls)))))
		hwpmc_cpu_reset_class_irqoff(c, cls, true);
	trace_hwpmc_md_config(nr, select->sel);
	cls->ops->row.program_irqoff(cls, row->ri, select);
	/*
	 * The shadow is written after the hardware: an NMI of this row in between may
	 * stop it. Then the shadow says that it counts, and the unload stops it once
	 * more. In the other order the row would be left running.
	 */
	WRITE_ONCE(c->row[nr].shadow.sel, select->sel);
	WRITE_ONCE(c->row[nr].shadow.extra, select->extra);
	c->dirty |= BIT_ULL(nr);
	hwpmc_still_begin_irqoff(c, nr);
	hwpmc_stat_inc(switch_programmed);
}

u64 hwpmc_cpu_programmed_rows(const struct hwpmc_cpu *c)
{
	unsigned int nr;
	u64 rows = 0;

	for (nr = 0; nr < hwpmc_nrows; nr++)
		if (READ_ONCE(c->row[nr].shadow.sel))
			rows |= BIT_ULL(nr);
	return rows;
}

/* A class that is off has been reset: its registers are 0 already. */
void hwpmc_cpu_stop_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	if (!row->cls->ops->row.stop_nmi)
		return;
	trace_hwpmc_md_config(nr, 0);
	row->cls->ops->row.stop_nmi(row->cls, row->ri);
	WRITE_ONCE(c->row[nr].shadow.sel, 0);
	hwpmc_stat_inc(switch_programmed);
}

struct class_switch {
	struct hwpmc_class *cls;
	atomic_t running;	/* control MSR of a counter that runs, or 0 */
	atomic_t changed;	/* register that another has written, or 0 */
};

static void class_on_ipi(void *arg)
{
	struct class_switch *sw = arg;
	const struct hwpmc_class_ops *ops = sw->cls->ops;
	u32 msr = ops->hardware.running_irqoff ? ops->hardware.running_irqoff(sw->cls) : 0;

	if (msr)
		atomic_cmpxchg(&sw->running, 0, msr);
	else
		hwpmc_cpu_reset_class_irqoff(this_cpu_ptr(hwpmc_cpus), sw->cls, true);
}

u32 hwpmc_cpus_class_on(struct hwpmc_class *cls)
{
	struct class_switch sw = { .cls = cls, .running = ATOMIC_INIT(0) };

	lockdep_assert_held(&hwpmc_lock);
	/* A CPU that goes online has read which classes are claimed, and is reset here;
	 * or it will read that. */
	cpus_read_lock();
	on_each_cpu(class_on_ipi, &sw, 1);
	cpus_read_unlock();
	return atomic_read(&sw.running);
}

/* Only its own CPU changes it, and none does while a class is switched off: no PMC of the
 * class is left, and a CPU that goes online is kept away. */
static bool class_is_on(int cpu, void *arg)
{
	const struct class_switch *sw = arg;

	return READ_ONCE(per_cpu_ptr(hwpmc_cpus, cpu)->on) & BIT(class_index(sw->cls));
}

/* The last moment to see that another has written the registers. */
static void class_off_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct class_switch *sw = arg;
	u32 msr = hwpmc_doubt_look_class_irqoff(c, sw->cls);

	if (msr)
		atomic_cmpxchg(&sw->changed, 0, msr);
	hwpmc_cpu_reset_class_irqoff(c, sw->cls, false);
}

void hwpmc_cpus_class_off(struct hwpmc_class *cls)
{
	struct class_switch sw = { .cls = cls, .changed = ATOMIC_INIT(0) };

	lockdep_assert_held(&hwpmc_lock);
	cpus_read_lock();
	on_each_cpu_cond(class_is_on, class_off_ipi, &sw, true);
	cpus_read_unlock();
	if (atomic_read(&sw.changed))
		pr_warn_ratelimited("MSR %#x was changed by another program while it was in use: counts may be wrong\n",
				    (u32)atomic_read(&sw.changed));
}

/* Each CPU that programmed the row has been asked or seen to have ended its slices since
 * (task/loaded_cpus.c), so its shadow is seen as well. */
static bool row_is_programmed(int cpu, void *arg)
{
	unsigned int nr = (unsigned long)arg;

	return READ_ONCE(per_cpu_ptr(hwpmc_cpus, cpu)->row[nr].shadow.sel);
}

static void stop_row_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr = (unsigned long)arg;

	if (c->row[nr].shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
}

void hwpmc_cpus_stop_row(unsigned int nr)
{
	lockdep_assert_held(&hwpmc_lock);
	on_each_cpu_cond(row_is_programmed, stop_row_ipi, (void *)(unsigned long)nr, true);
}

int hwpmc_cpu_call(unsigned int cpu, void (*fn)(void *), void *arg)
{
	int ret = -ENXIO;

	cpus_read_lock();
	if (cpu < nr_cpu_ids && cpu_online(cpu))
		ret = smp_call_function_single(cpu, fn, arg, 1);
	cpus_read_unlock();
	return ret;
}
