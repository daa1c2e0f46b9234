// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * hotplug.c - starts and stops counting on CPUs that go online and offline, and when the
 * machine suspends and resumes; stops it as the kernel is left. Hotplug callbacks run on the
 * CPU concerned, except cpu_forget(); they never take hwpmc_lock.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/reboot.h>

#include "../compat/hotplug.h"
#include "../compat/syscore.h"
#include "../core/cpu.h"
#include "../debug/trace.h"
#include "../log/cpu_kinds.h"
#include "../sampling/counter_test.h"
#include "../sampling/log.h"
#include "../task/switch.h"
#include "../task/system.h"
#include "hotplug.h"

static enum cpuhp_state prepare_state, online_state;

/* This CPU went online, or the machine resumed. */
static void cpu_begin_irqoff(struct hwpmc_cpu *c)
{
	unsigned long claimed = hwpmc_classes_claimed() & ~c->on;
	unsigned int i;

	for_each_set_bit(i, &claimed, HWPMC_CLASS_MAX)
		hwpmc_cpu_reset_class_irqoff(c, &hwpmc_machine.cls[i], true);
	hwpmc_system_resume_irqoff(c);
	hwpmc_switch_sync_irqoff(c);
	trace_hwpmc_cpu_init(c->loaded);
}

static void reset_classes_off_irqoff(struct hwpmc_cpu *c)
{
	unsigned long on = c->on;
	unsigned int i;

	for_each_set_bit(i, &on, HWPMC_CLASS_MAX)
		hwpmc_cpu_reset_class_irqoff(c, &hwpmc_machine.cls[i], false);
}

/* This CPU goes offline, or the machine suspends: harvest all, and reset the hardware. */
static void cpu_end_irqoff(struct hwpmc_cpu *c)
{
	trace_hwpmc_cpu_exit(c->loaded);
	hwpmc_switch_out_irqoff(c);
	hwpmc_system_suspend_irqoff(c);
	reset_classes_off_irqoff(c);
}

void hwpmc_hotplug_renew_irqoff(struct hwpmc_cpu *c)
{
	lockdep_assert_irqs_disabled();
	cpu_end_irqoff(c);
	cpu_begin_irqoff(c);
}

/*
 * The last task of this CPU has been switched out. After cpu_offline_here() tasks that
 * waited for the CPU were still switched in, to be moved away (up to 5.10 they ran on), and
 * their rows have turned classes on again.
 */
static int cpu_dying_irqoff(unsigned int cpu)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);

	lockdep_assert_irqs_disabled();
	reset_classes_off_irqoff(c);
	return 0;
}

/* The CPU was off: NMIs that were on their way to it are lost. */
static void expect_no_nmi(struct hwpmc_cpu *c)
{
	c->nmi_expected = 0;
	c->nmi_more = 0;
	c->nmi_late = false;
	c->nmi_last = 0;
}

/* Before a CPU goes online, on another CPU: its registers have unknown contents. */
static int cpu_forget(unsigned int cpu)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);
	unsigned int i;

	c->on = 0;
	c->unstoppable = 0;
	c->throttled = false;
	expect_no_nmi(c);
	for (i = 0; i < hwpmc_nrows; i++)
		c->row[i].shadow.sel = 0;
	return 0;
}

/* What this CPU has; a class that all CPUs have alike says nothing. */
static void note_rows_irqoff(struct hwpmc_cpu *c)
{
	unsigned int i;

	c->rows = ~0ULL;
	c->kind = 0;
	for (i = 0; i < hwpmc_machine.nclass; i++) {
		const struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (cls->ops->cpu.rows_irqoff)
			c->rows &= ~hwpmc_class_rows(cls) |
				   cls->ops->cpu.rows_irqoff(cls, &c->kind) << cls->first;
	}
}

static int classes_admit_cpu_irqoff(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < hwpmc_machine.nclass; i++) {
		struct hwpmc_class *cls = &hwpmc_machine.cls[i];

		if (cls->ops->cpu.online_irqoff)
			ret = cls->ops->cpu.online_irqoff(cls);
	}
	return ret;
}

