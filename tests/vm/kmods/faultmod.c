// SPDX-License-Identifier: BSD-2-Clause
/*
 * faultmod.c - faults on purpose, one of each kind that the debug kernels watch for:
 * what proves that they, and the rig that reads their messages, see one. Loading it
 * with fault=NAME commits that one. Never for another kernel.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *fault = "";
module_param(fault, charp, 0444);

static DEFINE_SPINLOCK(lock);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static int number, __rcu *pointer = (int __rcu *)&number;
static volatile unsigned int shift = 40;

static void use_after_free(void)
{
	volatile char *memory = kmalloc(64, GFP_KERNEL);

	if (!memory)
		return;
	kfree((void *)memory);
	memory[8] = 1;
}

/* Nobody waits for anybody here: the order alone is the fault. */
static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_in_atomic(void)
{
	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static void rcu_without_lock(void)
{
	WRITE_ONCE(number, *rcu_dereference(pointer));
}

static void nothing(struct timer_list *timer)
{
}

static void free_active_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, nothing, 0);
	mod_timer(timer, jiffies + 100 * HZ);
	kfree(timer);
}

static void shift_too_far(void)
{
	WRITE_ONCE(number, 1 << shift);
}

static void leak(void)
{
	int i;

	for (i = 0; i < 50; i++) {
		int *memory = kmalloc(96, GFP_KERNEL);

		if (memory)
			WRITE_ONCE(*memory, i);
	}
}

static int racer(void *unused)
{
	while (!kthread_should_stop()) {
		number++;
		cond_resched();
	}
	return 0;
}

static void race(void)
{
	struct task_struct *other = kthread_run(racer, NULL, "racer");
	unsigned long end = jiffies + 3 * HZ;

	if (IS_ERR(other))
		return;
	while (time_before(jiffies, end)) {
		number++;
		cond_resched();
	}
	kthread_stop(other);
}

static DECLARE_COMPLETION(begun);

static int caller(void *fn)
{
	complete(&begun);
	((void (*)(void))fn)();
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

/* kCFI ends the thread that makes the call. */
static void in_a_thread(void (*fn)(void))
{
	struct task_struct *thread = kthread_run(caller, fn, "caller");

	if (IS_ERR(thread))
		return;
	get_task_struct(thread);
	wait_for_completion(&begun);
	kthread_stop(thread);
	put_task_struct(thread);
}

static noinline int of_another_type(int unused)
{
	return unused;
}

/* Pointers that the compiler cannot follow. */
static void *volatile pointer_to_it = of_another_type;

static void call(void)
{
	void (*fn)(void *) = pointer_to_it;

	fn(&number);
}

static void have_it_called(void)
{
	int array[2] = { 2, 1 };

	sort(array, 2, sizeof(*array), (cmp_func_t)pointer_to_it, NULL);
}

static void call_by_wrong_type(void)
{
	in_a_thread(call);
}

static void callback_of_wrong_type(void)
{
	in_a_thread(have_it_called);
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "kasan", use_after_free },
	{ "lockdep", lock_order },
	{ "atomic", sleep_in_atomic },
	{ "rcu", rcu_without_lock },
	{ "odebug", free_active_timer },
	{ "ubsan", shift_too_far },
	{ "leak", leak },
	{ "race", race },
	{ "call", call_by_wrong_type },
	{ "callback", callback_of_wrong_type },
};

static int __init faultmod_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(fault, faults[i].name))
			continue;
		faults[i].commit();
		return 0;
	}
	return -EINVAL;
}

static void __exit faultmod_exit(void)
{
}

module_init(faultmod_init);
module_exit(faultmod_exit);
MODULE_DESCRIPTION("Faults on purpose");
MODULE_LICENSE("Dual BSD/GPL");
