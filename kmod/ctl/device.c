// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * device.c - /dev/hwpmc: each open file is an owner, and holds the module. Every user
 * may open it: permissions are checked at each operation.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "../core/owner.h"
#include "../log/mapped.h"
#include "../pmc/owner.h"
#include "../task/leave.h"
#include "../task/rdpmc.h"
#include "device.h"
#include "ioctl.h"

static int device_open(struct inode *inode, struct file *file)
{
	struct hwpmc_owner *owner = hwpmc_owner_new(false);

	if (IS_ERR(owner))
		return PTR_ERR(owner);
	file->private_data = owner;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	hwpmc_owner_end(file->private_data);
	hwpmc_leave_wait();
	return 0;
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hwpmc_owner *owner = file->private_data;

	if (READ_ONCE(owner->revoked))
		return -ENODEV;
	if (vma->vm_pgoff == HWPMC_USER_OFFSET >> PAGE_SHIFT)
		return hwpmc_userpage_mmap(owner, vma);
	return hwpmc_log_mmap(owner, vma);
}

static __poll_t device_poll(struct file *file, struct poll_table_struct *wait)
{
	struct hwpmc_owner *owner = file->private_data;

	if (READ_ONCE(owner->revoked))
		return EPOLLERR | EPOLLHUP;
	return hwpmc_log_poll(owner, file, wait);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = hwpmc_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = device_mmap,
	.poll = device_poll,
};

bool hwpmc_device_is(const struct file *file)
{
	return file->f_op == &device_fops;
}

/*
 * A static one, because only then can the node exist before the module is loaded, and
 * load it when it is opened. Of those that the kernel leaves to drivers outside of it,
 * doc/decisions/loading.md.
 */
#define DEVICE_MINOR	246

static struct miscdevice device = {
	.minor = DEVICE_MINOR,
	.name = "hwpmc",
	.fops = &device_fops,
	.mode = 0666,
};

int hwpmc_device_init(void)
{
	int ret = misc_register(&device);

	if (ret != -EBUSY)
		return ret;
	pr_info("another driver has misc minor %d: opening the device does not load this module\n",
		DEVICE_MINOR);
	device.minor = MISC_DYNAMIC_MINOR;
	return misc_register(&device);
}

void hwpmc_device_exit(void)
{
	misc_deregister(&device);
}

/* depmod(8) makes an entry of modules.devname of the two. */
MODULE_ALIAS_MISCDEV(DEVICE_MINOR);
MODULE_ALIAS("devname:hwpmc");