static int cpu_online_here(unsigned int cpu)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = classes_admit_cpu_irqoff();
	if (!ret) {
		note_rows_irqoff(c);
		hwpmc_log_kinds_online_irqoff();
		cpu_begin_irqoff(c);
		WRITE_ONCE(c->admitted, true);
	}
	local_irq_restore(flags);
	if (ret == -EOPNOTSUPP)
		pr_info_ratelimited("CPU %u stays offline: its kind of core is not supported, or it lacks counters of its kind\n",
				    cpu);
	else if (ret)
		pr_info_ratelimited("CPU %u stays offline: it shares its counters with a CPU that measures processes; end those measurements first\n",
				    cpu);
	return ret;
}

static int cpu_offline_here(unsigned int cpu)
{
	struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);
	unsigned long flags;

	local_irq_save(flags);
	WRITE_ONCE(c->admitted, false);
	cpu_end_irqoff(c);
	local_irq_restore(flags);
	return 0;
}

/* Suspend and resume of the last CPU; the others went offline before. */
static int machine_suspend(void)
{
	cpu_end_irqoff(this_cpu_ptr(hwpmc_cpus));
	hwpmc_log_clock_suspend_irqoff();
	return 0;
}

static void machine_resume(void)
{
	hwpmc_log_clock_resume_irqoff();
	expect_no_nmi(this_cpu_ptr(hwpmc_cpus));
	hwpmc_trial_interrupt_forget();
	cpu_begin_irqoff(this_cpu_ptr(hwpmc_cpus));
}

static void leave_ipi(void *unused)
{
	cpu_end_irqoff(this_cpu_ptr(hwpmc_cpus));
}

/*
 * Counters that run on would be the next kernel's, after kexec and on machines whose reset
 * does not reach them: it takes them for its firmware's, and has no handler for their NMIs.
 * Programs still run, and owners in the kernel never end. Without hwpmc_lock: nobody who
 * has it keeps the counters running.
 */
static int leave_machine(struct notifier_block *nb, unsigned long how, void *command)
{
	WRITE_ONCE(hwpmc_leaving, true);
	cpus_read_lock();
	on_each_cpu(leave_ipi, NULL, 1);
	cpus_read_unlock();
	return NOTIFY_DONE;
}

/* Last, as perf's: others may count until then. */
static struct notifier_block reboot_block = {
	.notifier_call = leave_machine,
	.priority = INT_MIN,
};

static void cpu_setup(struct hwpmc_cpu *c)
{
	unsigned int i;

	INIT_LIST_HEAD(&c->sys);
	c->rows = ~0ULL;
	for (i = 0; i < hwpmc_nrows; i++) {
		c->row[i].mask = hwpmc_rows[i].mask;
		c->row[i].rdpmc = hwpmc_rows[i].rdpmc;
	}
}

int hwpmc_hotplug_init(void)
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
	ret = cpuhp_setup_state_nocalls(HWPMC_CPUHP_DYING, "hwpmc:dying", NULL,
					cpu_dying_irqoff);
	if (ret < 0)
		goto err_dying;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "hwpmc:online",
				cpu_online_here, cpu_offline_here);
	if (ret < 0)
		goto err_online;
	online_state = ret;
	ret = register_reboot_notifier(&reboot_block);
	if (ret)
		goto err_reboot;
	hwpmc_syscore_register(machine_suspend, machine_resume);
	return 0;

err_reboot:
	cpuhp_remove_state(online_state);
err_online:
	cpuhp_remove_state_nocalls(HWPMC_CPUHP_DYING);
err_dying:
	cpuhp_remove_state_nocalls(prepare_state);
err_prepare:
	free_percpu(hwpmc_cpus);
	return ret;
}

void hwpmc_hotplug_exit(void)
{
	hwpmc_syscore_unregister();
	unregister_reboot_notifier(&reboot_block);
	cpuhp_remove_state(online_state);
	cpuhp_remove_state_nocalls(HWPMC_CPUHP_DYING);
	cpuhp_remove_state_nocalls(prepare_state);
	free_percpu(hwpmc_cpus);
}
