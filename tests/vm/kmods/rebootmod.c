// SPDX-License-Identifier: BSD-2-Clause
/*
 * rebootmod.c - the last to be told that the kernel is left: whoever reboots stays there, so
 * that what the others have done can be looked at. parameters/told: it has come to that. The
 * module is not unloaded after that, nor is any other that wants to be told.
 */
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/sched.h>

static int told;
module_param(told, int, 0444);

static int stay(struct notifier_block *nb, unsigned long how, void *command)
{
	__module_get(THIS_MODULE);
	WRITE_ONCE(told, 1);
	for (;;) {
		set_current_state(TASK_IDLE);
		schedule();
	}
	return NOTIFY_DONE;
}

/* Behind those of the same priority that were there before. */
static struct notifier_block last = { .notifier_call = stay, .priority = INT_MIN };

static int __init rebootmod_init(void)
{
	return register_reboot_notifier(&last);
}

static void __exit rebootmod_exit(void)
{
	unregister_reboot_notifier(&last);
}

module_init(rebootmod_init);
module_exit(rebootmod_exit);
MODULE_DESCRIPTION("Stops a reboot after everybody has been told of it");
MODULE_LICENSE("Dual BSD/GPL");
