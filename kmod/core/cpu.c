// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * cpu.c - per-CPU state: switching classes on and off, programming rows, CPU
 * hotplug and suspend. The *_irqoff functions run on the CPU concerned with
 * interrupts off; the others in process context.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/smp.h>

#include "../compat/syscore.h"
#include "../ctl/trace.h"
#include "../virt/switch.h"
#include "cpu.h"
#include "stats.h"

struct hwpmc_cpu __percpu *hwpmc_cpus;

static enum cpuhp_state prepare_state, online_state;

static unsigned int class_index(const struct hwpmc_class *cls)
{
	return cls - hwpmc_machine.cls;
}

/* Bring the class's registers here to the clean state, enabled or not. */
static void switch_class_irqoff(struct hwpmc_cpu *c, struct hwpmc_class *cls,
				bool on)
{
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (!cls->ops->reset_irqoff)
		return;
	cls->ops->reset_irqoff(cls, on);
	for (i = 0; i < cls->num; i++)
		memset(&c->row[cls->first + i].shadow, 0,
		       sizeof(struct hwpmc_select));
	c->dirty |= hwpmc_class_rows(cls);
	/* They stand still now, unless that was refused as well. */
	if (unlikely(c->stray) && !hwpmc_class_doubt(cls))
		c->stray &= ~hwpmc_class_rows(cls);
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

	if (!cls->ops->program_irqoff)
		return;
	/* A CPU that is about to go offline (until 5.10 it still runs tasks). */
	if (unlikely(!(c->on & BIT(class_index(cls)))))
		switch_class_irqoff(c, cls, true);
	trace_hwpmc_md_config(nr, select ? select->sel : 0);
	cls->ops->program_irqoff(cls, row->ri, select);
	/*
	 * An NMI that comes just here, of a row that counts already, may stop it. The
	 * shadow then says that it counts: whoever unloads it stops it once more. The
	 * other way round it would be left running.
	 */
	if (select) {
		WRITE_ONCE(c->row[nr].shadow.sel, select->sel);
		WRITE_ONCE(c->row[nr].shadow.extra, select->extra);
		c->dirty |= BIT_ULL(nr);
	} else {
		WRITE_ONCE(c->row[nr].shadow.sel, 0);
	}
	hwpmc_stat_inc(switch_programmed);
}

struct class_switch {
	struct hwpmc_class *cls;
	bool on;
};

static void class_switch_ipi(void *arg)
{
	struct class_switch *sw = arg;
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);

	switch_class_irqoff(c, sw->cls, sw->on);
}

void hwpmc_cpus_reset_class(struct hwpmc_class *cls, bool on)
{
	struct class_switch sw = { .cls = cls, .on = on };

	on_each_cpu(class_switch_ipi, &sw, 1);
}

static void stop_row_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr = (unsigned long)arg;

	if (c->row[nr].shadow.sel)
		hwpmc_cpu_program_irqoff(c, nr, NULL);
}

void hwpmc_cpus_stop_row(unsigned int nr)
{
	lockdep_assert_held(&hwpmc_lock);
	on_each_cpu(stop_row_ipi, (void *)(unsigned long)nr, 1);
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

/* This CPU begins to count: it came online, or the machine woke up. */
static void cpu_begin_irqoff(struct hwpmc_cpu *c)
{
	unsigned long claimed = hwpmc_classes_claimed() & ~c->on;
	unsigned int i;

	for_each_set_bit(i, &claimed, HWPMC_CLASS_MAX)
		switch_class_irqoff(c, &hwpmc_machine.cls[i], true);
	hwpmc_pmcs_resume_irqoff(c);
	hwpmc_switch_sync_irqoff(c);
	trace_hwpmc_cpu_init(c->loaded);
}

/* It ends: everything counted so far is taken, the hardware left clean. */
static void cpu_end_irqoff(struct hwpmc_cpu *c)
{
	unsigned long on = c->on;
	unsigned int i;

	trace_hwpmc_cpu_exit(c->loaded);
	hwpmc_switch_out_irqoff(c);
	hwpmc_pmcs_suspend_irqoff(c);
	for_each_set_bit(i, &on, HWPMC_CLASS_MAX)
		switch_class_irqoff(c, &hwpmc_machine.cls[i], false);
}

/*
 * A CPU is about to be woken: what was known of its registers is not any more.
 * (Until 5.10 tasks may still have run after cpu_offline_here().)
 */
static int cpu_forget(unsigned int cpu)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);
	unsigned int i;

	c->on = 0;
	c->stray = 0;
	for (i = 0; i < hwpmc_nrows; i++)
		c->row[i].shadow.sel = 0;
	return 0;
}

static int cpu_online_here(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	cpu_begin_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
	return 0;
}

static int cpu_offline_here(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	cpu_end_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
	return 0;
}

/* The last CPU sleeps and wakes here; the others went offline before. */
static int machine_suspend(void)
{
	cpu_end_irqoff(this_cpu_ptr(hwpmc_cpus));
	return 0;
}

static void machine_resume(void)
{
	cpu_begin_irqoff(this_cpu_ptr(hwpmc_cpus));
}

static void cpu_setup(struct hwpmc_cpu *c)
{
	unsigned int i;

	INIT_LIST_HEAD(&c->sys);
	for (i = 0; i < hwpmc_nrows; i++) {
		c->row[i].mask = hwpmc_rows[i].mask;
		c->row[i].rdpmc = hwpmc_rows[i].rdpmc;
	}
}

int hwpmc_cpus_init(void)
{
	size_t size = offsetof(struct hwpmc_cpu, row[hwpmc_nrows]);
	int cpu, ret;

	hwpmc_cpus = __alloc_percpu(size, __alignof__(u64));
	if (!hwpmc_cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		cpu_setup(per_cpu_ptr(hwpmc_cpus, cpu));
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "hwpmc:prepare",
					cpu_forget, NULL);
	if (ret < 0)
		goto err_prepare;
	prepare_state = ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwpmc:online",
				cpu_online_here, cpu_offline_here);
	if (ret < 0)
		goto err_online;
	online_state = ret;
	hwpmc_syscore_register(machine_suspend, machine_resume);
	return 0;

err_online:
	cpuhp_remove_state_nocalls(prepare_state);
err_prepare:
	free_percpu(hwpmc_cpus);
	return ret;
}

void hwpmc_cpus_exit(void)
{
	hwpmc_syscore_unregister();
	cpuhp_remove_state(online_state);
	cpuhp_remove_state_nocalls(prepare_state);
	free_percpu(hwpmc_cpus);
}
