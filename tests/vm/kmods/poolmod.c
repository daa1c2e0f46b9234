// SPDX-License-Identifier: BSD-2-Clause
/*
 * poolmod.c - while it is loaded, the kernel's own workqueues run no other item: each has
 * as many that sleep as it runs at one time, on each CPU.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* Items of system_wq on a CPU at one time; more since 6.16 or so. */
static unsigned int most = 1024;
module_param(most, uint, 0444);

static struct work_struct *works;
static unsigned int n;
static bool over;
static DECLARE_WAIT_QUEUE_HEAD(end);

static void sleep_work(struct work_struct *unused)
{
	/* Idle, so that it is no hung task. */
	wait_event_idle(end, READ_ONCE(over));
}

static void occupy(int cpu, struct workqueue_struct *wq)
{
	unsigned int i;

	for (i = 0; i < most; i++) {
		INIT_WORK(&works[n], sleep_work);
		queue_work_on(cpu, wq, &works[n++]);
	}
}

/* Newer kernels warn of the old names. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define system_wq system_percpu_wq
#define system_unbound_wq system_dfl_wq
#endif

static int __init poolmod_init(void)
{
	int cpu;

	works = kvcalloc(3 * most * num_online_cpus(), sizeof(*works), GFP_KERNEL);
	if (!works)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		occupy(cpu, system_wq);
		occupy(cpu, system_highpri_wq);
		occupy(WORK_CPU_UNBOUND, system_unbound_wq);
	}
	cpus_read_unlock();
	return 0;
}

static void __exit poolmod_exit(void)
{
	WRITE_ONCE(over, true);
	wake_up_all(&end);
	while (n--)
		flush_work(&works[n]);
	kvfree(works);
}

module_init(poolmod_init);
module_exit(poolmod_exit);
MODULE_DESCRIPTION("Occupies the kernel's workqueues");
MODULE_LICENSE("GPL");
