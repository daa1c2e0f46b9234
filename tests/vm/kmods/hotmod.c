// SPDX-License-Identifier: BSD-2-Clause
/*
 * hotmod.c - the three functions of hot.h in a kernel module: a number written to
 * /sys/kernel/debug/hotmod is how many rounds the writer runs them.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "hot.h"

HOT_THREE(mod)

static struct dentry *file;

static noinline void work(u64 rounds)
{
	while (rounds--) {
		mod_sixty();
		mod_thirty();
		mod_ten();
		cond_resched();
	}
}

static int set(void *unused, u64 rounds)
{
	work(rounds);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(rounds_fops, NULL, set, "%llu\n");

static int __init hotmod_init(void)
{
	file = debugfs_create_file("hotmod", 0200, NULL, NULL, &rounds_fops);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit hotmod_exit(void)
{
	debugfs_remove(file);
}

module_init(hotmod_init);
module_exit(hotmod_exit);
MODULE_DESCRIPTION("Functions of known shares, for tests of profiles");
MODULE_LICENSE("Dual BSD/GPL");
