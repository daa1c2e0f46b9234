// SPDX-License-Identifier: BSD-2-Clause
/* minormod.c - another driver that has a minor of the misc devices. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

static int minor = 246;
module_param(minor, int, 0444);

static const struct file_operations fops = {
	.owner = THIS_MODULE,
};

static struct miscdevice device = {
	.name = "minormod",
	.fops = &fops,
};

static int __init minor_init(void)
{
	device.minor = minor;
	return misc_register(&device);
}

static void __exit minor_exit(void)
{
	misc_deregister(&device);
}

module_init(minor_init);
module_exit(minor_exit);
MODULE_DESCRIPTION("Takes a minor, for tests of what hwpmc does then");
MODULE_LICENSE("Dual BSD/GPL");
